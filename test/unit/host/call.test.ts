import type { IDataObject } from 'n8n-workflow';
import { readCall, type Call } from '../../../nodes/MediaGeneration/host/call';
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import { openRun } from '../../../nodes/MediaGeneration/run/open';
import { buildCall, buildContext, type Run } from '../n8n';

const NOW = 1_000_000;
beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

const AGENTS: Run = { kept: null };
const OLD_TOOL: Run = { isTool: true };
const NEW_TOOL: Run = { type: 'pkg.mediaGenerationTool' };

it.each<[string, Run, Pick<Call, 'isTool' | 'audience' | 'stops'>]>([
	['in a workflow', {}, { isTool: false, audience: 'workflow', stops: true }],
	[
		'with On Error "continue"',
		{ goesOn: true },
		{ isTool: false, audience: 'workflow', stops: false },
	],
	['by the newest agent', NEW_TOOL, { isTool: true, audience: 'model', stops: true }],
	// Its agent swallows errors, so that its model would be told nothing.
	['by an older agent', OLD_TOOL, { isTool: true, audience: 'model', stops: false }],
	["in n8n's Agents", AGENTS, { isTool: false, audience: 'model', stops: true }],
])('a call %s is told who reads, and whether an error stops it', (_, run, expected) => {
	expect(buildCall(run)).toMatchObject(expected);
});

it.each([
	['Execute node mediaGeneration', 'assistant'],
	['Execute node other', 'workflow'],
	['Pictures', 'workflow'],
])('in a workflow named %s, what reads is the %s', (name, audience) => {
	expect(buildCall({}, { getWorkflow: () => ({ name }) }).audience).toBe(audience);
});

it.each([
	[{}, 1],
	[{ maxTries: 4 }, 1],
	[{ retryOnFail: true }, 3],
	[{ retryOnFail: true, maxTries: 1 }, 2],
	[{ retryOnFail: true, maxTries: 9 }, 5],
])('as n8n counts, a node with the settings %j has %d tries', (settings, tries) => {
	const getNode = () => ({ name: 'Node', type: 'mediaGeneration', ...settings });
	expect(buildCall({}, { getNode }).tries).toBe(tries);
});

describe('the deadline of an execution', () => {
	/** n8n's own deadline is so many seconds from now. */
	const n8n = (seconds: number) => ({
		additionalData: { executionTimeoutTimestamp: NOW + seconds * 1_000 },
	});

	it.each<[string, number | undefined, object, number]>([
		["n8n's own, where the context has it", undefined, n8n(5), 5],
		["n8n's own, whatever the setting", 60, n8n(5), 5],
		["by the workflow's setting from now, where it has not", 60, {}, 60],
		['none without a setting', undefined, { additionalData: {} }, Infinity],
		['none with the setting -1', -1, {}, Infinity],
	])('is %s', (_, executionTimeout, more, seconds) => {
		const getWorkflowSettings = () => ({ executionTimeout });
		const { deadline, answerBy } = readCall(buildContext({}, { getWorkflowSettings, ...more }));
		expect((deadline - NOW) / 1_000).toBe(seconds);
		expect(answerBy).toBe(Infinity);
	});

	const begun = (secondsAgo: number) => ({
		runExecutionData: {
			resultData: { runData: { Start: [{ startTime: NOW - secondsAgo * 1_000 }] } },
		},
	});

	it.each<[string, number | undefined, object, number]>([
		["the workflow's setting", 60, { ...n8n(5), ...begun(3_600) }, 60],
		["the rest of its caller's time, in a workflow that is called", undefined, begun(4), 9],
		['unknown where n8n has noted no run', undefined, {}, Infinity],
	])('from its beginning is %s', (_, executionTimeout, more, seconds) => {
		const getWorkflowSettings = () => ({ executionTimeout });
		const { timeout } = readCall(buildContext({}, { getWorkflowSettings, ...n8n(5), ...more }));
		expect(timeout.length / 1_000).toBe(seconds);
	});
});

const MCP = '@n8n/n8n-nodes-langchain.mcpTrigger';

