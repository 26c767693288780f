import { findWaiter } from '../../../nodes/MediaGeneration/host/waiter';
import { buildCall, type RunSetup } from '../n8n';

const WEBHOOK = 'n8n-nodes-base.webhook';
const CHAT = '@n8n/n8n-nodes-langchain.chatTrigger';
const RESPOND = 'n8n-nodes-base.respondToWebhook';
const KAFKA = 'n8n-nodes-base.kafkaTrigger';
const LAST_NODE = { responseMode: 'lastNode' };
const BY_NODE = { [WEBHOOK]: { responseMode: 'responseNode' } };

interface Started {
	mode?: string;
	/** The nodes above, and the nodes below them, by type. */
	above?: Record<string, { disabled?: boolean } & Record<string, unknown>>;
	below?: string[];
	/** The types of those that have run. */
	ran?: string[];
	run?: RunSetup;
	more?: object;
}

/** Finds who waits for an execution that was started so. Each node is named as its type. */
const find = ({ mode = 'webhook', above = {}, below = [], ran = [], run, more }: Started) => {
	const parents = Object.entries(above).map(([type, { disabled = false, ...parameters }]) => ({
		...{ name: type, type },
		...{ disabled, parameters },
	}));
	const call = buildCall(
		{ mode, ...run },
		{
			getParentNodes: (name: string) => (name === 'Node' ? parents : []),
			getChildNodes: () => below.map((type) => ({ name: type, type })),
			getWorkflowDataProxy: () => ({ $: (name: string) => ({ isExecuted: ran.includes(name) }) }),
			...more,
		},
	);
	return findWaiter(call);
};

/** An execution that another workflow's has called. */
const calledBy = (parentExecution: object): Started => ({
	mode: 'integrated',
	more: {
		getExecutionContext: () => ({ parentExecutionId: '6' }),
		runExecutionData: { parentExecution },
	},
});

const SCHEDULE = 'n8n-nodes-base.scheduleTrigger';
const WAIT = 'n8n-nodes-base.wait';
const TWO: Started = { above: { [WEBHOOK]: LAST_NODE, [SCHEDULE]: {} } };

it.each<[string, Started]>([
	['Webhook at once', { above: { [WEBHOOK]: { responseMode: 'onReceived' } } }],
	['Webhook that says nothing of it', { mode: 'manual', above: { [WEBHOOK]: {} } }],
	['an error workflow, which carries the root trigger', { ...TWO, mode: 'error' }],
	['a retry', { ...TWO, mode: 'retry' }],
	['MCP execute_workflow', { mode: 'trigger' }],
	[
		'Webhook with a Respond node that ran already',
		{ above: BY_NODE, below: ['other', RESPOND], ran: [RESPOND] },
	],
	[
		'Chat with Response Nodes',
		{ above: { [CHAT]: { options: { responseMode: 'responseNodes' } } } },
	],
	['Wait that waits for a time', { above: { [WAIT]: { ...LAST_NODE, resume: 'timeInterval' } } }],
	['a called workflow whose caller does not wait', calledBy({ shouldResume: false })],
	['one of two triggers, which nobody waits for', { ...TWO, ran: [SCHEDULE] }],
	['a trigger that is disabled', { above: { [WEBHOOK]: { ...LAST_NODE, disabled: true } } }],
])('nobody waits for %s', (_, started) => {
	expect(find(started)).toBeUndefined();
});

const byCaller = 'the workflow that called this one waits for its end';
const byN8n = "n8n can't let a run of this kind sleep";

it.each<[string, Started, string]>([
	['Webhook: last node', { above: { [WEBHOOK]: LAST_NODE } }, WEBHOOK],
	['an expression', { above: { [WEBHOOK]: { responseMode: '={{ $json.mode }}' } } }, WEBHOOK],
	['a Respond node that has not run', { above: BY_NODE, below: [RESPOND] }, WEBHOOK],
	['other nodes that have', { above: BY_NODE, below: ['set'], ran: ['set'] }, WEBHOOK],
	['Chat: an unset option', { above: { [CHAT]: {} } }, CHAT],
	[
		'Wait "On Webhook Call" below the trigger that began',
		{ above: { [SCHEDULE]: {}, [WAIT]: { ...LAST_NODE, resume: 'webhook' } }, ran: [SCHEDULE] },
		WAIT,
	],
	['Wait "On Form Submitted"', { above: { [WAIT]: { ...LAST_NODE, resume: 'form' } } }, WAIT],
	['one of two triggers, which is not known', TWO, WEBHOOK],
	['a message broker', { above: { [KAFKA]: {} } }, KAFKA],
	['a called workflow', calledBy({ shouldResume: true }), byCaller],
	["n8n's Agents", { run: { contextData: null } }, byN8n],
	['Evaluations', { mode: 'evaluation' }, byN8n],
	['a run without an execution', { run: { executionId: '' } }, byN8n],
	[
		'"Execute node" of the assistant',
		{ more: { getWorkflow: () => ({ name: 'Execute node mediaGeneration' }) } },
		byN8n,
	],
	[
		'engine-v2, for an error workflow too',
		{ mode: 'error', run: { executionId: '019ab7c2-5d1e-7abc-9def-0123456789ab' } },
		byN8n,
	],
])('somebody waits: %s', (_, started, waiter) => {
	const isSentence = waiter === byCaller || waiter === byN8n;
	expect(find(started)).toBe(isSentence ? waiter : `"${waiter}" waits for its end`);
});
