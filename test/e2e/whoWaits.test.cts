import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import execa from 'execa';
import { WebSocket } from 'ws';
import { postJson } from '../../dev/fixtures/callbacks.cts';
import { startScriptedModel } from '../../dev/fixtures/scriptedModel.cts';
import {
	buildNode,
	callWorkflow,
	chain,
	chatModel,
	connect,
	generate,
	NODE,
	numberTexts,
	prompts,
	setJson,
	use,
	WAIT,
	webhook,
	WHEN_CALLED,
} from '../../dev/fixtures/workflows.cts';
import { Execution } from '../../dev/n8n/execution.cts';
import { findPort } from '../../dev/n8n/findPort.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Workflow, WorkflowNode } from '../../dev/n8n/workflow.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { isOldest, readHints, usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 3, credits: 1e6, callbackRetrySeconds: [0.5, 1, 2, 4, 8] },
	keeps: true,
});

interface Started {
	/** The workflow with our node. */
	id: string;
	/** What the one who started it was given at the end; absent if nobody waits. */
	answer?: string;
	/** The execution, where n8n does not keep it. */
	execution?: Execution;
}

/** Starts a workflow that creates a task for each of these prompts, and waits for its answer. */
type Start = (texts: string[]) => Promise<Started>;

const LAST_NODE = { responseMode: 'lastNode', responseData: 'allEntries' };
const BY_NODE = { responseMode: 'responseNode' };
const STREAMING = { responseMode: 'streaming' };
const LANGCHAIN = '@n8n/n8n-nodes-langchain';

/** Builds n8n's node that answers the caller of a webhook with its items. */
const respond = (options: object = {}) =>
	buildNode('Respond', 'n8n-nodes-base.respondToWebhook', 1.5, {
		respondWith: 'allIncomingItems',
		options,
	});

const post = async (url: string, body: object = {}) => (await postJson(url, body)).text;

/** Builds our node, below one that outputs an item for each prompt. */
const wait = (texts: string[]) => [prompts(texts), generate()];

const activate = async (...nodes: WorkflowNode[]) => await pair.activate(connect('Who', nodes));

/** Activates a workflow that begins with n8n's Webhook node, and calls it. */
async function callWebhook(parameters: object, ...nodes: WorkflowNode[]) {
	const { id, url } = await activate(webhook(parameters), ...nodes);
	return { id, answer: await post(url) };
}

/** Starts our node below n8n's Webhook node. */
const byWebhook =
	(
		parameters: object = {},
		{ above = [], below = [] }: Partial<Record<'above' | 'below', WorkflowNode[]>> = {},
	): Start =>
	async (texts) =>
		await callWebhook(parameters, ...above, ...wait(texts), ...below);

/** Builds a workflow that starts by hand, or by a webhook that answers at once, or by one whose caller waits. */
function startInThreeWays(texts: string[]): Workflow {
	const workflow = chain('Three triggers', wait(texts));
	const { nodes } = connect('', [webhook({}, 'At once'), webhook(LAST_NODE, 'Waits')]);
	workflow.nodes.push(...nodes);
	for (const { name } of nodes) workflow.connections[name] = { ...workflow.connections.Start };
	return workflow;
}

const byOneOfThree =
	(trigger: 'At once' | 'Waits'): Start =>
	async (texts) => {
		const { id } = await pair.activate(startInThreeWays(texts));
		return { id, answer: await post(await pair.n8n.getProductionWebhookUrl(id, trigger)) };
	};

const inEditor: Start = async (texts) => {
	const { id } = await pair.importWorkflow(startInThreeWays(texts));
	await pair.n8n.run(id, { trigger: 'Start' });
	return { id };
};

const partlyInEditor: Start = async (texts) => {
	const { id } = await pair.importWorkflow(startInThreeWays(texts));
	const { data } = await pair.runSaved(id, { trigger: 'Start', destinationNode: 'Items' });
	await pair.n8n.request('POST', `/rest/workflows/${id}/run`, {
		runData: data.resultData.runData,
		dirtyNodeNames: [NODE],
		destinationNode: { nodeName: NODE, mode: 'inclusive' },
	});
	return { id };
};