interface McpCall {
	/** What triggered the execution, where n8n notes it. */
	startedBy?: string;
	/** The nodes that use the tool, at any distance, with their types. */
	users?: Record<string, string>;
	isTool?: boolean;
	/** When each run began that n8n has noted, in seconds before now. */
	begun?: number[];
}

const build = ({ startedBy, users = { Server: MCP }, isTool = true, begun = [] }: McpCall) => {
	const nodes = Object.fromEntries(Object.entries(users).map(([name, type]) => [name, { type }]));
	const getChildNodes = (name: string, type: string) =>
		name === 'Node' && type === 'ai_tool' ? Object.keys(users) : [];
	const runs = begun.map((seconds) => ({ startTime: NOW - seconds * 1_000 }));
	return buildCall({ isTool }, {
		getExecutionContext: () => startedBy && { triggerNode: { type: startedBy } },
		getWorkflowSettings: () => ({}),
		workflow: { nodes, getChildNodes },
		runExecutionData: {
			resultData: { runData: { Server: runs.slice(0, 1), Node: runs.slice(1) } },
		},
	} as object);
};

const AGENT = '@n8n/n8n-nodes-langchain.agent';

it.each<[string, McpCall, number]>([
	['a tool of an MCP server', {}, 44],
	['one whose trigger n8n notes, in queue mode', { startedBy: MCP }, 44],
	['one whose client called 5 s ago', { begun: [5, 1] }, 39],
	['one that an agent calls after a minute', { begun: [60] }, -16],
	['a tool of an agent', { users: { Agent: AGENT } }, Infinity],
	[
		'a tool of both, called by the agent',
		{ users: { Agent: AGENT, Server: MCP }, startedBy: 'chat' },
		Infinity,
	],
	['a node that is no tool', { isTool: false }, Infinity],
])('%s has so many seconds: %j', (_, call, seconds) => {
	const { answerBy, deadline } = build(call);
	expect((answerBy - NOW) / 1_000).toBe(seconds);
	expect(deadline).toBe(answerBy);
});

/** Calls of a tool whose node n8n gives one context, and one list of calls, as n8n makes both. */
function newTool() {
	const kept = {};
	const calls: object[] = [];
	const note = (json: IDataObject) => calls.push({ inputOverride: { ai_tool: [[{ json }]] } });
	const call = (json: IDataObject, run: number, more: object = {}) =>
		buildCall(
			{ kept, isTool: true, run },
			{
				getInputData: () => [{ json }],
				getNodeParameter: (name: string) => ({ resource: 'task', operation: 'get' })[name] ?? '',
				...{ runExecutionData: { resultData: { runData: { Node: calls } } } },
				...more,
			},
		);
	return { note, call };
}

it('two items of an agent at once, which ask for the same, are two calls, and so are the next ones', () => {
	const { note, call } = newTool();
	const inputs = [1, 2, 3].map(() => ({ Prompt: 'Night' }));
	for (const input of inputs) note(input);
	const [first = {}, second = {}, third = {}] = inputs;
	expect(call(first, 0).isMixedUp).toBe(false);
	// The other item counts from 0 too, and the next call of the first one meets its number.
	expect(call(second, 0).isMixedUp).toBe(true);
	expect(call(third, 1).isMixedUp).toBe(true);
});

it('a call that n8n has noted nowhere, or whose node is no tool, reads its own values', () => {
	const { note, call } = newTool();
	expect(call({}, 0).isMixedUp).toBe(false);
	note({});
	expect(call({}, 0, { isToolExecution: () => false }).isMixedUp).toBe(false);
});

it('a call that is mixed up is told so, by any operation, and of no task of another one', async () => {
	const { note, call } = newTool();
	const own = { Prompt: 'Night' };
	note(own);
	openRun(call(own, 0)).ledger.entries[0] = { attempts: [{ taskId: 'of-the-first' }] };
	const other = call({ ...own }, 0);
	expect(openRun(other).ledger.entries).toEqual([{ attempts: [] }]);
	const [[item] = []] = await executeOperation(other.context);
	expect(item?.json).toEqual({ error: expect.stringContaining("Set 'Batch Size' to 1") as string });
	expect(JSON.stringify(item)).not.toContain('of-the-first');
});
