import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { readExample } from '../../dev/fixtures/examples.cts';
import { startMailServer } from '../../dev/fixtures/mailServer.cts';
import { ToolCall } from '../../dev/fixtures/scriptedModel.cts';
import { startTelegram } from '../../dev/fixtures/telegram.cts';
import { buildItems, setJson } from '../../dev/fixtures/workflows.cts';
import type { Credential, CredentialInput } from '../../dev/n8n/n8n.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Workflow, WorkflowNode } from '../../dev/n8n/workflow.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { readMedia } from '../media/corpus.cts';
import { useChatModel, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5 }, keeps: true });
const model = useChatModel();

afterEach(() => pair.service.set({ faultsFor: undefined }));

const read = (name: string) =>
	readExample(name, { n8n: pair.n8n.url, media: pair.service.filesUrl });

const waitForFirst = async (workflowId: string) =>
	(await pair.n8n.waitForExecutions({ workflowId, count: 1 }))[0];

it('make-a-picture outputs the finished picture, with what docs show', async () => {
	const execution = await pair.run(read('make-a-picture'));
	const output = execution.getOutput('Make a picture');
	expect(output).toMatchObject([
		{ json: { status: 'completed' }, binary: { data: { mimeType: 'image/png' } } },
	]);
	const [, shown = ''] = /```json\n([^`]+)```/.exec(readFileSync('docs/output.md', 'utf8')) ?? [];
	expect(Object.keys(output[0]?.json ?? {})).toEqual(Object.keys(JSON.parse(shown) as object));
});

it('start-a-task starts when-a-task-ends', async () => {
	const { id } = await pair.activate(read('when-a-task-ends'));
	const [created] = (await pair.run(read('start-a-task'))).getItems('Create task');
	const completed = { taskId: created?.taskId, status: 'completed' };
	expect((await waitForFirst(id))?.getItems('Use the results')).toMatchObject([completed]);
});

it('generate-several splits off failed tasks', async () => {
	pair.service.set({
		faultsFor: ({ input }) => (input.prompt === 'Make it snow' ? { fail: true } : {}),
	});
	const execution = await pair.run(read('generate-several'));
	const completed = { json: { status: 'completed' }, binary: { data: { mimeType: 'image/png' } } };
	expect(execution.getOutput('Use the pictures')).toMatchObject([completed, completed]);
	const error = expect.stringContaining('The task failed: ');
	const message = expect.stringContaining('Task ID: ');
	// n8n adds the fields of the input item.
	const prompt = 'Make it snow';
	const details = expect.objectContaining({ status: 'failed' });
	expect(execution.getItems('Look into it')).toEqual([{ error, message, details, prompt }]);
});

/** Sends a form with a photo and a text. Returns what n8n answers. */
async function sendForm(webhookId: string, photo: Buffer<ArrayBuffer>, text: string) {
	const form = new FormData();
	form.append('field-0', new Blob([photo], { type: 'image/jpeg' }), 'me.jpg');
	form.append('field-1', text);
	const url = `${pair.n8n.url}/form/${webhookId}`;
	const response = await fetch(url, { method: 'POST', body: form });
	expect(response.status).toBe(200);
	return (await response.json()) as { formWaitingUrl?: string };
}

it('edit-an-uploaded-image goes from a form to a file', async () => {
	const { id } = await pair.activate(read('edit-an-uploaded-image'));
	const photo = readMedia('baseline.jpg');
	await sendForm('8a1f7a52-3c0e-4b1e-9a55-2f6a1c9e7d20', photo, 'Make it night');
	const execution = await waitForFirst(id);
	expect(execution?.getError()).toBeUndefined();
	expect([...pair.service.uploads.values()].at(-1)).toMatchObject({ size: photo.length });
	expect(pair.listTasks().at(-1)?.input.prompt).toBe('Make it night');
	expect(execution?.getOutput('Edit the photo')).toMatchObject([
		{ binary: { data: { mimeType: 'image/png', fileType: 'image' } } },
	]);
});

describe('video-from-a-photo', () => {
	const webhookId = '8a1f7a52-3c0e-4b1e-9a55-2f6a1c9e7d50';
	const photo = readMedia('baseline.jpg');

	/** Sends the form, and returns its last page. */
	async function readLastPage(text: string) {
		const { formWaitingUrl } = await sendForm(webhookId, photo, text);
		const pageUrl = String(formWaitingUrl);
		// The form in the browser asks for its next page in this way. n8n answers a page that isn't there yet late or never.
		const statusUrl = pageUrl.replace('?', '/n8n-execution-status?');
		const isReady = async () => (await (await fetch(statusUrl)).text()).trim() === 'form-waiting';
		await poll(isReady, { what: 'the last page of the form' });
		return await (await fetch(pageUrl)).text();
	}

	beforeAll(async () => void (await pair.activate(read('video-from-a-photo'))));

	it('goes from a form, which says that it takes minutes, to a page that downloads the video', async () => {
		const form = await (await fetch(`${pair.n8n.url}/form/${webhookId}`)).text();
		expect(form).toContain('A video takes some minutes');
		const page = await readLastPage('She smiles');
		expect(page).toContain('Your video is ready');
		expect(page).toMatch(/data:video\/mp4|\.mp4/);
		expect([...pair.service.uploads.values()].at(-1)).toMatchObject({ size: photo.length });
		expect(pair.listTasks().at(-1)?.input).toMatchObject({
			prompt: 'She smiles',
			image_url: expect.stringMatching(/^http/),
		});
	});

	it('says to the visitor why there is no video', async () => {
		const page = await readLastPage('She frowns #fail');
		expect(page).toContain('There is no video');
		expect(page).toContain('The task failed: the prompt was refused (code 501)');
	});
});

it('media-for-agents says to the agent why the task failed, and not to try again', async () => {
	const { id } = await pair.importWorkflow(read('media-for-agents'));
	const trigger = 'When an agent calls';
	const pinData = { [trigger]: [{ json: { prompt: 'Make it night #fail' } }] };
	const execution = await pair.runSaved(id, { trigger, pinData });
	expect(execution.getItems('Tell the agent')).toMatchObject([
		{
			status: 'failed',
			links: [],
			failMessage: expect.stringContaining('the prompt was refused'),
			note: expect.stringContaining('Do not call the tool again'),
		},
	]);
});

/** Returns the code of a parameter that is an expression. */
const readCode = (value: unknown) => /^=\{\{(.*)\}\}$/s.exec(String(value))?.[1] ?? '';

/** Puts nodes that evaluate the same expressions in place of Google's nodes. */
function replaceGoogle(workflow: Workflow, rows: object[]) {
	const replace = (name: string, build: (parameters: object) => WorkflowNode) => {
		const node = workflow.nodes.find((one) => one.name === name);
		Object.assign(node ?? {}, build(node?.parameters ?? {}), { name, credentials: {} });
	};
	const put = (name: string, build: (parameters: object) => string) =>
		replace(name, (parameters) => setJson(name, build(parameters)));
	replace('Rows', () => buildItems(rows));
	put('Save the file', ({ name }: { name?: string }) => `{ webViewLink: ${readCode(name)} }`);
	put('Note it in the row', ({ columns }: { columns?: { value: Record<string, string> } }) => {
		const { row_number, file } = columns?.value ?? {};
		return `{ row: ${readCode(row_number)}, file: ${readCode(file)} }`;
	});
	return workflow;
}

it('sheet-to-files makes a file of each row that has none, and notes why a task failed', async () => {
	const count = pair.listTasks().length;
	const rows = [
		{ row_number: 2, prompt: 'A "quoted" fox', file: '', output_format: 'png' },
		{ row_number: 3, prompt: 'A hare', file: 'https://drive.example/hare' },
		{ row_number: 4, prompt: 'An owl #fail', file: '' },
	];
	const execution = await pair.run(replaceGoogle(read('sheet-to-files'), rows));
	expect(execution.getError()).toBeUndefined();
	const tasks = pair.listTasks().slice(count);
	expect(new Set(tasks.map(({ input }) => input))).toEqual(
		new Set([{ prompt: 'A "quoted" fox', output_format: 'png' }, { prompt: 'An owl #fail' }]),
	);
	const runs = execution.getRuns('Note it in the row');
	const noted = runs.flatMap(({ data }) => data?.main?.[0]?.map(({ json }) => json) ?? []);
	expect(noted).toEqual([
		{ row: 2, file: expect.stringMatching(/^a-quoted-fox.*\.png$/i) },
		{ row: 4, file: expect.stringMatching(/^The task failed: .*Task ID: /) },
	]);
});

it("batch-from-a-list makes a video of each row, and splits off those that can't be sent", async () => {
	const { id } = await pair.importWorkflow(read('batch-from-a-list'));
	const pinData = {
		Rows: [{ json: { scene: 'Good', seconds: 5 } }, { json: { scene: 'Bad', seconds: 'five' } }],
	};
	const some = await pair.runSaved(id, { pinData });
	expect(some.getItems('One row, one video')).toMatchObject([
		{ scene: 'Good', status: 'completed', video: expect.stringContaining('http') },
	]);
	expect(some.getItems('Rows to correct')).toMatchObject([
		{ scene: 'Bad', error: expect.stringContaining("'Duration (Seconds)' must be a whole number") },
	]);
});

it('song-to-video makes a video of each take of a song', async () => {
	const execution = await pair.run(read('song-to-video'));
	const takes = execution.getOutput('Make a song');
	expect(takes.map(({ json }) => json.file)).toMatchObject([{ index: 0 }, { index: 1 }]);
	const video = { json: { status: 'completed' }, binary: { data: { mimeType: 'video/mp4' } } };
	expect(execution.getOutput('Make its video')).toMatchObject([video, video]);
	const tasks = pair.listTasks().filter(({ model }) => model.endsWith('music-video'));
	expect(tasks.map(({ input }) => input)).toEqual(
		takes.map(({ json }) => ({
			task_id: json.taskId,
			audio_id: (json.file as { id: string }).id,
		})),
	);
});

/** Runs an example with an agent by hand in place of a chat. The agent makes one call in each turn. */
async function startAgent(name: string, calls: object[], ...inputs: CredentialInput[]) {
	model.script(calls.map((call) => [call]));
	const others: Record<string, Credential> = {};
	for (const input of [model.credential, ...inputs])
		others[input.type] = await pair.n8n.createCredential(input);
	const { id } = await pair.importWorkflow(read(name), { others });
	await pair.n8n.activate(id);
	await pair.n8n.deactivate(id);
	const chat = await pair.n8n.getWorkflow(id);
	for (const node of chat.nodes) {
		if (node.type.endsWith('.chatTrigger')) {
			const type = 'n8n-nodes-base.manualTrigger';
			Object.assign(node, { type, typeVersion: 1, parameters: {} });
		} else if (node.type.endsWith('.agent'))
			Object.assign(node.parameters ?? {}, { promptType: 'define', text: 'Make it night' });
	}
	return await pair.n8n.run((await pair.n8n.importWorkflow({ ...chat, name: 'By hand' })).id);
}

it('ai-agent lets an agent make an image', async () => {
	const id = await startAgent('ai-agent', [{ Prompt: 'Make it night' }]);
	const execution = await pair.n8n.waitForExecution(id);
	expect(execution.getItems('AI Agent')).toEqual([{ output: 'Done.' }]);
	expect(JSON.parse(String(model.listToolResults()[0]))).toMatchObject([{ status: 'completed' }]);
	const [tool] = read('ai-agent').nodes.filter(({ type }) => type.endsWith('.mediaGenerationTool'));
	expect(model.listToolDescriptions()).toEqual([tool?.parameters?.toolDescription]);
});

it('agent-that-finds-a-model lets an agent find a model, read its fields, use it, and wait for the task', async () => {
	const Model = 'epsilon-canvas/text-to-image';
	const id = await startAgent('agent-that-finds-a-model', [
		new ToolCall('Find_models', () => ({ Search: 'text to image' })),
		new ToolCall('Read_its_fields', () => ({ Model })),
		new ToolCall('Create', () => ({ Model, Input: { prompt: 'A "red" fox', seed: 7 } })),
		new ToolCall('Go_on_waiting', () => ({ Task: pair.listTasks().at(-1)?.taskId })),
	]);
	const execution = await pair.n8n.waitForExecution(id);
	expect(execution.getItems('AI Agent')).toEqual([{ output: 'Done.' }]);
	const results = model.listToolResults().map((text) => JSON.parse(text) as unknown);
	const completed = { status: 'completed', resultUrls: Array(4).fill(expect.any(String)) };
	expect(results).toEqual([
		expect.arrayContaining([expect.objectContaining({ model: Model })]),
		expect.arrayContaining([expect.objectContaining({ name: 'seed', type: 'integer' })]),
		[expect.objectContaining(completed)],
		[expect.objectContaining(completed)],
	]);
	expect(pair.listTasks().at(-1)?.input).toEqual({ prompt: 'A "red" fox', seed: 7 });
});

it('ai-agent-with-approval creates a task only after a yes', async () => {
	const call = { toolParameters: { Prompt: 'Make it night' }, hitlParameters: {} };
	await using mailServer = await startMailServer();
	const before = pair.listTasks().length;
	const id = await startAgent('ai-agent-with-approval', [call], mailServer.credential);
	await pair.waitForSleep(id);
	const { mails } = mailServer;
	expect(mails).toHaveLength(1);
	expect(mails[0]?.text?.replace(/\s+/g, ' ')).toContain(
		'1 task with the model beta2/image-edit and the prompt: Make it night',
	);
	expect(pair.listTasks()).toHaveLength(before);

	const html = String(mails[0]?.html).replaceAll('&amp;', '&');
	const link = /href="([^"]+)"[^>]*>\s*Approve/.exec(html)?.[1];
	// n8n takes a request of a program for a preview of the mail.
	const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0' };
	expect((await fetch(String(link), { headers })).status).toBe(200);
	const execution = await pair.n8n.waitForExecution(id);
	expect(execution.getItems('AI Agent')).toEqual([{ output: 'Done.' }]);
	expect(model.listToolResults()).toEqual([expect.stringContaining('"status":"completed"')]);
	expect(pair.listTasks()).toHaveLength(before + 1);
});

it('any-model makes a video of each item', async () => {
	const execution = await pair.run(read('any-model'));
	expect(execution.getItems('Use the results')).toMatchObject([
		{ status: 'completed', model: 'epsilon-2/image-to-video' },
		{ status: 'completed' },
	]);
	const image_url = `${pair.service.filesUrl}/sample.png`;
	const [first, second] = pair.listTasks().slice(-2);
	expect(first?.input).toEqual({ prompt: 'The camera slowly zooms in', image_url, duration: '10' });
	expect(second?.input).toMatchObject({ prompt: 'The camera slowly circles the subject' });
});

it('telegram-bot answers each chat with its own picture, or says why there is none', async () => {
	await using telegram = await startTelegram();
	const others = { telegramApi: await pair.n8n.createCredential(telegram.credential) };
	const { id } = await pair.activate(read('telegram-bot'), { others });
	const requests = { 41: 'A fox', [-42]: 'An owl #fail', 43: '' };
	for (const [chatId, text] of Object.entries(requests)) await telegram.write(Number(chatId), text);
	const isAnswered = () => telegram.sent.length === 3;
	await poll(isAnswered, { what: 'an answer in each chat' });
	await pair.n8n.deactivate(id);
	const answers = telegram.sent.map(({ method, body: { chat_id, photo, text } }) => [
		String(chat_id),
		{ method, said: photo ?? text },
	]);
	const says = (said: string) => ({ method: 'sendMessage', said: expect.stringMatching(said) });
	expect(Object.fromEntries(answers)).toEqual({
		41: { method: 'sendPhoto', said: expect.stringMatching(/^http.*\.png$/) },
		[-42]: says('^The picture failed: \\w'),
		43: says("^That didn't work: .*'Prompt'"),
	});
});

it('start-with-sweep uses each task once, also those whose callback never came', async () => {
	const { n8n, service } = pair;
	const { id } = await pair.importWorkflow(read('start-with-sweep'));
	// It also looks at tasks created just now.
	const text = JSON.stringify(await n8n.getWorkflow(id)).replace('minutes: 60', 'minutes: 0');
	const sweep = await n8n.importWorkflow(JSON.parse(text) as Workflow);
	await n8n.activate(id);
	const create = async () => {
		const trigger = "When clicking 'Execute workflow'";
		const execution = await pair.runSaved(id, { trigger });
		expect(execution.getError()).toBeUndefined();
		return String(execution.getItems<Task>('Create task')[0]?.taskId);
	};
	const called = await create();
	await service.waitUntilIdle();
	service.set({ faultsFor: () => ({ noCallback: true }) });
	const lost = await create();
	await service.waitForTask(lost);
	for (let round = 0; round < 2; round++) await pair.runSaved(sweep.id, { trigger: 'Every hour' });
	const executions = [
		...(await n8n.waitForExecutions({ workflowId: id, count: 3 })),
		...(await n8n.waitForExecutions({ workflowId: sweep.id, count: 2 })),
	];
	const used = executions.flatMap((one) => one.getItems<Task>('Use the result'));
	expect(used.map(({ taskId }) => taskId)).toEqual([called, lost]);
	const callbacks = [called, lost].map((taskId) => service.tasks.get(taskId)?.callbacks);
	expect(callbacks).toEqual([[expect.objectContaining({ status: 200 })], []]);
});
