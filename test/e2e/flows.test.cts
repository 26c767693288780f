import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { buildByHand, buildByNode } from '../../dev/fixtures/byHand.cts';
import { TOKEN } from '../../dev/fixtures/pair.cts';
import {
	buildNode,
	callWorkflow,
	chain,
	connect,
	items,
	mediaGeneration,
	NODE,
	setJson,
	triggered,
	webhook,
	WHEN_CALLED,
} from '../../dev/fixtures/workflows.cts';
import type { Workflow, WorkflowNode } from '../../dev/n8n/workflow.cts';
import { readMedia } from '../media/corpus.cts';
import { folder, readFiles, usePair } from './support.cts';

/** Workflows as people have them: a trigger, a node that sets the prompt, ours, and one that uses the result. */
interface Flow {
	/** Starts it. Returns the workflow whose execution uses the result, and what the caller was given. */
	start: () => Promise<{ id: string; answer?: string }>;
	/** The input of each task, as the service got it. */
	inputs: object[];
	/** What the named nodes output. */
	outputs: Record<string, object[]>;
	answer?: RegExp;
}

const pair = usePair({ service: { taskSeconds: 1 } });

const PROMPT = 'A "red" fox\nin snow, {{ $json.prompt }} \\ 50 %';
const OTHER = 'An owl at "night"\n(second line)';
const FAILS = 'A "blue" hare\n#fail';
const PICTURE = { model: 'zeta-canvas-4.0', file: /^a-red-fox.*\.png$/i };
const TO_VIDEO = 'epsilon-2/image-to-video';
const VIDEO_FILE = /\.mp4$/;

const matching = (file: RegExp): object => expect.stringMatching(file);
const link = matching(/^http/);

/** Outputs what people take from a task, beside the prompt that stands in an earlier node. */
const use = (prompt = "$('Set').item.json.prompt") =>
	setJson(
		'Use',
		`{ prompt: ${prompt}, status: $json.status, link: $json.resultUrls[0], file: $binary.data?.fileName }`,
	);
const used = (prompt: string, file: RegExp) => ({
	prompt,
	status: 'completed',
	link,
	file: matching(file),
});

/** Sets the prompt by an expression. */
const set = (code: string) => setJson('Set', `{ prompt: ${code} }`);
const SET = { ...items([{ prompt: PROMPT }]), name: 'Set' };

/** Builds our node with a model of the service and values of its fields. */
const make = (model: string, value: object, parameters: object = {}, more: object = {}) =>
	mediaGeneration(
		{
			resource: 'task',
			operation: 'generate',
			model: 'any',
			anyModel: { __rl: true, mode: 'list', value: model },
			inputMode: 'fields',
			prompt: '={{ $json.prompt }}',
			anyFields: { mappingMode: 'defineBelow', value, matchingColumns: [], schema: [] },
			options: {},
			...parameters,
		},
		more,
	);
const makePicture = (parameters: object = {}, more: object = {}) =>
	make(PICTURE.model, {}, parameters, more);

const lead = (node: string) => [{ node, type: 'main', index: 0 }];

/** Leads the error output of our node to another one. */
function splitOff(workflow: Workflow, node: WorkflowNode) {
	const [added] = connect('', [node]).nodes;
	if (added) workflow.nodes.push(added);
	workflow.connections[NODE]?.main?.push(lead(node.name));
	return workflow;
}

/** Runs a workflow whose first node is a trigger by hand, as "Execute workflow" does. */
async function runByHand(workflow: Workflow) {
	const { id } = await pair.importWorkflow(workflow);
	await pair.n8n.run(id);
	return { id };
}

