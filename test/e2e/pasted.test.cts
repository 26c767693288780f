import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { buildNode, connect, generate, items, NODE } from '../../dev/fixtures/workflows.cts';
import { readMedia } from '../media/corpus.cts';
import { usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5, lookupSeconds: 0 } });

/** Builds our node with JSON that a user of HTTP Request nodes brings. */
const paste = (anyInput: unknown, parameters: Record<string, unknown> = {}) =>
	generate({ operation: 'start', anyModel: 'epsilon-2/text-to-video', anyInput, ...parameters });

it('a pasted body has a warning where the old Wait node behind would wait for ever', async () => {
	const body = '={ "callBackUrl": "{{ $execution.resumeUrl }}", "input": { "prompt": "A fox" } }';
	const execution = await pair.runNodes(paste(body, { operation: 'generate' }));
	const [item] = execution.getItems<{ warning: string }>(NODE);
	expect(item?.warning).toMatch(/^Generate waits by itself.*Delete the Wait node/);
	expect(item?.warning).not.toContain('/webhook-waiting/');
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
		const [{ input } = { input: {} }] = pair.listTasks();
		const { reference_image_urls } = input as { reference_image_urls: string[] };
		expect(input).toEqual({ prompt: 'A fox', reference_image_urls });
		// n8n numbers the files of a field as it has read them, not always as they were sent.
		const { Product_photo, More_views_0, More_views_1 } = sizes;
		expect(More_views_0).not.toBe(More_views_1);
		const sent = reference_image_urls.map((url) => uploads.get(url));
		expect(sent).toEqual([Product_photo, More_views_0, More_views_1]);
	});
});

it('an expression between the quotes of the JSON is sent as each item has it, and sets no other field', async () => {
	const stored = '={\n  "duration": "5",\n  "prompt": "{{ $json.prompt }}"\n}';
	const injection = 'x", "image_url": "https://evil.example/a.png';
	const texts = ['He said "hi"\nand left', 'C:\\new', injection];
	const source = items([...texts, ['a', '"b"']].map((prompt) => ({ prompt })));
	await pair.runNodes(source, paste(stored));
	const sent = new Set(pair.listTasks().map(({ input }) => input));
	const expected = [...texts, 'a,"b"'].map((prompt) => ({ duration: '5', prompt }));
	expect(sent).toEqual(new Set(expected));
});
