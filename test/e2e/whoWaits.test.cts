import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { postJson } from '../../dev/fixtures/callbacks.cts';
import { startScriptedModel } from '../../dev/fixtures/scriptedModel.cts';
import {
	buildNode,
	callWorkflow,
	chain,
	buildChatModel,
	connect,
	generate,
	NODE,
	numberTexts,
	buildPrompts,
	setJson,
	use,
	WAIT,
	buildWebhook,
	WHEN_CALLED,
} from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Workflow, WorkflowNode } from '../../dev/n8n/workflow.cts';
import { readHints, usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 3, credits: 1e6, callbackRetrySeconds: [0.5, 1, 2, 4, 8] },
	keeps: true,
});

interface Started {
	/** The workflow with our node. */
	id: string;
	/** What the caller got at the end; absent if nobody waits. */
	answer?: string;
	/** How many executions the workflow has; by default one. */
	count?: number;
}

/** Starts a workflow that creates a task for each of these prompts, and waits for its answer. */
type Start = (texts: string[]) => Promise<Started>;

const LAST_NODE = { responseMode: 'lastNode', responseData: 'allEntries' };
const BY_NODE = { responseMode: 'responseNode' };
const LANGCHAIN = '@n8n/n8n-nodes-langchain';

/** n8n's node that answers the caller of a webhook with its items. */
const RESPOND = buildNode('Respond', 'n8n-nodes-base.respondToWebhook', 1.5, {
	respondWith: 'allIncomingItems',
	options: {},
});

const post = async (url: string, body: object = {}) => (await postJson(url, body)).text;

/** Builds our node, below a node that outputs an item for each prompt. */
const buildNodes = (texts: string[]) => [buildPrompts(texts), generate()];

const activate = async (...nodes: WorkflowNode[]) => await pair.activate(connect('Who', nodes));

/** Activates a workflow that begins with n8n's Webhook node, and calls it. */
async function callWebhook(parameters: object, ...nodes: WorkflowNode[]) {
	const { id, url } = await activate(buildWebhook(parameters), ...nodes);
	return { id, answer: await post(url) };
}

/** Starts our node below n8n's Webhook node. */
const startByWebhook =
	(
		parameters: object = {},
		{ above = [], below = [] }: Partial<Record<'above' | 'below', WorkflowNode[]>> = {},
	): Start =>
	async (texts) =>
		await callWebhook(parameters, ...above, ...buildNodes(texts), ...below);

/** Builds a workflow that starts by hand, by a webhook that answers at once, or by a webhook whose caller waits. */
function buildThreeTriggers(texts: string[]): Workflow {
	const workflow = chain('Three triggers', buildNodes(texts));
	const { nodes } = connect('', [buildWebhook({}, 'At once'), buildWebhook(LAST_NODE, 'Waits')]);
	workflow.nodes.push(...nodes);
	for (const { name } of nodes) workflow.connections[name] = { ...workflow.connections.Start };
	return workflow;
}

const startByOneOfThree =
	(trigger: 'At once' | 'Waits'): Start =>
	async (texts) => {
		const { id } = await pair.activate(buildThreeTriggers(texts));
		return { id, answer: await post(await pair.n8n.getProductionWebhookUrl(id, trigger)) };
	};

const startInEditor: Start = async (texts) => {
	const { id } = await pair.importWorkflow(buildThreeTriggers(texts));
	await pair.n8n.run(id, { trigger: 'Start' });
	return { id };
};

const startPartInEditor: Start = async (texts) => {
	const { id } = await pair.importWorkflow(buildThreeTriggers(texts));
	const { data } = await pair.runSaved(id, { trigger: 'Start', destinationNode: 'Items' });
	await pair.n8n.request('POST', `/rest/workflows/${id}/run`, {
		runData: data.resultData.runData,
		dirtyNodeNames: [NODE],
		destinationNode: { nodeName: NODE, mode: 'inclusive' },
	});
	return { id, count: 2 };
};

const startByTestUrl: Start = async (texts) => {
	const workflow = connect('Test URL', [buildWebhook(LAST_NODE), ...buildNodes(texts)]);
	const { id } = await pair.importWorkflow(workflow);
	return { id, answer: await post(await pair.n8n.listenForTestEvent(id)) };
};

/** Calls the resume URL of a Wait node that answers with the last node. */
const startByWaitNode: Start = async (texts) => {
	const tell = setJson('Tell', '{ url: $execution.resumeUrl }');
	const waits = { ...WAIT, parameters: { ...WAIT.parameters, ...LAST_NODE } };
	const { id } = await callWebhook({}, tell, waits, ...buildNodes(texts));
	const asleep = { workflowId: id, count: 1, status: ['waiting'] };
	const [execution] = await pair.n8n.waitForExecutions(asleep);
	return { id, answer: await post(String(execution?.getItems<{ url: string }>('Tell')[0]?.url)) };
};

const startByChat: Start = async (texts) => {
	const webhookId = randomUUID();
	const parameters = { public: true, mode: 'webhook', options: {} };
	const trigger = buildNode('Chat', `${LANGCHAIN}.chatTrigger`, 1.3, parameters, { webhookId });
	const { id } = await activate(trigger, ...buildNodes(texts));
	const message = { action: 'sendMessage', sessionId: webhookId, chatInput: 'Hello' };
	return { id, answer: await post(pair.n8n.buildWebhookUrl(`${webhookId}/chat`), message) };
};

