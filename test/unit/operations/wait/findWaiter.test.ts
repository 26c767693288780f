import type { NodeTypeAndVersion } from 'n8n-workflow';
import type { Starter } from '../../../../nodes/MediaGeneration/host/execution';
import { findWaiter } from '../../../../nodes/MediaGeneration/operations/wait/findWaiter';

const starter: Starter = {
	mode: 'webhook',
	executionId: '7',
	isTool: false,
	isSingleNode: false,
	hasCaller: false,
	callerGoesOn: false,
	parents: [],
	hasResponded: () => false,
};

const CHAT = '@n8n/n8n-nodes-langchain.chatTrigger';

/** A node above, named by its type in n8n's own package unless it has a whole one. */
const above = (type: string, parameters: object = {}, more: Partial<NodeTypeAndVersion> = {}) =>
	({
		name: type,
		type: type.includes('.') ? type : `n8n-nodes-base.${type}`,
		disabled: false,
		parameters,
		...more,
	}) as NodeTypeAndVersion;

const below = (type: string, responseMode?: unknown): Partial<Starter> => ({
	parents: [above(type, responseMode === undefined ? {} : { responseMode })],
});
const chat = (responseMode?: string): Partial<Starter> => ({
	parents: [above(CHAT, { options: { responseMode } })],
});
const waitsAbove = (parameters: object): Partial<Starter> => ({
	mode: 'trigger',
	parents: [above('scheduleTrigger'), above('wait', parameters)],
});
const triggered = (type: string): Partial<Starter> => ({ ...below(type), mode: 'trigger' });
const responded: Partial<Starter> = { hasResponded: (name) => name === 'webhook' };
const called: Partial<Starter> = { mode: 'integrated', hasCaller: true };
/** What n8n carries over from the workflow that began it all. */
const ofRoot: Partial<Starter> = { ...below('webhook', 'lastNode'), startedBy: 'webhook' };
const two: Partial<Starter> = {
	parents: [above('webhook', { responseMode: 'lastNode' }), above('scheduleTrigger')],
};

it.each<[string, Partial<Starter>]>([
	['Webhook at once', below('webhook', 'onReceived')],
	['Webhook that says nothing of it', below('webhook')],
	['an app trigger', below('githubTrigger')],
	['a polling trigger', triggered('gmailTrigger')],
	['Schedule', triggered('scheduleTrigger')],
	['an error workflow, which carries the root trigger', { ...ofRoot, mode: 'error' }],
	['a retry', { ...ofRoot, mode: 'retry' }],
	['MCP execute_workflow', { mode: 'trigger' }],
	[
		'Webhook with a Respond node that ran already',
		{ ...below('webhook', 'responseNode'), ...responded },
	],
	['Chat with Response Nodes', chat('responseNodes')],
	['a Form with a Form page below', below('formTrigger', 'onReceived')],
	['Wait that waits for a time', waitsAbove({ resume: 'timeInterval' })],
	[
		'Wait "On Webhook Call" that answers at once',
		waitsAbove({ resume: 'webhook', responseMode: 'onReceived' }),
	],
	['a called workflow whose caller does not wait', { ...called, callerGoesOn: true }],
	["a workflow that n8n's Agents call", { mode: 'integrated' }],
	['the editor, as its trigger says', { ...below('webhook'), mode: 'manual' }],
	['a part of a workflow in the editor', { mode: 'manual' }],
	['one of two triggers, which nobody waits for', { ...two, startedBy: 'scheduleTrigger' }],
	[
		'a trigger beside a disabled one',
		{ parents: [above('webhook', { responseMode: 'lastNode' }, { disabled: true })] },
	],
	[
		'a node above that is no trigger',
		{ parents: [above('httpRequest', { responseMode: 'lastNode' })] },
	],
])('nobody waits for %s', (_, facts) => {
	expect(findWaiter({ ...starter, ...facts })).toBeUndefined();
});

const CALLER = 'the caller of "';
const BROKER = 'acknowledges its message';

it.each<[string, Partial<Starter>, string]>([
	['Webhook: last node', below('webhook', 'lastNode'), `${CALLER}webhook"`],
	['Form: last node', below('formTrigger', 'lastNode'), CALLER],
	['Webhook: streaming', below('webhook', 'streaming'), CALLER],
	['Chat: streaming', chat('streaming'), CALLER],
	['Chat: last node', chat('lastNode'), CALLER],
	['Chat: an unset option', chat(), CALLER],
	['Webhook with a Respond node that has not run', below('webhook', 'responseNode'), CALLER],
	['Webhook: an expression', below('webhook', '={{ $json.mode }}'), CALLER],
	[
		'Wait "On Webhook Call": last node',
		waitsAbove({ resume: 'webhook', responseMode: 'lastNode' }),
		`${CALLER}wait"`,
	],
	[
		'Wait "On Form Submitted": last node',
		waitsAbove({ resume: 'form', responseMode: 'lastNode' }),
		CALLER,
	],
	[
		'Wait below the trigger that began',
		{
			...waitsAbove({ resume: 'webhook', responseMode: 'lastNode' }),
			startedBy: 'scheduleTrigger',
		},
		CALLER,
	],
	['a called workflow', called, 'the workflow that called this one'],
	['a tool of an agent', { isTool: true }, 'an AI agent waits'],
	[
		'MCP Server Trigger with the node as a tool',
		{ isTool: true, executionId: '' },
		'an AI agent waits',
	],
	['a run without an execution', { executionId: '' }, 'no execution'],
	['Evaluations', { mode: 'evaluation' }, '"evaluation"'],
	['n8n execute', { mode: 'cli' }, '"cli"'],
	...['kafka', 'rabbitmq', 'mqtt', 'amqp'].map((name): [string, Partial<Starter>, string] => [
		name,
		triggered(`${name}Trigger`),
		BROKER,
	]),
	['the editor, as its trigger says', { ...below('webhook', 'lastNode'), mode: 'manual' }, CALLER],
	['one of two triggers', { ...two, startedBy: 'webhook' }, CALLER],
	['one of two triggers, which is not known', two, CALLER],
	['"Execute node" of the assistant', { isSingleNode: true }, 'n8n deletes the execution'],
	['engine-v2', { executionId: '019ab7c2-5d1e-7abc-9def-0123456789ab' }, 'new engine'],
	[
		'engine-v2, for an error workflow too',
		{ mode: 'error', executionId: '019ab7c2-5d1e-7abc-9def-0123456789ab' },
		'new engine',
	],
])('somebody waits: %s', (_, facts, reason) => {
	expect(findWaiter({ ...starter, ...facts })).toContain(reason);
});
