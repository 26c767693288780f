import type { IDataObject } from 'n8n-workflow';
import { readCall, type Call } from '../../../nodes/MediaGeneration/host/call';
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import { openRun } from '../../../nodes/MediaGeneration/run/run';
import { buildCall, buildContext, type RunSetup } from '../n8n';

const NOW = 1_000_000;
beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

const AGENTS: RunSetup = { contextData: null };
const OLD_TOOL: RunSetup = { isTool: true };
const NEW_TOOL: RunSetup = { type: 'pkg.mediaGenerationTool' };

it.each<[string, RunSetup, Pick<Call, 'isTool' | 'audience' | 'stopsOnError'>]>([
	['in a workflow', {}, { isTool: false, audience: 'workflow', stopsOnError: true }],
	[
		'with On Error "continue"',
		{ goesOn: true },
		{ isTool: false, audience: 'workflow', stopsOnError: false },
	],
	['by the newest agent', NEW_TOOL, { isTool: true, audience: 'agent', stopsOnError: true }],
	// Its agent swallows errors, so that its LLM would read nothing.
	['by an older agent', OLD_TOOL, { isTool: true, audience: 'agent', stopsOnError: false }],
	["in n8n's Agents", AGENTS, { isTool: false, audience: 'agent', stopsOnError: true }],
])(
	'of a call %s is known who reads the output, and whether an error stops it',
	(_, run, expected) => {
		expect(buildCall(run)).toMatchObject(expected);
	},
);

it.each([
	['Execute node mediaGeneration', 'assistant'],
	['Execute node other', 'workflow'],
	['Pictures', 'workflow'],
])('in a workflow named %s, the %s reads the output', (name, audience) => {
	expect(buildCall({}, { getWorkflow: () => ({ name }) }).audience).toBe(audience);
});

it.each([
	[{}, 1],
	[{ maxTries: 4 }, 1],
	[{ retryOnFail: true }, 3],
	[{ retryOnFail: true, maxTries: 1 }, 2],
	[{ retryOnFail: true, maxTries: 9 }, 5],
])('a node with the settings %j has at most %d tries, as n8n counts', (settings, tries) => {
	const getNode = () => ({ name: 'Node', type: 'mediaGeneration', ...settings });
	expect(buildCall({}, { getNode }).mostTries).toBe(tries);
});

/** What n8n has noted: that the trigger began so many seconds ago. */
const begun = (seconds: number) => ({
	runExecutionData: {
		resultData: { runData: { Start: [{ startTime: NOW - seconds * 1_000 }] } },
	},
});

/** n8n's own timeout is five seconds from now. */
const OWN = { additionalData: { executionTimeoutTimestamp: NOW + 5_000 } };

it.each<[string, object, at: number, length: number, setting?: number]>([
	['by no setting', {}, Infinity, Infinity],
	['by the setting -1', {}, Infinity, Infinity, -1],
	["by the workflow's setting from now", {}, 60, 60, 60],
	["by n8n's own timeout, whatever the setting", { ...OWN, ...begun(3_600) }, 5, 60, 60],
	["with the rest of its caller's time", { ...OWN, ...begun(4) }, 5, 9],
	['where n8n has noted no run', OWN, 5, Infinity],
])('n8n ends a run %s', (_, more, at, length, executionTimeout = undefined as never) => {
	const getWorkflowSettings = () => ({ executionTimeout });
	const call = readCall(buildContext({}, { getWorkflowSettings, ...more }));
	const { timeout, doneBy, answerBy } = call;
	const seconds = [doneBy - NOW, timeout.length].map((time) => time / 1_000);
	expect([...seconds, answerBy]).toEqual([at, length, Infinity]);
});

it('reads a call behind a loop of hundreds of thousands of rounds', () => {
	const Loop = Array.from({ length: 300_000 }, (_, round) => ({ startTime: NOW - 4_000 + round }));
	const runExecutionData = { resultData: { runData: { Loop } } };
	const { timeout } = readCall(buildContext({}, { ...OWN, runExecutionData } as object));
	expect(timeout.length).toBe(9_000);
});

const MCP = '@n8n/n8n-nodes-langchain.mcpTrigger';

interface McpCall {
	/** What triggered the execution, where n8n notes it. */
	startedBy?: string;
	/** The types of the nodes that use the tool, at any distance. */
	users?: string[];
	isTool?: boolean;
	/** How many seconds ago the client called, where n8n notes it. */
	called?: number;
}

const build = ({ startedBy, users = [MCP], isTool = true, called }: McpCall) =>
	buildCall({ isTool }, {
		getExecutionContext: () => startedBy && { triggerNode: { type: startedBy } },
		workflow: {
			nodes: Object.fromEntries(users.map((type) => [type, { type }])),
			getChildNodes: (name: string, type: string) =>
				name === 'Node' && type === 'ai_tool' ? users : [],
		},
		...(called !== undefined && begun(called)),
	} as object);

const AGENT = '@n8n/n8n-nodes-langchain.agent';

it.each<[string, McpCall, number]>([
	['a tool of an MCP server', {}, 44],
	['a tool whose trigger n8n notes, in queue mode', { startedBy: MCP }, 44],
	['a tool whose client called 5 s ago', { called: 5 }, 39],
	['a tool that an agent calls after a minute', { called: 60 }, -16],
	['a tool of an agent', { users: [AGENT] }, Infinity],
	['a tool of both, called by the agent', { users: [AGENT, MCP], startedBy: 'chat' }, Infinity],
	['a node that is no tool', { isTool: false }, Infinity],
])('%s is to be answered in so many seconds: %j', (_, call, seconds) => {
	const { answerBy, doneBy } = build(call);
	expect((answerBy - NOW) / 1_000).toBe(seconds);
	expect(doneBy).toBe(answerBy);
});

const TO_GET = { resource: 'task', operation: 'get' };

/** Calls of a tool whose node n8n gives one context, and one list of calls, as n8n makes both. */
function newTool() {
	const contextData = {};
	const calls: object[] = [];
	const note = (json: IDataObject) => calls.push({ inputOverride: { ai_tool: [[{ json }]] } });
	const call = (json: IDataObject, run: number, more: object = {}) =>
		buildCall(
			{ contextData, isTool: true, runIndex: run, parameters: TO_GET, input: [json] },
			{
				...{ runExecutionData: { resultData: { runData: { Node: calls } } } },
				...more,
			},
		);
	return { note, call };
}

it('two items of an agent at once that ask for the same are two calls, and so are the next calls', () => {
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

it('a call that is mixed up gets an error that says so, by any operation, and no task of another call', async () => {
	const { note, call } = newTool();
	const own = { Prompt: 'Night' };
	note(own);
	const entries = [{ attempts: [{ taskId: 'of-the-first' }] }];
	Object.assign(openRun(call(own, 0)).ledger, { entries });
	const other = call({ ...own }, 0);
	expect(openRun(other).ledger.entries).toEqual([{ attempts: [] }]);
	const [[item] = []] = await executeOperation(other.context);
	expect(item?.json).toEqual({ error: expect.stringContaining("Set 'Batch Size' to 1") as string });
	expect(JSON.stringify(item)).not.toContain('of-the-first');
});