const byTestUrl: Start = async (texts) => {
	const workflow = connect('Test URL', [webhook(LAST_NODE), ...wait(texts)]);
	const { id } = await pair.importWorkflow(workflow);
	return { id, answer: await post(await pair.n8n.listenForTestEvent(id)) };
};

/** Calls the resume URL of a Wait node that answers with the last node. */
const byWaitNode: Start = async (texts) => {
	const tell = setJson('Tell', '{ url: $execution.resumeUrl }');
	const waits = { ...WAIT, parameters: { ...WAIT.parameters, ...LAST_NODE } };
	const { id } = await callWebhook({}, tell, waits, ...wait(texts));
	const parked = { workflowId: id, count: 1, status: ['waiting'] };
	const [execution] = await pair.n8n.waitForExecutions(parked);
	return { id, answer: await post(String(execution?.getItems<{ url: string }>('Tell')[0]?.url)) };
};

async function startChat(texts: string[], parameters: object, ...below: WorkflowNode[]) {
	const webhookId = randomUUID();
	const all = { public: true, ...parameters };
	const trigger = buildNode('Chat', `${LANGCHAIN}.chatTrigger`, 1.3, all, { webhookId });
	const { id } = await activate(trigger, ...wait(texts), ...below);
	const message = { action: 'sendMessage', sessionId: webhookId, chatInput: 'Hello' };
	const answer = await post(pair.n8n.buildWebhookUrl(`${webhookId}/chat`), message);
	return { id, sessionId: webhookId, answer };
}

const byChat: Start = async (texts) => await startChat(texts, { mode: 'webhook', options: {} });

/** Follows a hosted chat, which n8n tells by WebSocket what its nodes say, until n8n closes it. */
const byChatThatResponds: Start = async (texts) => {
	const message = '={{ $json.taskId }} {{ $json.status }}';
	const say = buildNode('Say', `${LANGCHAIN}.chat`, 1.3, { operation: 'send', message });
	const parameters = { mode: 'hostedChat', options: { responseMode: 'responseNodes' } };
	const { id, sessionId, answer } = await startChat(texts, parameters, say);
	const { executionId, resumeToken } = JSON.parse(answer) as Record<string, string>;
	const query = `sessionId=${sessionId}&executionId=${executionId}&isPublic=true&token=${resumeToken}`;
	const socket = new WebSocket(`${pair.n8n.url.replace('http', 'ws')}/chat?${query}`);
	const messages: string[] = [];
	socket.on('message', (data) => messages.push((data as Buffer).toString()));
	await once(socket, 'close');
	return { id, answer: messages.join('\n') };
};

const byForm: Start = async (texts) => {
	const webhookId = randomUUID();
	const formFields = { values: [{ fieldLabel: 'Name' }] };
	const parameters = { formTitle: 'Form', formFields, responseMode: 'lastNode', options: {} };
	const type = 'n8n-nodes-base.formTrigger';
	const trigger = buildNode('Form', type, 2.2, parameters, { webhookId });
	const { id } = await activate(trigger, ...wait(texts));
	const body = new FormData();
	body.set('field-0', 'A name');
	const response = await fetch(`${pair.n8n.url}/form/${webhookId}`, { method: 'POST', body });
	return { id, answer: await response.text() };
};

/** Calls a workflow from another one. */
const byCaller =
	(mode: 'once' | 'each', waits = true): Start =>
	async (texts) => {
		const { id } = await activate(WHEN_CALLED, generate());
		const execution = await pair.runNodes(prompts(texts), callWorkflow(id, mode, waits));
		return { id, answer: waits ? JSON.stringify(execution.getItems('Call')) : undefined };
	};

