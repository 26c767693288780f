import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { buildNode, connect, generate, items, NODE } from '../../dev/fixtures/workflows.cts';
import { readMedia } from '../media/corpus.cts';
import { readFiles, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5, lookupSeconds: 0 } });

const MODEL = 'epsilon-2/text-to-video';
const QUOTED = 'He said "hi"\nand left';

/** Builds our node with JSON that a user of HTTP Request nodes brings. */
const paste = (anyInput: unknown, parameters: Record<string, unknown> = {}) =>
	generate({ operation: 'start', anyModel: MODEL, anyInput, ...parameters });

/** Returns the newest task as it was sent. */
const readSent = () => pair.listTasks().at(-1);

describe('the body that the documentation shows, pasted into Input (JSON),', () => {
	const callBackUrl = 'https://media.example/callback';
	const body = JSON.stringify({ model: MODEL, callBackUrl, input: { prompt: 'A fox' } }, null, 2);

	it('is sent by its input, and Generate ignores its callback URL', async () => {
		const execution = await pair.runNodes(paste(body, { operation: 'generate' }));
		expect(execution.getItems(NODE)).toMatchObject([{ status: 'completed' }]);
		expect(readSent()).toMatchObject({ model: MODEL, input: { prompt: 'A fox' } });
		expect(readSent()?.callBackUrl).not.toBe(callBackUrl);
	});

	it('has Start Without Waiting report to its callback URL', async () => {
		await pair.runNodes(paste(body));
		expect(readSent()).toMatchObject({ callBackUrl, input: { prompt: 'A fox' } });
	});

	it('for another model than the chosen one creates nothing', async () => {
		const execution = await pair.runNodes(paste(body, { anyModel: 'brand/other' }));
		expect(execution.readError()).toContain(`is ${MODEL}, but`);
		expect(pair.listTasks()).toEqual([]);
	});
});

it('the name of a binary field in JSON is uploaded, nested and in lists too, and any other text is sent as it is', async () => {
	const input = {
		prompt: 'photo',
		image_url: 'photo',
		reference_urls: ['photo', 'other'],
		layers: [{ mask: 'photo' }],
	};
	const nodes = [...readFiles({ photo: 'plain.png' }), paste(JSON.stringify(input))];
	await pair.runNodes(...nodes);
	const [upload, ...more] = pair.service.uploads.values();
	expect(upload?.size).toBe(readMedia('plain.png').length);
	expect(more).toEqual([]);
	const link = upload?.downloadUrl;
	expect(readSent()?.input).toEqual({
		prompt: 'photo',
		image_url: link,
		reference_urls: [link, 'other'],
		layers: [{ mask: link }],
	});
});

describe('the label of a field of a form', () => {
	const FILE = { fieldType: 'file', multipleFiles: false };
	const fieldLabels = [
		{ ...FILE, fieldLabel: 'Product photo' },
		{ ...FILE, fieldLabel: 'More views', multipleFiles: true },
	];

	/**
	 * Submits a photo, and two more views, to a form that our node stands behind.
	 * @returns the sizes of the files that were uploaded, by their addresses, and of those that the form output, by their fields
	 */
	async function submit(parameters: Record<string, unknown>) {
		const webhookId = randomUUID();
		const form = { formTitle: 'Form', formFields: { values: fieldLabels }, options: {} };
		const trigger = buildNode('Form', 'n8n-nodes-base.formTrigger', 2.2, form, { webhookId });
		const { id } = await pair.importWorkflow(connect('Form', [trigger, paste('{}', parameters)]));
		await pair.n8n.activate(id);
		const body = new FormData();
		const photos = { 'field-0': ['plain.png'], 'field-1': ['baseline.jpg', 'thumbnail.jpg'] };
		for (const [field, names] of Object.entries(photos))
			for (const name of names) body.append(field, new Blob([readMedia(name)]), name);
		const url = `${pair.n8n.url}/form/${webhookId}`;
		expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
		const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
		expect(execution?.readError()).toBe('');
		const uploads = [...pair.service.uploads.values()];
		const { binary = {} } = execution?.getOutput('Form')[0] ?? {};
		const fields = Object.entries(binary);
		return {
			uploads: new Map(uploads.map(({ downloadUrl, size }) => [downloadUrl, size])),
			sizes: Object.fromEntries(
				fields.map(([name, { fileName = '' }]) => [name, readMedia(fileName).length]),
			),
		};
	}

	it('stands for its photo, in a field that takes one', async () => {
		const { uploads } = await submit({ model: 'beta2/image-edit', image: 'Product photo' });
		expect([...uploads.values()]).toEqual([readMedia('plain.png').length]);
		expect(readSent()?.input).toMatchObject({ image_url: [...uploads.keys()][0] });
	});

	it('stands for all its photos, in a list', async () => {
		const value = { reference_image_urls: 'Product photo, More views' };
		const anyFields = { mappingMode: 'defineBelow', value, schema: [] };
		const kappa = { anyModel: 'kappa-6/reference-to-video', inputMode: 'fields', prompt: 'A fox' };
		const { uploads, sizes } = await submit({ ...kappa, anyFields });
		const { reference_image_urls } = readSent()?.input as { reference_image_urls: string[] };
		expect(readSent()?.input).toEqual({ prompt: 'A fox', reference_image_urls });
		// n8n numbers the files of a field as it has read them, not always as they were sent.
		const { Product_photo, More_views_0, More_views_1 } = sizes;
		expect(More_views_0).not.toBe(More_views_1);
		const sent = reference_image_urls.map((url) => uploads.get(url));
		expect(sent).toEqual([Product_photo, More_views_0, More_views_1]);
	});
});

