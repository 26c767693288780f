import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
	buildNode,
	connect,
	generate,
	buildItems,
	NODE,
	buildWebhook,
} from '../../dev/fixtures/workflows.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { readMedia } from '../media/corpus.cts';
import { usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5, readSeconds: 0 } });

/** Builds our node with JSON that a user of HTTP Request nodes brings. */
const paste = (anyInput: unknown, parameters: Record<string, unknown> = {}) =>
	generate({ operation: 'start', anyModel: 'epsilon-2/text-to-video', anyInput, ...parameters });

it('a body that was pasted with its Wait node has a warning, because that node would wait for ever', async () => {
	const body = '={ "callBackUrl": "{{ $execution.resumeUrl }}", "input": { "prompt": "A fox" } }';
	const execution = await pair.runNodes(paste(body, { operation: 'generate' }));
	const [item] = execution.getItems<{ warning: string }>(NODE);
	expect(item?.warning).toMatch(/^Generate waits by itself.*Delete the Wait node/);
	expect(item?.warning).not.toContain('/webhook-waiting/');
});

const FILE = { fieldType: 'file', multipleFiles: false };
const VIEWS = 'More views (jpg)';
const fieldLabels = [
	{ ...FILE, fieldLabel: 'Photo:' },
	{ ...FILE, fieldLabel: VIEWS, multipleFiles: true },
];

/** Triggers, each with the files and texts that are posted to it. */
const TRIGGERS = {
	form: (values: object[] = fieldLabels) => {
		const webhookId = randomUUID();
		const form = { formTitle: 'Form', formFields: { values }, options: {} };
		return {
			trigger: buildNode('Trigger', 'n8n-nodes-base.formTrigger', 2.2, form, { webhookId }),
			url: `${pair.n8n.url}/form/${webhookId}`,
			photos: { 'field-0': ['plain.png'], 'field-1': ['baseline.jpg', 'thumbnail.jpg'] },
		};
	},
	webhook: () => {
		const path = randomUUID();
		return {
			trigger: buildWebhook({ path }, 'Trigger'),
			url: pair.n8n.buildWebhookUrl(path),
			photos: { images: ['baseline.jpg', 'plain.png'] },
		};
	},
	chat: () => {
		const webhookId = randomUUID();
		const chat = { public: true, mode: 'webhook', options: { allowFileUploads: true } };
		const type = '@n8n/n8n-nodes-langchain.chatTrigger';
		return {
			trigger: buildNode('Trigger', type, 1.3, chat, { webhookId }),
			url: pair.n8n.buildWebhookUrl(`${webhookId}/chat`),
			photos: { files: ['plain.png'] },
			texts: { action: 'sendMessage', sessionId: webhookId, chatInput: 'A fox' },
		};
	},
};

interface Posted {
	trigger: WorkflowNode;
	url: string;
	photos: Record<string, string[]>;
	texts?: Record<string, string>;
}

/**
 * Posts photos, as a browser does, to a trigger that our node stands behind.
 * @returns the files that the trigger has output, and the sizes of those that the task was sent
 */
async function post(
	{ trigger, url, photos, texts = {} }: Posted,
	parameters: Record<string, unknown>,
) {
	const nodes = [trigger, paste('{}', parameters)];
	const { id } = await pair.importWorkflow(connect('Posted', nodes));
	await pair.n8n.activate(id);
	const body = new FormData();
	for (const [name, text] of Object.entries(texts)) body.append(name, text);
	const names = Object.entries(photos).flatMap(([field, list]) =>
		list.map((name) => [field, name]),
	);
	for (const [field = '', name = ''] of names)
		body.append(field, new Blob([readMedia(name)], { type: 'image/png' }), name);
	expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
	const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
	const urls = [pair.listTasks()[0]?.input.reference_image_urls].flat();
	const uploads = [...pair.service.uploads.values()];
	return {
		error: execution?.readError(),
		binary: execution?.getOutput('Trigger')[0]?.binary ?? {},
		sent: urls.map((url) => uploads.find((one) => one.downloadUrl === url)?.size),
	};
}

it.each<[trigger: keyof typeof TRIGGERS, value: string, meant: string[]]>([
	['form', `Photo:, ${VIEWS}`, ['Photo_', 'More_views__jpg__0', 'More_views__jpg__1']],
	['form', "={{ $json['Photo:'] }}", ['Photo_']],
	['webhook', 'images', ['images0', 'images1']],
	['chat', 'data', ['data0']],
])("a %s's photos are sent by %s", async (trigger, value, meant) => {
	const model = { anyModel: 'kappa-6/reference-to-video', inputMode: 'fields', prompt: 'A fox' };
	const values = { reference_image_urls: value };
	const anyFields = { mappingMode: 'defineBelow', value: values, schema: [] };
	const posted = await post(TRIGGERS[trigger](), { ...model, anyFields });
	expect(posted.error).toBe('');
	// n8n numbers the files of a field in the order in which it reads them, which may differ from how they were sent.
	const names = meant.map((field) => String(posted.binary[field]?.fileName));
	expect(new Set(names).size).toBe(meant.length);
	expect(posted.sent).toEqual(names.map((name) => readMedia(name).length));
});

it('the label of a form field is an error where n8n has stored the file of another field in its place', async () => {
	const labels = ['写真', '動画'].map((fieldLabel) => ({ ...FILE, fieldLabel }));
	const { error } = await post(TRIGGERS.form(labels), { model: 'beta2/image-edit', image: '写真' });
	expect(error).toContain('\'Image\' is "写真", but n8n stores the files of 写真 and 動画 under');
	expect(pair.countCreations()).toBe(0);
});

it('an expression between the quotes of a body is sent as each item has it, and sets no other field', async () => {
	const model = '"model": "epsilon-2/text-to-video"';
	const stored = `=\`\`\`json\n{\n  ${model},\n  "duration": "5",\n  "prompt": "{{ $json.prompt }}"\n}\n\`\`\``;
	const injection = 'x", "image_url": "https://evil.example/a.png';
	const texts = ['He said "hi"\nand left', 'C:\\new', injection];
	const source = buildItems([...texts, ['a', '"b"']].map((prompt) => ({ prompt })));
	await pair.runNodes(source, paste(stored));
	const sent = new Set(pair.listTasks().map(({ input }) => input));
	const expected = [...texts, 'a,"b"'].map((prompt) => ({ duration: '5', prompt }));
	expect(sent).toEqual(new Set(expected));
});

it('a value that an expression has lost is an error before anything is sent', async () => {
	const lost: Array<[parameters: Record<string, unknown>, label: string]> = [
		[{ inputMode: 'fields', prompt: '={{ $json.promt }}\n' }, 'Prompt'],
		[{ anyInput: '={ "prompt": "{{ $json.promt }}" }' }, 'Prompt'],
		[{ model: 'beta2/image-edit', image: '={{ $json.image }}', prompt: 'A fox' }, 'Image'],
	];
	const nodes = lost.map(([parameters], at) => ({
		...paste('{}', parameters),
		...{ name: `Node ${at}`, onError: 'continueRegularOutput' },
	}));
	const execution = await pair.runNodes(...nodes);
	const errors = nodes.map(({ name }) => execution.getItems<{ error: string }>(name)[0]?.error);
	const givesNothing = ([, label]: [unknown, string]) =>
		expect.stringMatching(`'${label}'.*gives nothing`);
	expect(errors).toEqual(lost.map(givesNothing));
	expect(pair.countCreations()).toBe(0);
});
