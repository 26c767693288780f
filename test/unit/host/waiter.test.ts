import type { NodeTypeAndVersion } from 'n8n-workflow';
import {
	findWaiter,
	readStarter,
	toWaiter,
	type Starter,
	type Waiter,
} from '../../../nodes/MediaGeneration/host/waiter';
import { buildCall, type Run } from '../n8n';

const HOOK = { name: 'Hook', type: 'n8n-nodes-base.webhook', disabled: false, parameters: {} };
const RESPOND = 'n8n-nodes-base.respondToWebhook';

/** Builds what n8n tells a run of how it was started. */
const buildStarted = (run: Run = {}, more: object = {}) =>
	buildCall(run, {
		getMode: () => 'webhook' as const,
		getParentNodes: () => [HOOK],
		getChildNodes: () => [],
		...more,
	});

it.each([
	['as n8n tells it', '1', { triggerNode: { name: 'Hook' } }, 'Hook'],
	['where it tells little', undefined, undefined, undefined],
])('how an execution was started is read %s', (_, executionId, told, startedBy) => {
	const call = buildStarted({ executionId }, { getExecutionContext: () => told });
	expect(readStarter(call)).toMatchObject({
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
	const call = buildStarted({}, { runExecutionData, getExecutionContext });
	expect(readStarter(call).callerWaits).toBe(waits);
});

it.each([
	['a Respond node that has run', [{ name: 'ran', type: RESPOND }], true],
	['one that has not', [{ name: 'other', type: RESPOND }], false],
	['another node that has run', [{ name: 'ran', type: 'n8n-nodes-base.set' }], false],
	['several', ['other', 'ran'].map((name) => ({ name, type: RESPOND })), true],
])('below a trigger with %s below it, its caller has an answer or not', (_, children, expected) => {
	const call = buildStarted(
		{},
		{
			getChildNodes: (name: string) => (name === 'Hook' ? children : []),
			getWorkflowDataProxy: () => ({ $: (name: string) => ({ isExecuted: name === 'ran' }) }),
		},
	);
	expect(readStarter(call).hasResponded('Hook')).toBe(expected);
});

const starter: Starter = {
	mode: 'webhook',
	executionId: '7',
	isTool: false,
	isSingleNode: false,
	callerWaits: false,
	parents: [],
	hasResponded: () => false,
};

const CHAT = '@n8n/n8n-nodes-langchain.chatTrigger';
const LAST_NODE = { responseMode: 'lastNode' };

/** Nodes above, named by their types in n8n's own package unless they have whole ones. */
const above = (parents: Record<string, object>): Partial<Starter> => ({
	parents: Object.entries(parents).map(
		([name, { disabled = false, ...parameters }]: [string, { disabled?: boolean }]) =>
			({
				name,
				type: name.includes('.') ? name : `n8n-nodes-base.${name}`,
				disabled,
				parameters,
			}) as NodeTypeAndVersion,
	),
});
const BY_NODE = above({ webhook: { responseMode: 'responseNode' } });
const TWO = above({ webhook: LAST_NODE, scheduleTrigger: {} });
/** What n8n carries over from the workflow that began it all. */
const OF_ROOT = { ...above({ webhook: LAST_NODE }), startedBy: 'webhook' };

it.each<[string, Partial<Starter>]>([
	['Webhook at once', above({ webhook: { responseMode: 'onReceived' } })],
	['Webhook that says nothing of it', above({ webhook: {} })],
	['an error workflow, which carries the root trigger', { ...OF_ROOT, mode: 'error' }],
	['a retry', { ...OF_ROOT, mode: 'retry' }],
	['MCP execute_workflow', { mode: 'trigger' }],
	[
		'Webhook with a Respond node that ran already',
		{ ...BY_NODE, hasResponded: (name) => name === 'webhook' },
	],
	['Chat with Response Nodes', above({ [CHAT]: { options: { responseMode: 'responseNodes' } } })],
	['Wait that waits for a time', above({ wait: { ...LAST_NODE, resume: 'timeInterval' } })],
	['a called workflow whose caller does not wait', { mode: 'integrated' }],
	['the editor, as its trigger says', { ...above({ webhook: {} }), mode: 'manual' }],
	['one of two triggers, which nobody waits for', { ...TWO, startedBy: 'scheduleTrigger' }],
	['a trigger that is disabled', above({ webhook: { ...LAST_NODE, disabled: true } })],
	['a node above that is no trigger', above({ httpRequest: LAST_NODE })],
])('nobody waits for %s', (_, facts) => {
	expect(toWaiter({ ...starter, ...facts })).toBeUndefined();
});

const caller = (node: string): Waiter => ({ who: 'caller', node });

it.each<[string, Partial<Starter>, Waiter]>([
	['Webhook: last node', above({ webhook: LAST_NODE }), caller('webhook')],
	[
		'Webhook: an expression',
		above({ webhook: { responseMode: '={{ $json.mode }}' } }),
		caller('webhook'),
	],
	['Webhook with a Respond node that has not run', BY_NODE, caller('webhook')],
	['Form: last node', above({ formTrigger: LAST_NODE }), caller('formTrigger')],
	['Chat: an unset option', above({ [CHAT]: {} }), caller(CHAT)],
	[
		'Wait "On Webhook Call" below the trigger that began',
		{
			...above({ scheduleTrigger: {}, wait: { ...LAST_NODE, resume: 'webhook' } }),
			startedBy: 'scheduleTrigger',
		},
		caller('wait'),
	],
	['Wait "On Form Submitted"', above({ wait: { ...LAST_NODE, resume: 'form' } }), caller('wait')],
	['one of two triggers, which is not known', TWO, caller('webhook')],
	...['kafka', 'rabbitmq', 'mqtt', 'amqp'].map((name): [string, Partial<Starter>, Waiter] => [
		name,
		above({ [`${name}Trigger`]: {} }),
		caller(`${name}Trigger`),
	]),
	['a called workflow', { mode: 'integrated', callerWaits: true }, { who: 'caller' }],
	['a tool of an agent or MCP server', { isTool: true, executionId: '' }, { who: 'agent' }],
	['a run without an execution', { executionId: '' }, { who: 'n8n' }],
	['Evaluations', { mode: 'evaluation' }, { who: 'n8n' }],
	['"Execute node" of the assistant', { isSingleNode: true }, { who: 'n8n' }],
	[
		'engine-v2, for an error workflow too',
		{ mode: 'error', executionId: '019ab7c2-5d1e-7abc-9def-0123456789ab' },
		{ who: 'n8n' },
	],
])('somebody waits: %s', (_, facts, waiter) => {
	expect(toWaiter({ ...starter, ...facts })).toEqual(waiter);
});

it("in n8n's Agents there is no execution, whatever else n8n tells", () => {
	expect(findWaiter(buildStarted({ kept: null }))).toEqual({ who: 'n8n' });
	expect(findWaiter(buildStarted({ isTool: true }))).toEqual({ who: 'agent' });
	expect(findWaiter(buildStarted())).toBeUndefined();
});
