import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { readExample, sweepAtOnce } from '../../dev/fixtures/examples.cts';
import { startMailServer } from '../../dev/fixtures/mailServer.cts';
import { startScriptedModel } from '../../dev/fixtures/scriptedModel.cts';
import type { Credential, CredentialInput } from '../../dev/n8n/n8n.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { readMedia } from '../media/corpus.cts';
import { usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 1 }, keeps: true });

const read = (name: string) =>
	readExample(name, { n8n: pair.n8n.url, media: pair.service.resultsUrl });

async function waitForFirst(workflowId: string) {
	const [execution] = await pair.n8n.waitForExecutions({ workflowId, count: 1 });
	return execution;
}

it('make-a-picture outputs the finished picture, with what README shows', async () => {
	const execution = await pair.run(read('make-a-picture'));
	const output = execution.getOutput('Make a picture');
	expect(output).toMatchObject([
		{ json: { status: 'completed' }, binary: { data: { mimeType: 'image/png' } } },
	]);
	const [, shown = ''] = /```json\n([^`]+)```/.exec(readFileSync('README.md', 'utf8')) ?? [];
	expect(Object.keys(output[0]?.json ?? {})).toEqual(Object.keys(JSON.parse(shown) as object));
});

it('create-a-task starts when-a-task-ends', async () => {
	const { id } = await pair.activate(read('when-a-task-ends'));
	const created = await pair.run(read('create-a-task'));
	const [task] = created.getItems<Task>('Create task');
	const execution = await waitForFirst(id);
	expect(execution?.getItems('Use the results')).toMatchObject([
		{ taskId: task?.taskId, status: 'completed' },
	]);
});

it('create-and-wait splits by status', async () => {
	pair.service.set({
		faultsFor: ({ input }) => (input.prompt === 'Make it snow' ? { fail: true } : {}),
	});
	const execution = await pair.run(read('create-and-wait'));
	expect(execution.getItems('Use the results')).toMatchObject([
		{ status: 'completed' },
		{ status: 'completed' },
	]);
	expect(execution.getItems('Look into it')).toMatchObject([{ status: 'failed' }]);
	expect(execution.getItems('Look again later')).toEqual([]);
});

it('edit-an-uploaded-image goes from a form to a file', async () => {
	const { id } = await pair.importWorkflow(read('edit-an-uploaded-image'));
	await pair.n8n.activate(id);
	const photo = readMedia('baseline.jpg');
	const form = new FormData();
	form.append('field-0', new Blob([photo], { type: 'image/jpeg' }), 'me.jpg');
	form.append('field-1', 'Make it night');
	const url = `${pair.n8n.url}/form/8a1f7a52-3c0e-4b1e-9a55-2f6a1c9e7d20`;
	expect((await fetch(url, { method: 'POST', body: form })).status).toBe(200);
	const execution = await waitForFirst(id);
	expect(execution?.getError()).toBeUndefined();
	expect([...pair.service.uploads.values()].at(-1)).toMatchObject({ size: photo.length });
	expect(pair.listTasks().at(-1)?.input.prompt).toBe('Make it night');
	expect(execution?.getOutput('Edit the photo')).toMatchObject([
		{ binary: { data: { mimeType: 'image/png', fileType: 'image' } } },
	]);
});

it("batch-from-a-list makes a video of each row, and splits off those that can't be sent", async () => {
	pair.service.set({ faultsFor: undefined });
	const { id } = await pair.importWorkflow(read('batch-from-a-list'));
	const all = await pair.runSaved(id);
	expect(all.getItems('One row, one video')).toMatchObject([
		{ scene: 'A market at dawn', status: 'completed', video: expect.stringContaining('http') },
		{ scene: 'The same market at noon', status: 'completed' },
		{ scene: 'The market by night', status: 'completed' },
	]);
	const pinData = {
		Rows: [{ json: { scene: 'Good', seconds: 5 } }, { json: { scene: 'Bad', seconds: 'five' } }],
	};
	const some = await pair.runSaved(id, { pinData });
	expect(some.getItems('One row, one video')).toMatchObject([
		{ scene: 'Good', status: 'completed' },
	]);
	expect(some.getItems('Rows to correct')).toMatchObject([
		{ scene: 'Bad', error: expect.stringContaining("'Duration (Seconds)' must be a whole number") },
	]);
});

it('song-to-video makes a video of each take of a song', async () => {
	const execution = await pair.run(read('song-to-video'));
	const takes = execution.getOutput('Make a song');
	expect(takes.map(({ json }) => json.file)).toMatchObject([{ index: 0 }, { index: 1 }]);
	const videos = execution.getOutput('Make its video');
	expect(videos).toMatchObject([
		{ json: { status: 'completed' }, binary: { data: { mimeType: 'video/mp4' } } },
		{ json: { status: 'completed' }, binary: { data: { mimeType: 'video/mp4' } } },
	]);
	const inputs = pair
		.listTasks()
		.flatMap(({ model, input }) => (model.endsWith('music-video') ? [input] : []));
	expect(inputs).toEqual(
		takes.map(({ json }) => ({
			task_id: json.taskId,
			audio_id: (json.file as { id: string }).id,
		})),
	);
});

/** Imports an example with an agent, to be started by hand in place of a chat. */
async function importAgent(name: string, ...inputs: CredentialInput[]) {
	const others: Record<string, Credential> = {};
	for (const input of inputs) others[input.type] = await pair.n8n.createCredential(input);
	const { id } = await pair.importWorkflow(read(name), { others });
	await pair.n8n.activate(id);
	await pair.n8n.deactivate(id);
	const chat = await pair.n8n.getWorkflow(id);
	for (const node of chat.nodes) {
		if (node.type.endsWith('.chatTrigger')) {
			const type = 'n8n-nodes-base.manualTrigger';
			Object.assign(node, { type, typeVersion: 1, parameters: {} });
		} else if (node.type.endsWith('.agent')) {
			Object.assign(node.parameters ?? {}, { promptType: 'define', text: 'Make it night' });
		}
	}
	return await pair.n8n.importWorkflow({ ...chat, name: 'Agent by hand' });
}

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
	for (const close of closers.splice(0)) await close();
});

it('ai-agent lets an agent make an image', async () => {
	const model = await startScriptedModel([[{ Prompt: 'Make it night' }]]);
	closers.push(model.close);
	const { id } = await importAgent('ai-agent', model.credential);
	const execution = await pair.runSaved(id);
	expect(execution.getItems('AI Agent')).toEqual([{ output: 'Done.' }]);
	expect(JSON.parse(String(model.listToolResults()[0]))).toMatchObject([{ status: 'completed' }]);
});

describe('ai-agent-with-approval', () => {
	it.each([
		['Approve', 1, /"status":"completed"/],
		['Decline', 0, /denied|declined|not approved|rejected/i],
	])('creates a task only after a yes: %s', async (button, tasks, told) => {
		const toolArguments = { toolParameters: { Prompt: 'Make it night' }, hitlParameters: {} };
		const model = await startScriptedModel([[toolArguments]]);
		const mailServer = await startMailServer();
		closers.push(model.close, mailServer.close);
		const before = pair.listTasks().length;
		const credentials = [model.credential, mailServer.credential];
		const { id } = await importAgent('ai-agent-with-approval', ...credentials);
		const executionId = await pair.n8n.run(id);
		await pair.n8n.waitForExecution(executionId, { until: ['waiting'] });
		const { mails } = mailServer;
		expect(mails).toHaveLength(1);
		expect(mails[0]?.text?.replace(/\s+/g, ' ')).toContain(
			'1 task with the model beta2/image-edit and the prompt: Make it night',
		);
		expect(pair.listTasks()).toHaveLength(before);

		const html = String(mails[0]?.html).replaceAll('&amp;', '&');
		const link = new RegExp(`href="([^"]+)"[^>]*>\\s*${button}`).exec(html)?.[1];
		// n8n takes a request of a program for a preview of the mail.
		const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0' };
		expect((await fetch(String(link), { headers })).status).toBe(200);
		const execution = await pair.n8n.waitForExecution(executionId);
		expect(execution.getItems('AI Agent')).toEqual([{ output: 'Done.' }]);
		expect(model.listToolResults()).toEqual([expect.stringMatching(told)]);
		expect(pair.listTasks()).toHaveLength(before + tasks);
	});
});