/** Activates a workflow and calls it. */
async function call(workflow: Workflow, body: object, url?: string) {
	const activated = await pair.activate(workflow);
	const response = await fetch(url ?? activated.url, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	return { id: activated.id, type: response.headers.get('content-type'), response };
}

const flows: Record<string, Flow> = {
	"a form's photo becomes a video": {
		async start() {
			const webhookId = randomUUID();
			const values = [
				{ fieldLabel: 'Product photo', fieldType: 'file' },
				{ fieldLabel: 'Movement', fieldType: 'textarea' },
			];
			const parameters = { formTitle: 'Form', formFields: { values }, options: {} };
			const form = buildNode('Form', 'n8n-nodes-base.formTrigger', 2.2, parameters, { webhookId });
			const value = { image_url: 'Product photo', duration: '5' };
			const node = make(TO_VIDEO, value, { prompt: '={{ $json.Movement }}' });
			const workflow = connect('Form', [form, node, use("$('Form').item.json.Movement")]);
			const { id } = await pair.activate(workflow);
			const body = new FormData();
			body.append('field-0', new Blob([readMedia('baseline.jpg')]), 'me.jpg');
			body.append('field-1', OTHER);
			const url = `${pair.n8n.url}/form/${webhookId}`;
			expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
			return { id };
		},
		// A browser sends a form's line breaks so.
		inputs: [{ prompt: OTHER.replace('\n', '\r\n'), image_url: link, duration: '5' }],
		outputs: { Use: [used(OTHER.replace('\n', '\r\n'), VIDEO_FILE)] },
	},

	"a sheet's rows become files, and one whose task fails is told apart": {
		async start() {
			const rows = items([{ prompt: PROMPT }, { prompt: FAILS }]);
			const save = buildNode('Save', 'n8n-nodes-base.readWriteFile', 1, {
				operation: 'write',
				fileName: `=${folder}/{{ $json.taskId }}-{{ $binary.data.fileName }}`,
				dataPropertyName: 'data',
			});
			const node = makePicture({}, { onError: 'continueErrorOutput' });
			const workflow = chain('Sheet', [rows, node, use("$('Items').item.json.prompt"), save]);
			// The file is saved beside what is used of it.
			workflow.connections[NODE] = { main: [[...lead('Use'), ...lead('Save')]] };
			delete workflow.connections.Use;
			const told =
				"prompt: $('Items').item.json.prompt, error: $json.error, message: $json.message";
			const correct = setJson('Correct', `{ ${told} }`);
			return await runByHand(splitOff(workflow, correct));
		},
		inputs: [{ prompt: PROMPT }, { prompt: FAILS }],
		outputs: {
			Use: [used(PROMPT, PICTURE.file)],
			Save: [{ fileName: matching(/-a-red-fox.*\.png$/i) }],
			Correct: [
				{
					prompt: FAILS,
					error: expect.stringContaining('failed'),
					message: expect.stringMatching(/Task ID: \w+/),
				},
			],
		},
	},

	"a webhook's caller gets the finished file": {
		async start() {
			const respond = buildNode('Respond', 'n8n-nodes-base.respondToWebhook', 1.5, {
				respondWith: 'binary',
				options: {},
			});
			const trigger = webhook({ responseMode: 'responseNode' });
			const nodes = [trigger, set('$json.body.prompt'), makePicture(), respond, use()];
			const { id, type, response } = await call(connect('Webhook', nodes), { prompt: PROMPT });
			expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
			return { id, answer: String(type) };
		},
		inputs: [{ prompt: PROMPT }],
		outputs: { Use: [used(PROMPT, PICTURE.file)] },
		answer: /^image\/png/,
	},

	'a chat is answered with the finished picture': {
		async start() {
			const webhookId = randomUUID();
			const type = '@n8n/n8n-nodes-langchain.chatTrigger';
			const parameters = { public: true, mode: 'webhook', options: {} };
			const chat = buildNode('Chat', type, 1.3, parameters, { webhookId });
			const nodes = [chat, set('$json.chatInput'), makePicture(), use()];
			const message = { action: 'sendMessage', sessionId: webhookId, chatInput: PROMPT };
			const url = pair.n8n.buildWebhookUrl(`${webhookId}/chat`);
			const { id, response } = await call(connect('Chat', nodes), message, url);
			return { id, answer: await response.text() };
		},
		inputs: [{ prompt: PROMPT }],
		outputs: { Use: [used(PROMPT, PICTURE.file)] },
		answer: /"link":"http/,
	},

	"a schedule's list is made one after the other in a loop": {
		async start() {
			const rule = { interval: [{ field: 'days' }] };
			const schedule = buildNode('Schedule', 'n8n-nodes-base.scheduleTrigger', 1.2, { rule });
			const list = items([{ prompt: PROMPT }, { prompt: OTHER }]);
			const batches = buildNode('Loop', 'n8n-nodes-base.splitInBatches', 3, { options: {} });
			const after = use("$('Items').item.json.prompt");
			const workflow = connect('Schedule', [schedule, list, batches, makePicture(), after]);
			workflow.connections.Loop = { main: [lead('Use'), lead(NODE)] };
			workflow.connections[NODE] = { main: [lead('Loop')] };
			return await runByHand(workflow);
		},
		inputs: [{ prompt: PROMPT }, { prompt: OTHER }],
		outputs: { Use: [used(PROMPT, PICTURE.file), used(OTHER, /^an-owl.*\.png$/i)] },
	},

	'a text becomes a picture, and the picture a video': {
		async start() {
			const move = make(TO_VIDEO, { image_url: 'data', duration: '10' }, { prompt: 'It "moves"' });
			const nodes = [SET, makePicture({}, { name: 'Picture' }), move, use()];
			return await runByHand(chain('Chained', nodes));
		},
		inputs: [{ prompt: PROMPT }, { prompt: 'It "moves"', image_url: link, duration: '10' }],
		outputs: { Use: [used(PROMPT, VIDEO_FILE)] },
	},

	'a text is spoken, and the file named by it': {
		async start() {
			const value = { text: '={{ $json.prompt }}', voice: 'Ada' };
			const speak = make('epsilon-voice/text-to-speech', value, { prompt: '' });
			return await runByHand(chain('Speech', [SET, speak, use()]));
		},
		inputs: [{ text: PROMPT, voice: 'Ada' }],
		outputs: { Use: [used(PROMPT, /^a-red-fox.*\.mp3$/i)] },
	},

	'a picture is made of several input pictures': {
		async start() {
			const prompt = "={{ $('Set').item.json.prompt }}";
			const files = readFiles({ front: 'baseline.jpg', back: 'plain.png' });
			const node = make(PICTURE.model, { image_input: 'front, back' }, { prompt });
			return await runByHand(chain('Several', [SET, ...files, node, use()]));
		},
		inputs: [{ prompt: PROMPT, image_input: [link, link] }],
		outputs: { Use: [used(PROMPT, PICTURE.file)] },
	},

	'a called workflow returns the files of both items to its caller': {
		async start() {
			const { id } = await pair.activate(connect('Called', [WHEN_CALLED, makePicture()]));
			const rows = items([{ prompt: PROMPT }, { prompt: OTHER }]);
			const after = use("$('Items').item.json.prompt");
			return await runByHand(chain('Caller', [rows, callWorkflow(id), after]));
		},
		inputs: [{ prompt: PROMPT }, { prompt: OTHER }],
		outputs: { Use: [used(PROMPT, PICTURE.file), used(OTHER, /^an-owl.*\.png$/i)] },
	},

	'an error workflow is told of a failed task': {
		async start() {
			const trigger = buildNode('On error', 'n8n-nodes-base.errorTrigger', 1);
			const told = setJson('Use', '{ told: $json.execution.error.message }');
			const { id } = await pair.activate(connect('On error', [trigger, told]));
			const failing = connect('Fails', [webhook(), set('$json.body.prompt'), makePicture()]);
			failing.settings = { ...failing.settings, errorWorkflow: id };
			await call(failing, { prompt: FAILS });
			return { id };
		},
		inputs: [{ prompt: FAILS }],
		outputs: { Use: [{ told: expect.stringContaining('failed') }] },
	},

	'a started task starts the workflow that saves its file': {
		async start() {
			const [trigger] = triggered().nodes;
			const files = { resource: 'task', operation: 'getFiles', taskId: '={{ $json.taskId }}' };
			const workflow = connect('Saves', [trigger as WorkflowNode, mediaGeneration(files)]);
			const { id, url } = await pair.activate(workflow);
			const start = makePicture({ operation: 'start', callbackUrl: url });
			await pair.run(chain('Starts', [SET, start]));
			return { id };
		},
		inputs: [{ prompt: PROMPT }],
		outputs: { [NODE]: [{ status: 'completed' }] },
	},

	'a saved ID is waited for in another workflow': {
		async start() {
			const started = await pair.run(chain('Starts', [SET, makePicture({ operation: 'start' })]));
			const saved = items(started.getItems(NODE).map(({ taskId }) => ({ taskId })));
			const taskId = '={{ $json.taskId }}';
			const wait = mediaGeneration({ resource: 'task', operation: 'wait', taskId, options: {} });
			return await runByHand(chain('Waits', [saved, wait, use("'saved'")]));
		},
		inputs: [{ prompt: PROMPT }],
		outputs: { Use: [used('saved', PICTURE.file)] },
	},

	'the body of an HTTP Request node is pasted': {
		async start() {
			const anyInput = `={
				"model": "${PICTURE.model}",
				"callBackUrl": "https://n8n.example.com/webhook/old",
				"input": { "prompt": {{ JSON.stringify($json.prompt) }} }
			}`;
			const node = makePicture({ inputMode: 'json', prompt: '', anyInput });
			return await runByHand(chain('Pasted', [SET, node, use()]));
		},
		inputs: [{ prompt: PROMPT }],
		outputs: { Use: [used(PROMPT, PICTURE.file)] },
	},
};

it.each(Object.entries(flows))('%s', async (_, { start, inputs, outputs, answer = /^$/ }) => {
	const { id, answer: given = '' } = await start();
	expect(given).toMatch(answer);
	const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
	for (const [node, items] of Object.entries(outputs))
		expect(execution?.getItems(node)).toEqual(
			items.map((item) => expect.objectContaining(item as Record<string, unknown>)),
		);
	expect(pair.listTasks().map(({ input }) => input)).toEqual(inputs);
});

it("the guide's workflow by hand and the one by our node make the same picture", async () => {
	const job = { url: pair.service.url, token: TOKEN, prompt: OTHER };
	const files = [];
	for (const workflow of [buildByHand(job), buildByNode(job)]) {
		const execution = await pair.run(workflow);
		expect(execution.readError()).toBe('');
		const [item] = execution.getOutput('Use the file');
		files.push(item?.binary?.data?.mimeType);
	}
	expect(files).toEqual(['image/png', 'image/png']);
	expect(pair.listTasks().map(({ input }) => input)).toEqual([
		{ prompt: OTHER },
		{ prompt: OTHER },
	]);
});

afterAll(() => {
	for (const name of fs.readdirSync(folder))
		if (/-a-red-fox.*\.png$/i.test(name)) fs.rmSync(path.join(folder, name));
});
