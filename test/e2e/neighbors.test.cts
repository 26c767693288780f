import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fastify from 'fastify';
import { parseAnswer, postJson } from '../../dev/fixtures/callbacks.cts';
import {
	buildNode,
	connect,
	generate,
	buildHttpRequest,
	NODE,
	SPLIT_ITEMS,
	WAIT,
	buildWebhook,
} from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { isOldest, usePair } from './support.cts';

/** All nodes of an execution that waits have the same resume URL. No callback for our node may touch another node. */

const pair = usePair({
	service: { taskSeconds: 0.5, credits: 1e9, callbackRetrySeconds: [0.5, 1, 2, 4] },
	keeps: true,
});

/** Notes what runs behind the nodes. n8n itself may store nothing of an execution. */
const recorder = fastify();
const noted: string[] = [];
let noteIt: WorkflowNode;

beforeAll(async () => {
	recorder.get<{ Params: { name: string } }>('/:name', ({ params }) => {
		noted.push(params.name);
		return {};
	});
	const url = await recorder.listen({ host: '127.0.0.1', port: 0 });
	const note = `=${url}/{{ $('Items').first().json.prompt }}`;
	noteIt = buildHttpRequest({ url: note }, { name: 'Note it', executeOnce: true });
});
afterAll(async () => await recorder.close());

/** Activates a workflow whose webhook answers at once, calls it with an item for each prompt, and returns the workflow's ID. */
async function start(texts: string[], nodes: WorkflowNode[], settings: object = {}) {
	const workflow = connect(`Neighbor of ${texts[0]}`, [buildWebhook(), SPLIT_ITEMS, ...nodes]);
	Object.assign(workflow.settings ?? {}, settings);
	const { id, url } = await pair.activate(workflow);
	await postJson(url, { items: texts.map((prompt) => ({ prompt })) });
	return id;
}

/** Waits until the execution of a workflow sleeps, and returns its ID. */
async function waitForSleep(workflowId: string) {
	const [execution] = await pair.n8n.waitForExecutions({
		workflowId,
		count: 1,
		status: ['waiting', 'error'],
	});
	expect(execution?.readError()).toBe('');
	return String(execution?.id);
}

/** Waits until an execution sleeps, and the node of this name ran last. */
async function waitForNode(executionId: string, name: string) {
	const isThere = async () => {
		const execution = await pair.n8n.getExecution(executionId);
		expect(execution.readError()).toBe('');
		const { status, data } = execution;
		return status === 'waiting' && data.resultData.lastNodeExecuted === name;
	};
	await poll(isThere, { what: `"${name}" to wait` });
}

/** Sends all that may come late for a task: a callback, one with a part of the result, and a nudge of ours. */
async function sendAll(prompt: string) {
	const { taskId } = pair.findTask(prompt);
	const types = [undefined, 'text', 'nudge'];
	const bodies = types.map((type) => type && { data: { task_id: taskId, callbackType: type } });
	const answers = [];
	for (const body of bodies)
		answers.push(await pair.service.sendCallback(taskId, body ? { body } : {}));
	return answers.map(({ status, body }) => ({
		status,
		...(status === 307 ? { body } : parseAnswer(body)),
	}));
}

/** If a form waits, n8n sends every caller on to the form, and finds no webhook of our path there either. The oldest n8n doesn't look there. */
async function expectNoForm(prompt: string) {
	const status = isOldest ? 404 : 307;
	for (const answer of await sendAll(prompt)) expect(answer).toMatchObject({ status });
	const url = String(pair.findTask(prompt).callBackUrl).replace('webhook-waiting', 'form-waiting');
	expect((await fetch(url, { method: 'POST' })).status).toBe(404);
}

