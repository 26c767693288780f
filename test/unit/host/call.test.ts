import { readCall, type Call } from '../../../nodes/MediaGeneration/host/call';
import { buildCall, buildContext, type Run } from '../n8n';

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
	[{ retryOnFail: true, maxTries: 4 }, 4],
	[{ retryOnFail: true, maxTries: 9 }, 5],
])('as n8n counts, a node with the settings %j has %d tries', (settings, tries) => {
	const getNode = () => ({ name: 'Node', type: 'mediaGeneration', ...settings });
	expect(buildCall({}, { getNode }).tries).toBe(tries);
});

describe('the deadline of an execution', () => {
	const NOW = 1_000_000;
	beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW));
	afterEach(() => jest.restoreAllMocks());

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