/** Calls a workflow from another one. */
const startByCaller =
	(waits: boolean): Start =>
	async (texts) => {
		const { id } = await activate(WHEN_CALLED, generate());
		const execution = await pair.runNodes(buildPrompts(texts), callWorkflow(id, 'once', waits));
		return { id, answer: waits ? JSON.stringify(execution.getItems('Call')) : undefined };
	};

/** Builds n8n's node that makes a workflow the tool of an agent, which chooses the prompt. */
const buildWorkflowTool = (id: string) => {
	const field = { id: 'prompt', displayName: 'prompt', type: 'string', display: true };
	return buildNode('Tool', `${LANGCHAIN}.toolWorkflow`, 2.2, {
		description: 'Makes a picture',
		workflowId: { __rl: true, mode: 'id', value: id },
		workflowInputs: {
			mappingMode: 'defineBelow',
			value: { prompt: "={{ $fromAI('prompt', 'What to make', 'string') }}" },
			schema: [{ ...field, required: false, defaultMatch: false, canBeUsedToMatch: true }],
		},
	});
};

/** Has an agent call a workflow as its tool, for all prompts at once. The answer is what the agent got of the tool. */
const startByAgent: Start = async (texts) => {
	const { id } = await activate(WHEN_CALLED, generate());
	await using model = await startScriptedModel([texts.map((prompt) => ({ prompt }))]);
	const others = { openAiApi: await pair.n8n.createCredential(model.credential) };
	const parameters = { agent: 'toolsAgent', promptType: 'define', text: 'Go', options: {} };
	const agent = buildNode('Agent', `${LANGCHAIN}.agent`, 3.1, parameters);
	const used = { ai_languageModel: buildChatModel(), ai_tool: buildWorkflowTool(id) };
	await pair.run(use(chain('Asks', [agent]), used), { others });
	return { id, answer: model.listToolResults().join('\n') };
};

interface Row {
	name: string;
	start: Start;
	/** A part of the reason to stay awake, where somebody waits for the end. Absent: the execution sleeps. */
	reason?: string;
	/** How many tasks are created; by default two. */
	tasks?: number;
}

const WAITS = { reason: 'waits for its end' };
const CALLS = { reason: 'because the workflow that called this one waits' };

const ROWS: Row[] = [
	{ name: 'webhook that answers at once', start: startByWebhook() },
	{ name: 'webhook, last node', start: startByWebhook(LAST_NODE), ...WAITS },
	{ name: 'Respond node above', start: startByWebhook(BY_NODE, { above: [RESPOND] }) },
	{ name: 'Respond node below', start: startByWebhook(BY_NODE, { below: [RESPOND] }), ...WAITS },
	{
		name: 'three triggers, by the webhook that answers at once',
		start: startByOneOfThree('At once'),
	},
	{
		name: 'three triggers, by the webhook whose caller waits',
		start: startByOneOfThree('Waits'),
		...WAITS,
	},
	{ name: 'three triggers, by hand in the editor', start: startInEditor },
	{ name: 'three triggers, a part in the editor', start: startPartInEditor },
	{ name: 'test URL in the editor', start: startByTestUrl, ...WAITS },
	{ name: 'Wait node, last node', start: startByWaitNode, ...WAITS },
	{ name: 'chat, last node', start: startByChat, ...WAITS, tasks: 1 },
	{ name: 'called by a workflow that waits', start: startByCaller(true), ...CALLS },
	{ name: 'tool of an agent', start: startByAgent, ...CALLS, tasks: 1 },
	{ name: 'called by a workflow that goes on', start: startByCaller(false) },
];

const listTexts = ({ name, tasks = 2 }: Row) => numberTexts(tasks, name);

/** The rows run at the same time, each until its answer. */
const runs = new Map<Row, Promise<Started & { answeredAt: number }>>();

/** Waits until n8n answers itself in time. A busy n8n may not, and runs stay awake then. */
async function waitUntilReachable() {
	const hasSlept = async () => {
		await pair.runNodes(buildPrompts(['reachable']), generate());
		return pair.listTasks().at(-1)?.callBackUrl !== undefined;
	};
	await poll(hasSlept, { what: 'n8n to find itself reachable' });
}

beforeAll(async () => {
	await waitUntilReachable();
	for (const row of ROWS) {
		const run = row.start(listTexts(row)).then((one) => ({ ...one, answeredAt: Date.now() }));
		// The promise is awaited in its test.
		run.catch(() => {});
		runs.set(row, run);
	}
});

it.each(ROWS.map((row) => ({ ...row, row })))('$name', async ({ row, reason }) => {
	const run = await runs.get(row);
	if (!run) throw new Error('It was not started');
	const texts = listTexts(row);
	const { id: workflowId, count = 1 } = run;
	const executions = await pair.n8n.waitForExecutions({ workflowId, count });
	const tasks = pair.listTasks().filter(({ input }) => texts.includes(String(input.prompt)));
	expect(tasks.map(({ input }) => input.prompt).sort()).toEqual(texts);
	const output = executions.flatMap((execution) => execution.getItems(NODE));
	expect(output).toMatchObject(pair.listCompleted(...texts));
	const reasons = executions
		.flatMap(readHints)
		.filter((hint) => hint.startsWith('The run stayed awake'));
	expect(reasons).toEqual(reason ? [expect.stringContaining(reason)] : []);
	for (const { callBackUrl } of tasks) expect(callBackUrl === undefined).toBe(Boolean(reason));
	if (!reason) return;
	const end = Math.max(...tasks.map(({ completeTime }) => Number(completeTime)));
	expect(run.answeredAt).toBeGreaterThan(end);
	for (const { taskId } of tasks) expect(run.answer).toContain(taskId);
	expect(run.answer).not.toMatch(/pending|timedOut/);
});