it('any-model makes a video of each item, without the catalogue', async () => {
	const { service } = pair;
	service.set({ faultsFor: undefined, catalogue: false });
	const listLookups = pair.followLookups();
	const execution = await pair.run(read('any-model'));
	expect(execution.getItems('Use the results')).toMatchObject([
		{ status: 'completed', model: 'epsilon-2/image-to-video' },
		{ status: 'completed' },
	]);
	const inputs = pair.listTasks().map(({ input }) => input);
	expect(inputs.slice(-2)).toEqual([
		{
			prompt: 'The camera slowly zooms in',
			image_url: `${service.resultsUrl}/sample.png`,
			duration: '10',
		},
		expect.objectContaining({ prompt: 'The camera slowly circles the subject' }),
	]);
	expect(listLookups()).toEqual([]);
});

it('create-with-sweep uses each task once, also those whose callback never came', async () => {
	const { n8n, service } = pair;
	const { id } = await pair.importWorkflow(read('create-with-sweep'));
	const sweep = await n8n.importWorkflow(sweepAtOnce(await n8n.getWorkflow(id)));
	await n8n.activate(id);
	const create = async () => {
		const trigger = "When clicking 'Execute workflow'";
		const execution = await pair.runSaved(id, { trigger });
		expect(execution.getError()).toBeUndefined();
		const [task] = execution.getItems<Task>('Create task');
		return String(task?.taskId);
	};
	const called = await create();
	await service.idle();
	service.set({ faultsFor: () => ({ noCallback: true }) });
	const lost = await create();
	await service.waitForTask(lost);
	for (let round = 0; round < 2; round++) {
		await pair.runSaved(sweep.id, { trigger: 'Every hour' });
	}
	const executions = [
		...(await n8n.waitForExecutions({ workflowId: id, count: 3 })),
		...(await n8n.waitForExecutions({ workflowId: sweep.id, count: 2 })),
	];
	const used = executions.flatMap((one) => one.getItems<Task>('Use the result'));
	expect(used.map(({ taskId }) => taskId)).toEqual([called, lost]);
});
