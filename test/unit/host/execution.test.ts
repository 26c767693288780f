import {
	getNodeContext,
	isSingleNode,
	isTool,
	readStarter,
} from '../../../nodes/MediaGeneration/host/execution';
import { buildContext, type Run } from '../context';

const HOOK = { name: 'Hook', type: 'n8n-nodes-base.webhook', disabled: false, parameters: {} };
const RESPOND = 'n8n-nodes-base.respondToWebhook';

/** Builds what n8n tells a run of how it was started. */
const buildStarted = (run: Run = {}, more: object = {}) =>
	buildContext(run, {
		getMode: () => 'webhook' as const,
		getParentNodes: () => [HOOK],
		getChildNodes: () => [],
		...more,
	});

it.each([
	['as n8n tells it', '1', { triggerNode: { name: 'Hook' } }, 'Hook'],
	['where it tells little', undefined, undefined, undefined],
])('how an execution was started is read %s', (_, executionId, told, startedBy) => {
	const context = buildStarted({ executionId }, { getExecutionContext: () => told });
	expect(readStarter(context)).toMatchObject({
		mode: 'webhook',
		executionId: executionId ?? '',
		isTool: false,
		isSingleNode: false,
		startedBy,
		callerWaits: false,
		parents: [HOOK],
	});
});

it.each([
	[{ parentExecution: { shouldResume: false } }, false],
	[{ parentExecution: { shouldResume: true } }, true],
	[{ parentExecution: {} }, true],
	[undefined, true],
])('a caller with the field %j waits or goes on', (runExecutionData, waits) => {
	const getExecutionContext = () => ({ parentExecutionId: '6' });
	const context = buildStarted({}, { runExecutionData, getExecutionContext });
	expect(readStarter(context).callerWaits).toBe(waits);
});

it.each([
	['a Respond node that has run', [{ name: 'ran', type: RESPOND }], true],
	['one that has not', [{ name: 'other', type: RESPOND }], false],
	['another node that has run', [{ name: 'ran', type: 'n8n-nodes-base.set' }], false],
	['several', ['other', 'ran'].map((name) => ({ name, type: RESPOND })), true],
])('below a trigger with %s below it, its caller has an answer or not', (_, children, expected) => {
	const context = buildStarted(
		{},
		{
			getChildNodes: (name: string) => (name === 'Hook' ? children : []),
			getWorkflowDataProxy: () => ({ $: (name: string) => ({ isExecuted: name === 'ran' }) }),
		},
	);
	expect(readStarter(context).hasResponded('Hook')).toBe(expected);
});

it.each<[Run, boolean]>([
	[{}, false],
	[{ isTool: true }, true],
	[{ type: 'pkg.mediaGenerationTool' }, true],
])('a run %j is a call by an agent: %s', (run, expected) => {
	expect(isTool(buildContext(run))).toBe(expected);
});

it.each([
	['Execute node mediaGeneration', true],
	['Execute node other', false],
	['Pictures', false],
])('a workflow named %s is "Execute node" of the assistant: %s', (name, expected) => {
	expect(isSingleNode(buildContext({}, { getWorkflow: () => ({ name }) }))).toBe(expected);
});

it('the context of a node is what n8n keeps with its execution, if there is one', () => {
	const kept = {};
	expect(getNodeContext(buildContext({ kept }))).toBe(kept);
	expect(getNodeContext(buildContext({ kept: null }))).toBeUndefined();
});
