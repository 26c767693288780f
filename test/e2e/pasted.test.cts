import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { buildNode, connect, generate, items, NODE } from '../../dev/fixtures/workflows.cts';
import { readMedia } from '../media/corpus.cts';
import { usePair } from './support.cts';

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
	const urls = { callBackUrl, progressCallBackUrl: callBackUrl };
	const body = JSON.stringify({ model: MODEL, ...urls, input: { prompt: 'A fox' } }, null, 2);

	it('is sent by its input, and Generate ignores its callback URL and names the other one', async () => {
		const execution = await pair.runNodes(paste(body, { operation: 'generate' }));
		const warning: unknown = expect.stringMatching(/^progressCallBackUrl .* wasn't sent\./);
		expect(execution.getItems(NODE)).toMatchObject([{ status: 'completed', warning }]);
		expect(readSent()).toMatchObject({ model: MODEL, input: { prompt: 'A fox' } });
		expect(readSent()?.callBackUrl).not.toBe(callBackUrl);
	});

	it('has a warning where the old Wait node behind would wait for ever', async () => {
		const resume = `=${body.replace(callBackUrl, '{{ $execution.resumeUrl }}')}`;
		const execution = await pair.runNodes(paste(resume, { operation: 'generate' }));
		const [item] = execution.getItems<{ warning: string }>(NODE);
		expect(item?.warning).toMatch(/^Generate waits by itself.*Delete the Wait node/);
		expect(item?.warning).not.toContain('/webhook-waiting/');
	});

	it('has Start Without Waiting report to its callback URL', async () => {
		await pair.runNodes(paste(body));
		expect(readSent()).toMatchObject({ callBackUrl, input: { prompt: 'A fox' } });
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
	async function submit(parameters: Record<string, unknown>, values: object[] = fieldLabels) {
		const webhookId = randomUUID();
		const form = { formTitle: 'Form', formFields: { values }, options: {} };
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
		const uploads = [...pair.service.uploads.values()];
		const { binary = {} } = execution?.getOutput('Form')[0] ?? {};
		const fields = Object.entries(binary);
		return {
			error: execution?.readError(),
			uploads: new Map(uploads.map(({ downloadUrl, size }) => [downloadUrl, size])),
			sizes: Object.fromEntries(
				fields.map(([name, { fileName = '' }]) => [name, readMedia(fileName).length]),
			),
		};
	}

	it('stands for its photo, in a field that takes one', async () => {
		const edit = { model: 'beta2/image-edit', image: 'Product photo' };
		const { error, uploads } = await submit(edit);
		expect(error).toBe('');
		expect([...uploads.values()]).toEqual([readMedia('plain.png').length]);
		expect(readSent()?.input).toMatchObject({ image_url: [...uploads.keys()][0] });
	});

	it('is refused where n8n has stored the file of another field in its place', async () => {
		const labels = ['写真', '動画'].map((fieldLabel) => ({ ...FILE, fieldLabel }));
		const { error } = await submit({ model: 'beta2/image-edit', image: '写真' }, labels);
		expect(error).toContain('\'Image\' is "写真", but n8n stores the files of 写真 and 動画 under');
		expect(error).toContain('The item has files in these fields: __');
		expect(pair.countCreations()).toBe(0);
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

/** Builds n8n's node that compares a text, and has the outputs true and false. */
const compare = (leftValue: string, rightValue: string) => {
	const operator = { type: 'string', operation: 'equals' };
	const options = { caseSensitive: true, typeValidation: 'strict', version: 2 };
	const conditions = {
		options,
		combinator: 'and',
		conditions: [{ leftValue, rightValue, operator }],
	};
	return buildNode('If', 'n8n-nodes-base.if', 2.2, { conditions, options: {} });
};

describe('nodes behind, as docs/from-http-request.md says,', () => {
	const OUTPUT = { options: { failedTasks: 'output' } };

	it.each([
		['', '={{ $json.data.state }}', 'success', 'false'],
		['', '={{ $json.status }}', 'completed', 'true'],
		['#fail', '={{ $json.status }}', 'completed', 'false'],
	])('of a task "%s": %s is "%s": %s', async (prompt, left, right, output) => {
		const before = [items([{ prompt }]), generate(OUTPUT)];
		const execution = await pair.runNodes(...before, compare(left, right));
		const [run] = execution.getRuns('If');
		const [yes, no] = run?.data?.main?.map((branch) => branch?.length) ?? [];
		expect([execution.readError(), yes, no]).toEqual([
			'',
			...(output === 'true' ? [1, 0] : [0, 1]),
		]);
	});

	it('get nothing by the old expression of a link, and the link by the new one', async () => {
		const old = '={{ JSON.parse($json.data.resultJson).resultUrls[0] }}';
		const values = Object.entries({ old, now: '={{ $json.resultUrls[0] }}' });
		const assignments = values.map(([name, value]) => ({ id: name, name, type: 'string', value }));
		const parameters = { assignments: { assignments }, options: {} };
		const link = buildNode('Link', 'n8n-nodes-base.set', 3.4, parameters);
		const execution = await pair.runNodes(items([{ prompt: 'A fox' }]), generate(), link);
		const now = expect.stringContaining(String(pair.listIds()[0]));
		expect(execution.getItems('Link')).toEqual([{ old: null, now }]);
	});
});

describe('the name of a file that a node before has dropped', () => {
	const image = (values: Record<string, string>) =>
		paste(values, { anyModel: 'epsilon-2/image-to-video' });

	it('is refused where the document says that a URL is meant, and nothing is created', async () => {
		const execution = await pair.runNodes(items([{}]), image({ image_url: 'photo.png' }));
		expect(execution.readError()).toMatch(/'Image URL' is "photo\.png", but must be/);
		expect(pair.countCreations()).toBe(0);
	});

	it('is sent with a warning where only the name of the field says so', async () => {
		const image_url = 'https://media.example/a.png';
		const values = { image_url, end_image_url: 'data' };
		const execution = await pair.runNodes(items([{}]), image(values));
		const warning: unknown = expect.stringMatching(/^'End Image URL' is "data": no URL/);
		expect(execution.getItems(NODE)).toMatchObject([{ warning }]);
		expect(readSent()?.input).toEqual(values);
	});
});

describe('an expression in a field that nobody switched', () => {
	const FIXED = '{{ $json.prompt }}';
	const mapper = { mappingMode: 'defineBelow', value: { prompt: FIXED }, schema: [] };

	it('is refused in a field of the mapper, and nothing is created', async () => {
		const parameters = { inputMode: 'fields', anyFields: mapper };
		const execution = await pair.runNodes(items([{ prompt: 'A fox' }]), paste({}, parameters));
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
});

describe('an expression between the quotes of the JSON', () => {
	const stored = '={\n  "duration": "5",\n  "prompt": "{{ $json.prompt }}"\n}';

	it('is sent as each item has it, and sets no other field', async () => {
		const injection = 'x", "image_url": "https://evil.example/a.png';
		const texts = [QUOTED, 'C:\\new', injection, 'plain'];
		const source = items([...texts, ['a', '"b"']].map((prompt) => ({ prompt })));
		await pair.runNodes(source, paste(stored));
		const sent = pair.listTasks().map(({ input }) => input);
		const expected = [...texts, 'a,"b"'].map((prompt) => ({ duration: '5', prompt }));
		expect(sent).toEqual(expect.arrayContaining(expected));
		expect(sent).toHaveLength(expected.length);
	});

	it('is sent where it has quotes of its own, or is nothing, also in Extra Fields', async () => {
		const ternary = '{{ $json.prompt ? $json.prompt : "no \\"prompt\\"" // the "prompt"\n }}';
		const extraFields = '={ "style": "{{ $json.none }}", "name": "{{ $json.name }}" }';
		const node = paste(`={ "prompt": "${ternary}" }`, {
			anyModel: 'custom/any',
			options: { extraFields },
		});
		await pair.runNodes(items([{ name: QUOTED }]), node);
		expect(readSent()?.input).toEqual({ prompt: 'no "prompt"', style: '', name: QUOTED });
	});

	it('that replaces characters by itself is left alone, and what breaks is refused, saying where and what helps', async () => {
		const broken = stored.replace('prompt }}', 'prompt.replaceAll("x", "y") }}');
		const execution = await pair.runNodes(items([{ prompt: QUOTED }]), paste(broken));
		expect(execution.readError()).toMatch(
			/is not valid JSON at line 3, column 23\b.*delete its line from the JSON/s,
		);
		expect(pair.listTasks()).toEqual([]);
	});
});

it('a prompt with quotes and line breaks is sent as it is in Prompt', async () => {
	const prompt = '={{ $json.prompt }}';
	await pair.runNodes(items([{ prompt: QUOTED }]), paste('{ "duration": "5" }', { prompt }));
	expect(readSent()?.input).toEqual({ duration: '5', prompt: QUOTED });
});