/** n8n's own answers, by which a nudge knows its end: no webhook of an execution that waits has our path, or it has finished. */
const NOT_OURS = {
	status: 404,
	message: expect.stringMatching(
		/^The workflow for execution ".*" does .*matching path/,
	) as unknown,
};
const FINISHED = {
	status: 409,
	message: expect.stringMatching(/^The execution ".* has finished/) as unknown,
};

const PERSON = { resume: 'form', formTitle: 'Ready?', formFields: { values: [] }, options: {} };

/** n8n's nodes that let an execution sleep, and the request by which each goes on. */
const WAITING: Record<string, { node: WorkflowNode; goOn: (resumeUrl: string) => Promise<void> }> =
	{
		'Wait for a webhook': {
			node: { ...WAIT, name: 'Wait for a webhook' },
			goOn: async (url) => void (await postJson(url, {})),
		},
		'Wait for a form': {
			node: buildNode('Wait for a form', WAIT.type, 1.1, PERSON, { webhookId: randomUUID() }),
			goOn: async (url) => {
				const body = new FormData();
				body.append('field-0', 'yes');
				const formUrl = url.replace('webhook-waiting', 'form-waiting');
				expect((await fetch(formUrl, { method: 'POST', body })).status).toBe(200);
			},
		},
	};

/** The URL by which other nodes of an execution are resumed. */
const buildResumeUrl = (prompt: string) =>
	String(pair.findTask(prompt).callBackUrl).replace('/media-generation?', '?');

describe.each(Object.entries(WAITING))('n8n’s node "%s"', (name, { node, goOn }) => {
	it('behind Generate, is not touched by late callbacks, and goes on by its own request', async () => {
		const [behind, before] = [`behind-${name}`, `before-${name} #neverEnds`];
		const sleeps = { ...generate({ anyInput: { prompt: before } }), name: 'Sleeps' };
		const options = { howToWait: 'callback' };
		const workflowId = await start([behind], [generate({ options }), node, sleeps, noteIt]);
		const executionId = await waitForSleep(workflowId);
		await waitForNode(executionId, name);
		if (name === 'Wait for a form') await expectNoForm(behind);
		else for (const answer of await sendAll(behind)) expect(answer).toMatchObject(NOT_OURS);
		await waitForNode(executionId, name);
		expect(pair.listPrompts()).not.toContain(before);
		const resumeUrl = buildResumeUrl(behind);
		await goOn(resumeUrl);
		// The request for n8n's node does not wake our node behind it.
		await pair.waitForTasks(before);
		await waitForNode(executionId, 'Sleeps');
		expect((await fetch(resumeUrl, { method: 'POST' })).status).toBe(404);
		await waitForNode(executionId, 'Sleeps');
		await pair.endTask(pair.findTask(before));
		expect((await sendAll(before))[0]).toMatchObject({ status: 200, resumed: true });
		const execution = await pair.n8n.waitForExecution(executionId);
		expect(execution.getItems('Sleeps')).toMatchObject(pair.listCompleted(before));
		expect(noted.filter((one) => one === behind)).toHaveLength(1);
		for (const answer of await sendAll(behind)) expect(answer).toMatchObject(FINISHED);
	});
});

describe('an execution that sleeps', () => {
	it('where n8n saves nothing, goes on', async () => {
		const [first, second] = ['saving-nothing', 'saving-nothing-more'] as const;
		const settings = { saveDataSuccessExecution: 'none', saveDataErrorExecution: 'none' };
		await start([first, second], [generate(), noteIt], settings);
		await poll(() => noted.includes(first), { what: 'the node behind' });
		// n8n itself answers 409 once the execution goes on.
		for (const { callbacks } of [first, second].map((text) => pair.findTask(text)))
			expect([200, 409]).toContain(callbacks.at(-1)?.status);
		expect(pair.findTask(first).callBackUrl).toContain('/media-generation?');
	});

	it('whose workflow is edited and deactivated meanwhile, goes on', async () => {
		const prompt = 'edited #neverEnds';
		const workflowId = await start([prompt], [generate()]);
		const executionId = await waitForSleep(workflowId);
		const workflow = await pair.n8n.getWorkflow(workflowId);
		const polls = generate({ options: { howToWait: 'polling' } });
		const nodes = workflow.nodes.map((node) => (node.name === NODE ? { ...node, ...polls } : node));
		await pair.n8n.importWorkflow({ ...workflow, nodes }, { replaces: workflowId });
		await pair.n8n.deactivate(workflowId);
		await pair.endTask(pair.findTask(prompt));
		expect((await sendAll(prompt))[0]).toMatchObject({ status: 200, resumed: true });
		const execution = await pair.n8n.waitForExecution(executionId);
		expect(execution.getItems(NODE)).toMatchObject(pair.listCompleted(prompt));
	});
});