/** Builds n8n's node that makes a workflow the tool of a model, which chooses the prompt. */
const workflowTool = (id: string) => {
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

/** Has an agent call a workflow as its tool, for all prompts at once. The answer is what the tool told the agent's model. */
const byAgent: Start = async (texts) => {
	const { id } = await activate(WHEN_CALLED, generate());
	await using model = await startScriptedModel([texts.map((prompt) => ({ prompt }))]);
	const others = { openAiApi: await pair.n8n.createCredential(model.credential) };
	const parameters = { agent: 'toolsAgent', promptType: 'define', text: 'Go', options: {} };
	const agent = buildNode('Agent', `${LANGCHAIN}.agent`, 3.1, parameters);
	const used = { ai_languageModel: chatModel(), ai_tool: workflowTool(id) };
	await pair.run(use(chain('Asks', [agent]), used), { others });
	return { id, answer: model.listToolResults().join('\n') };
};

const byError: Start = async (texts) => {
	const trigger = buildNode('On error', 'n8n-nodes-base.errorTrigger', 1);
	const { id } = await activate(trigger, ...wait(texts));
	const fail = buildNode('Fail', 'n8n-nodes-base.stopAndError', 1, { errorMessage: 'No' });
	const failing = connect('Fails', [webhook(), fail]);
	failing.settings = { ...failing.settings, errorWorkflow: id };
	await post((await pair.activate(failing)).url);
	return { id };
};

const bySchedule: Start = async (texts) => {
	const rule = { interval: [{ field: 'cronExpression', expression: '*/15 * * * * *' }] };
	const trigger = buildNode('Schedule', 'n8n-nodes-base.scheduleTrigger', 1.2, { rule });
	const { id } = await activate(trigger, ...wait(texts));
	const begun = { workflowId: id, count: 1, status: ['running', 'waiting', 'success'] };
	await pair.n8n.waitForExecutions(begun);
	await pair.n8n.deactivate(id);
	return { id };
};

/** Runs a workflow by the command `n8n execute`, beside the n8n that runs. */
const byCommand: Start = async (texts) => {
	const { id } = await pair.importWorkflow(chain('Command', wait(texts)));
	const { node, bin, folder, env } = pair.n8n.options;
	const port = String(await findPort());
	const run = async () =>
		await execa(node, [bin, 'execute', `--id=${id}`, '--rawOutput'], {
			env: {
				...env,
				N8N_USER_FOLDER: folder,
				N8N_RUNNERS_BROKER_PORT: port,
				N8N_DIAGNOSTICS_ENABLED: 'false',
				NODE_ENV: 'production',
				NODE_OPTIONS: '',
			},
		});
	// The command gives up where the other n8n writes to the database at that moment.
	const { stdout } = await run().catch(async (error: Error) => {
		if (!error.message.includes('SQLITE_BUSY')) throw error;
		return await run();
	});
	const { data, status } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Execution;
	return { id, answer: stdout, execution: new Execution('', status, data) };
};

interface Row {
	name: string;
	start: Start;
	/** A part of the reason to stay awake; absent: the execution sleeps. */
	reason?: string;
	/** What the one who waits gets: the tasks in their last state, or no more than their end; absent: nobody waits. */
	gets?: 'tasks' | 'end';
	/** Default: 2. */
	tasks?: number;
	/** The n8n that the tests run on can't do this. */
	isSkipped?: boolean;
}

const WAITS = { reason: 'waits for its end', gets: 'tasks' } as const;
const CALLS = { reason: 'because the workflow that called this one waits', gets: 'tasks' } as const;

const ROWS: Row[] = [
	{ name: 'schedule', start: bySchedule },
	{
		name: 'command line',
		start: byCommand,
		reason: 'a run of this kind',
		gets: 'tasks',
		// There n8n 2.14.2 runs no node that has a credential, of its own neither: it asks for its license before it has one.
		isSkipped: isOldest,
	},
	{ name: 'webhook that answers at once', start: byWebhook() },
	{ name: 'webhook, last node', start: byWebhook(LAST_NODE), ...WAITS },
	{ name: 'Respond node above', start: byWebhook(BY_NODE, { above: [respond()] }) },
	{ name: 'Respond node below', start: byWebhook(BY_NODE, { below: [respond()] }), ...WAITS },
	{
		name: 'webhook, streaming',
		start: byWebhook(STREAMING, { below: [respond({ enableStreaming: true })] }),
		...WAITS,
	},
	{ name: 'three triggers, by the one that answers at once', start: byOneOfThree('At once') },
	{ name: 'three triggers, by the one that waits', start: byOneOfThree('Waits'), ...WAITS },
	{ name: 'three triggers, by hand in the editor', start: inEditor },
	{ name: 'three triggers, a part in the editor', start: partlyInEditor },
	{ name: 'test URL in the editor', start: byTestUrl, ...WAITS },
	{ name: 'Wait node, last node', start: byWaitNode, ...WAITS },
	{ name: 'chat, last node', start: byChat, ...WAITS, tasks: 1 },
	{ name: 'chat that responds itself', start: byChatThatResponds, gets: 'tasks', tasks: 1 },
	{ name: 'form, last node', start: byForm, ...WAITS, gets: 'end' },
	{ name: 'called once', start: byCaller('once'), ...CALLS },
	{ name: 'called for each', start: byCaller('each'), ...CALLS },
	{ name: 'tool of an agent', start: byAgent, ...CALLS },
	{ name: 'called by one that goes on', start: byCaller('once', false) },
	{ name: 'error workflow', start: byError },
];

const listTexts = ({ name, tasks = 2 }: Row) => numberTexts(tasks, name);

/** All run at the same time, each until its answer. */
const runs = new Map<Row, Promise<Started & { answeredAt: number }>>();

/** Waits until n8n answers itself in time: a busy one may not, and a run stays awake then. */
async function waitUntilReachable() {
	const sleeps = async () => {
		await pair.runNodes(prompts(['reachable']), generate());
		return pair.listTasks().at(-1)?.callBackUrl !== undefined;
	};
	await poll(sleeps, { what: 'n8n to find itself reachable' });
}

beforeAll(async () => {
	await waitUntilReachable();
	for (const row of ROWS.filter(({ isSkipped }) => !isSkipped)) {
		const run = row.start(listTexts(row)).then((one) => ({ ...one, answeredAt: Date.now() }));
		// It is awaited in its test.
		run.catch(() => {});
		runs.set(row, run);
	}
});

/** Waits until the executions of a workflow have output this number of tasks. */
async function waitForOutput({ id: workflowId, execution }: Started, count: number) {
	const read = async () => {
		const executions = execution
			? [execution]
			: await pair.n8n.waitForExecutions({ workflowId, count: 1 });
		const output = executions.flatMap((execution) => execution.getItems<Task>(NODE));
		return output.length >= count ? { executions, output } : undefined;
	};
	return await poll(read, { what: `${count} tasks of ${workflowId}` });
}

async function expectTasks(row: Row) {
	const { reason, gets } = row;
	const run = await runs.get(row);
	if (!run) throw new Error('It was not started');
	const { answer, answeredAt } = run;
	const texts = listTexts(row);
	const { executions, output } = await waitForOutput(run, texts.length);
	const tasks = pair.listTasks().filter(({ input }) => texts.includes(String(input.prompt)));
	expect(tasks.map(({ input }) => input.prompt).sort()).toEqual(texts);
	const finished = tasks.map(({ taskId }) => ({ taskId, status: 'completed' }));
	expect(output.map(({ taskId, status }) => ({ taskId, status }))).toEqual(
		expect.arrayContaining(finished),
	);
	expect(output).toHaveLength(tasks.length);
	const reasons = executions
		.flatMap(readHints)
		.filter((hint) => hint.startsWith('The run stayed awake'));
	const why = expect.stringContaining(String(reason));
	expect(reasons).toEqual(reason === undefined ? [] : expect.arrayContaining([why]));
	const slept = tasks.map(({ callBackUrl }) => callBackUrl !== undefined);
	expect(slept).toEqual(tasks.map(() => reason === undefined));
	const end = Math.max(...tasks.map(({ completeTime }) => Number(completeTime)));
	if (gets) expect(answeredAt).toBeGreaterThan(end);
	if (gets !== 'tasks') return;
	for (const { taskId } of tasks) expect(answer).toContain(taskId);
	expect(answer).not.toMatch(/pending|timedOut/);
}

for (const row of ROWS)
	(row.isSkipped ? it.skip : it)(row.name, async () => await expectTasks(row));