it('a list in a field has no blank entries, and keeps a data: URL whole', async () => {
	const link = `${pair.service.resultsUrl}/sample.png`;
	const data = 'data:image/png;base64,iVBORw0KGgo=';
	const kappa = { anyModel: 'kappa-6/reference-to-video', inputMode: 'fields', prompt: 'A fox' };
	for (const [given, sent] of [
		[`={{ ['${link}', '', null, $json.missing] }}`, [link]],
		[`${data}, ${link}`, [data, link]],
	]) {
		const anyFields = {
			mappingMode: 'defineBelow',
			value: { reference_image_urls: given },
			schema: [],
		};
		await pair.runNodes(paste('{}', { ...kappa, anyFields }));
		expect(readSent()?.input).toEqual({ prompt: 'A fox', reference_image_urls: sent });
	}
});

describe('an expression in a field that nobody switched', () => {
	const FIXED = '{{ $json.prompt }}';
	const mapper = { mappingMode: 'defineBelow', value: { prompt: FIXED }, schema: [] };
	const EDIT = { model: 'beta2/image-edit', image: 'https://media.example/a.png' };

	it.each<[where: string, parameters: Record<string, unknown>]>([
		['Prompt of a named model', { ...EDIT, prompt: FIXED }],
		['Input (JSON)', { anyInput: `{ "prompt": "${FIXED}" }` }],
		['a field of the mapper', { inputMode: 'fields', anyFields: mapper }],
	])('is refused in %s, and nothing is created', async (_, parameters) => {
		const nodes = [items([{ prompt: 'A fox' }]), paste({}, parameters)];
		const execution = await pair.runNodes(...nodes);
		expect(execution.readError()).toMatch(/is a fixed text with \{\{ \$json\.prompt \}\}.*/);
		expect(pair.countCreations()).toBe(0);
	});

	it('counts only where the field is shown', async () => {
		const parameters = {
			inputMode: 'fields',
			anyFields: { ...mapper, value: { prompt: 'A fox' } },
		};
		await pair.runNodes(paste(`{ "prompt": "${FIXED}" }`, parameters));
		expect(readSent()?.input).toEqual({ prompt: 'A fox' });
	});

	it('may stand in what an expression returns', async () => {
		await pair.runNodes(items([{ prompt: FIXED }]), paste('{}', { prompt: '={{ $json.prompt }}' }));
		expect(readSent()?.input).toEqual({ prompt: FIXED });
	});
});

describe('a prompt with quotes and line breaks', () => {
	const FORMS: Array<[how: string, anyInput: string, prompt?: string]> = [
		['in Prompt', '{ "duration": "5" }', '={{ $json.prompt }}'],
		['as JSON text', '={ "duration": "5", "prompt": {{ JSON.stringify($json.prompt) }} }'],
	];

	it('within quotes breaks the JSON, and the error says where and what helps', async () => {
		const broken = '={\n  "duration": "5",\n  "prompt": "{{ $json.prompt }}"\n}';
		const execution = await pair.runNodes(items([{ prompt: QUOTED }]), paste(broken));
		expect(execution.readError()).toMatch(/is not valid JSON at line 3, column 23\b/);
		expect(pair.listTasks()).toEqual([]);
	});

	it.each(FORMS)('is sent as it is %s', async (_, anyInput, prompt = '') => {
		await pair.runNodes(items([{ prompt: QUOTED }]), paste(anyInput, { prompt }));
		expect(readSent()?.input).toEqual({ duration: '5', prompt: QUOTED });
	});

	it('is sent from Prompt where the fields of another model, which has none, are left', async () => {
		const left = { mappingMode: 'defineBelow', value: { $noPrompt: true }, schema: [] };
		const parameters = { anyFields: left, prompt: '={{ $json.prompt }}' };
		await pair.runNodes(items([{ prompt: QUOTED }]), paste('{ "duration": "5" }', parameters));
		expect(readSent()?.input).toEqual({ duration: '5', prompt: QUOTED });
	});
});
