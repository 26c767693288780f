import type { NodeTypeAndVersion } from 'n8n-workflow';
import type { Starter } from '../../../../nodes/MediaGeneration/host/execution';
import { findWaiter } from '../../../../nodes/MediaGeneration/operations/wait/findWaiter';

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
	expect(findWaiter({ ...starter, ...facts })).toBeUndefined();
});

const CALLER = 'the caller of "';

it.each<[string, Partial<Starter>, string]>([
	['Webhook: last node', above({ webhook: LAST_NODE }), `${CALLER}webhook"`],
	['Webhook: an expression', above({ webhook: { responseMode: '={{ $json.mode }}' } }), CALLER],
	['Webhook with a Respond node that has not run', BY_NODE, CALLER],
	['Form: last node', above({ formTrigger: LAST_NODE }), CALLER],
	['Chat: an unset option', above({ [CHAT]: {} }), CALLER],
	[
		'Wait "On Webhook Call" below the trigger that began',
		{
			...above({ scheduleTrigger: {}, wait: { ...LAST_NODE, resume: 'webhook' } }),
			startedBy: 'scheduleTrigger',
		},
		`${CALLER}wait"`,
	],
	['Wait "On Form Submitted"', above({ wait: { ...LAST_NODE, resume: 'form' } }), CALLER],
	['one of two triggers, which is not known', TWO, CALLER],
	...['kafka', 'rabbitmq', 'mqtt', 'amqp'].map((name): [string, Partial<Starter>, string] => [
		name,
		above({ [`${name}Trigger`]: {} }),
		'acknowledges its message',
	]),
	['a called workflow', { mode: 'integrated', callerWaits: true }, 'workflow that called this one'],
	['a tool of an agent or MCP server', { isTool: true, executionId: '' }, 'an AI agent waits'],
	['a run without an execution', { executionId: '' }, 'no execution'],
	['Evaluations', { mode: 'evaluation' }, '"evaluation"'],
	['"Execute node" of the assistant', { isSingleNode: true }, 'n8n deletes the execution'],
	[
		'engine-v2, for an error workflow too',
		{ mode: 'error', executionId: '019ab7c2-5d1e-7abc-9def-0123456789ab' },
		'new engine',
	],
])('somebody waits: %s', (_, facts, reason) => {
	expect(findWaiter({ ...starter, ...facts })).toContain(reason);
});
