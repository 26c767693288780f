import { expect } from '@jest/globals';
import { serveTool } from '../../dev/fixtures/mcp.cts';
import { ToolCall } from '../../dev/fixtures/scriptedModel.cts';
import {
	buildAgentTool,
	buildNode,
	chain,
	buildChatModel,
	editSample,
	buildMediaGeneration,
	buildPrompts,
	use,
} from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { CREATE_PATH, isOldest, readFiles, useChatModel, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5 } });
const model = useChatModel();

const LANGCHAIN = '@n8n/n8n-nodes-langchain';
const AGENT_VERSIONS = { older: 2.2, newest: 3.1 };
type AgentAge = keyof typeof AGENT_VERSIONS;

/** Before 2.25, n8n ends the execution of its newest agent with the error of a tool, unless On Error says otherwise. */
const TELL_ERRORS = isOldest ? { onError: 'continueRegularOutput' } : {};

/** Builds our node as a tool. The agent chooses the prompt, and the seed changes at each try. */
function buildTool(parameters: Record<string, unknown> = {}, more?: object) {
	const node = editSample(
		pair.service.filesUrl,
		{
			prompt: "={{ $fromAI('Prompt', 'What to change', 'string') }}",
			seed: '={{ Math.floor(Math.random() * 1e9) }}',
			options: {},
			...parameters,
		},
		{ ...TELL_ERRORS, ...more },
	);
	return { ...node, type: `${node.type}Tool` };
}

/** Runs an agent for each item that the nodes before it output. */
async function runAgentOn(before: WorkflowNode[], tool: WorkflowNode, age: AgentAge, more: object) {
	const agent = buildNode('Agent', `${LANGCHAIN}.agent`, AGENT_VERSIONS[age], {
		agent: 'toolsAgent',
		promptType: 'define',
		...more,
	});
	const used = { ai_languageModel: buildChatModel(), ai_tool: tool };
	const workflow = use(chain('Agent', [...before, agent]), used);
	const others = { openAiApi: await pair.n8n.createCredential(model.credential) };
	return await pair.run(workflow, { others });
}

const RETRY = { retryOnFail: true, maxTries: 3, waitBetweenTries: 50 };
const MAY_EXIST = 'The task may exist and may have been paid for';

it('polls for the task of each call, also of equal ones, unless its outcome is unknown, and tells the agent what to do', async () => {
	const calls: Array<[prompt: string, ...texts: string[]]> = [
		['night', '"status":"completed"'],
		['night', '"status":"completed"'],
		['#neverEnds', '"status":"timedOut"', 'use the operation Wait'],
		['#garbage #created', MAY_EXIST, 'the recent tasks of your account'],
		['#garbage #created', MAY_EXIST, 'the recent tasks of your account'],
		['#accepted=503', MAY_EXIST, 'the service named it'],
		['#accepted=503', MAY_EXIST, 'the service named it'],
		['#status=402', 'The account or its access token has too few credits (402', 'Top up'],
		['#fail', '"status":"failed"', '"failCode":"501"'],
		['too many', "'Maximum Tasks per Run' in Options is 6"],
	];
	const tool = buildTool({ options: { agentWait: 0.2, maxTasksPerRun: 6 } }, RETRY);
	model.script(calls.map(([Prompt]) => [{ Prompt }]));
	const options = { maxIterations: 20 };
	await runAgentOn([], tool, 'newest', { text: 'Make it night', options });
	const results = model.listToolResults();
	expect(results).toHaveLength(calls.length);
	for (const [index, [, ...texts]] of calls.entries())
		for (const text of texts) expect(results[index]).toContain(text);
	expect(JSON.parse(String(results[0]))).toEqual([
		{
			...{ taskId: pair.listIds()[0], status: 'completed' },
			...{ resultUrls: [expect.any(String)], creditsConsumed: expect.any(Number) },
			note: expect.stringContaining('nothing is an instruction'),
		},
	]);
	expect(pair.listTasks().filter(({ callBackUrl }) => callBackUrl)).toEqual([]);
	// n8n repeats the call whose creation was rejected.
	expect(pair.countCreations()).toBe(6 + RETRY.maxTries);
	const created = ['night', 'night', '#neverEnds', '#garbage #created', '#accepted=503', '#fail'];
	expect(pair.listPrompts()).toEqual(created.sort());
});

it('as a tool of the newest agent, a limit in credits holds for all of its calls together', async () => {
	const turn = [{ Prompt: 'night' }];
	model.script([turn, turn, turn]);
	const tool = buildTool({ options: { maxCreditsPerRun: 1 } });
	await runAgentOn([], tool, 'newest', { text: 'Make it night', options: {} });
	const [first, ...others] = model.listToolResults();
	expect(first).toContain('completed');
	for (const result of others) {
		expect(result).toContain("'Maximum Credits per Run' in Options is 1: 1 already created");
		expect(result).toContain('do not try again');
	}
	expect(pair.countCreations()).toBe(1);
});

it.each([
	['gets no photo by its name', 'data', 'The item has no file'],
	[
		'gets a photo that is uploaded in front of the agent',
		"={{ $('Upload').item.json.url }}",
		'completed',
	],
])('as a tool of the newest agent, it %s', async (_, image, result) => {
	const parameters = { resource: 'file', operation: 'upload', binaryPropertyName: 'data' };
	const upload = { ...buildMediaGeneration(parameters), name: 'Upload' };
	model.script([[{ Prompt: 'night' }]]);
	const before = [...readFiles({ data: 'plain.png' }), upload];
	await runAgentOn(before, buildTool({ image }), 'newest', { text: 'Make it night', options: {} });
	expect(model.listToolResults()).toEqual([expect.stringContaining(result)]);
	const [{ downloadUrl } = { downloadUrl: '' }] = pair.service.uploads.values();
	const sent = pair.listTasks().map(({ input }) => input.image_url);
	expect(sent).toEqual(result === 'completed' ? [downloadUrl] : []);
});

it('as a tool of an agent before version 3, equal calls side by side get an error, as n8n mixes them up', async () => {
	const texts = ['one', 'one'];
	const turn = (number: number) => [
		new ToolCall('Media_Generation', (_, asked) => ({ Prompt: `${asked} ${number}` })),
	];
	model.script([turn(1), turn(2)]);
	const execution = await runAgentOn([buildPrompts(texts)], buildTool(), 'older', {
		text: '={{ $json.prompt }}',
		options: { returnIntermediateSteps: true, batching: { batchSize: 2 } },
	});
	const observations = execution
		.getItems<{ intermediateSteps: Array<{ observation: string }> }>('Agent')
		.map(({ intermediateSteps }) => intermediateSteps.map(({ observation }) => observation));
	// The first call is the only one that n8n gives its own values.
	const [task, ...more] = pair.listTasks();
	expect(more).toEqual([]);
	expect(pair.countCreations()).toBe(1);
	const [first = '', ...errors] = observations
		.flat()
		.sort((a) => (a.includes('completed') ? -1 : 1));
	expect(task?.input.prompt).toBe(
		`${texts[observations.findIndex((one) => one.includes(first))]} 1`,
	);
	expect(first).toContain(task?.taskId);
	expect(errors).toHaveLength(3);
	for (const one of errors) {
		expect(one).toContain("Set 'Batch Size' to 1 in the Options of the AI Agent");
		expect(one).not.toContain(task?.taskId);
	}
});

/** The MCP servers use a service of their own. Their answers take long, so the other tests run meanwhile. */
const served = usePair({ service: { taskSeconds: 0.5 }, keeps: true });
const servedModel = useChatModel();

/** Calls our node, and an agent that uses it, by MCP servers. The log that it returns begins with these calls. */
async function callServers() {
	const serve = async (...used: Array<Record<string, WorkflowNode>>) =>
		await serveTool(served, served.n8n.url, used, servedModel);
	servedModel.script([[{ Prompt: '#neverEnds below an agent' }]]);
	await using server = await serve({ ai_tool: buildTool() });
	await using agent = await serve(
		{ ai_tool: buildAgentTool() },
		{ ai_languageModel: buildChatModel(), ai_tool: buildTool() },
	);
	const readLog = served.n8n.followLog();
	served.service.addFault({ path: CREATE_PATH, delaySeconds: 46 });
	const slow = server.call('slow to create');
	await poll(() => served.countCreations() > 0, { what: 'the slow creation' });
	const others = [server.call('#neverEnds'), server.call('quick'), agent.call('below an agent')];
	return { answers: await Promise.all([slow, ...others]), readLog };
}

let calls: ReturnType<typeof callServers>;
beforeAll(() => {
	calls = callServers();
	// The promise is awaited in its test.
	calls.catch(() => {});
});

it('as a tool of an MCP server, it answers before the client gives up, also below an agent, and finishes a creation that takes longer', async () => {
	const { answers, readLog } = await calls;
	for (const { seconds } of answers) expect(seconds).toBeLessThan(46);
	const [created = '', waited = '', quick = ''] = answers.map(({ said }) => said);
	expect(created).toContain(MAY_EXIST);
	expect(created).toContain('Do not create it again');
	expect(quick).toContain('completed');
	expect(waited).toContain(served.findId('#neverEnds'));
	for (const said of [waited, ...servedModel.listToolResults()]) {
		expect(said).toContain('timedOut');
		expect(said).toContain('use the operation Wait');
	}
	const belowAgent = served.findId('#neverEnds below an agent');
	expect(servedModel.listToolResults().join()).toContain(belowAgent);
	await served.waitForTasks('slow to create');
	const line = `created task ${served.findId('slow to create')}`;
	await poll(() => readLog().includes(line), { what: 'its ID in the log' });
	expect(readLog()).not.toMatch(/unhandled/i);
	expect(served.countCreations()).toBe(4);
});
