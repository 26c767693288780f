import type { IExecuteFunctions, NodeTypeAndVersion, WorkflowExecuteMode } from 'n8n-workflow';
import type { Call } from './call';

/** Who waits for the end of an execution. */
export type Waiter =
	| { who: 'agent' }
	/** Whoever started it; by this node, which answers or acknowledges with the end. */
	| { who: 'caller'; node?: string }
	/** n8n itself, or it can't let this execution sleep. */
	| { who: 'n8n' };

/** How an execution was started, as far as n8n tells a node. */
export interface Starter {
	mode: WorkflowExecuteMode;
	/** Blank for the calls of an MCP server. */
	executionId: string;
	isTool: boolean;
	/** "Execute node" of n8n's AI assistant. */
	isSingleNode: boolean;
	/** The trigger or node that the run began with, if n8n tells it. */
	startedBy?: string;
	/** Another workflow's execution called this one, and waits for it. */
	callerWaits: boolean;
	parents: NodeTypeAndVersion[];
	/** Says whether a Respond to Webhook node below this node has run. */
	hasResponded: (name: string) => boolean;
}

const RESPOND_NODE = 'n8n-nodes-base.respondToWebhook';
const WAIT_NODE = 'n8n-nodes-base.wait';
const CHAT_TRIGGER = '@n8n/n8n-nodes-langchain.chatTrigger';

/** Triggers that may wait for the end of the execution before they acknowledge a message. */
const MESSAGE_BROKERS = new Set(
	['kafka', 'rabbitmq', 'mqtt', 'amqp'].map((name) => `n8n-nodes-base.${name}Trigger`),
);

/** The execution IDs of engine-v2 are UUIDs. It can't let a node sleep (2.41.1). */
const ENGINE_V2_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Modes in which a trigger started the execution. */
const TRIGGERED = new Set(['trigger', 'webhook', 'manual']);

/**
 * Finds who waits for the end of the execution. Whoever waits gets an unfinished task as soon as it
 * sleeps (docs/generate.md, "Who waits"; 2.14.2, 2.41.1). `e2e/whoWaits` fails first.
 * @returns undefined if nobody waits, and it can sleep
 */
export const findWaiter = (call: Call): Waiter | undefined =>
	call.kept ? toWaiter(readStarter(call)) : { who: 'n8n' };

/** Reads how the execution was started. */
export function readStarter({ context, executionId, isTool, audience }: Call): Starter {
	const { name } = context.getNode();
	const { triggerNode, parentExecutionId } = context.getExecutionContext?.() ?? {};
	return {
		mode: context.getMode(),
		executionId,
		isTool,
		isSingleNode: audience === 'assistant',
		startedBy: findStart(context) ?? triggerNode?.name,
		callerWaits: parentExecutionId !== undefined && !doesCallerGoOn(context),
		parents: context.getParentNodes(name, { includeNodeParameters: true }),
		hasResponded: (above) =>
			context
				.getChildNodes(above)
				.some(({ type, name: below }) => type === RESPOND_NODE && isExecuted(context, below)),
	};
}

/** Works out from how an execution was started who waits for its end. */
export function toWaiter(starter: Starter): Waiter | undefined {
	const { mode, executionId } = starter;
	if (starter.isTool) return { who: 'agent' };
	// n8n deletes the execution of a single node at its end, so that no callback could wake it.
	if (executionId === '' || starter.isSingleNode) return { who: 'n8n' };
	if (ENGINE_V2_ID.test(executionId)) return { who: 'n8n' };
	if (mode === 'error' || mode === 'retry') return undefined;
	// An agent's workflow tool too. If it slept, n8n would wake the newest agent only, and would run one
	// of its calls at once only (`handleWaitingState` in `workflow-execute.js`, 2.14.2, 2.41.1).
	if (mode === 'integrated') return starter.callerWaits ? { who: 'caller' } : undefined;
	if (!TRIGGERED.has(mode)) return { who: 'n8n' };
	return findHolder(starter);
}

/** Finds a trigger or Wait node above that answers its caller with the end of the execution. */
function findHolder({ parents, startedBy, hasResponded }: Starter): Waiter | undefined {
	const enabled = parents.filter(({ disabled }) => !disabled);
	const started = enabled.filter(({ name }) => name === startedBy);
	const triggers = started.length > 0 ? started : enabled.filter(isTrigger);
	const waits = enabled.filter(
		({ type, parameters }) =>
			type === WAIT_NODE && /^(webhook|form)$/.test(String(parameters?.resume)),
	);
	for (const node of [...triggers, ...waits]) {
		if (MESSAGE_BROKERS.has(node.type)) return { who: 'caller', node: node.name };
		const how = readResponseMode(node);
		if (how === 'onReceived' || how === 'responseNodes') continue;
		if (how === 'responseNode' && hasResponded(node.name)) continue;
		return { who: 'caller', node: node.name };
	}
	return undefined;
}

const isTrigger = ({ type }: NodeTypeAndVersion): boolean =>
	/trigger$/i.test(type) || /\.webhook$/.test(type);

/** Reads how a node answers its caller. An expression isn't resolved, so its caller counts as waiting. */
function readResponseMode({ type, parameters }: NodeTypeAndVersion): unknown {
	const unset = type === CHAT_TRIGGER ? 'lastNode' : 'onReceived';
	const { responseMode } = (parameters?.options ?? {}) as { responseMode?: unknown };
	return parameters?.responseMode ?? responseMode ?? unset;
}

/** Finds the trigger that has run. For a part of a workflow in the editor, n8n names our node. */
const findStart = (context: IExecuteFunctions): string | undefined =>
	context
		.getParentNodes(context.getNode().name)
		.map(({ name }) => name)
		.find((name) => !context.getParentNodes(name).length && isExecuted(context, name));

const isExecuted = (context: IExecuteFunctions, name: string): boolean => {
	const { $ } = context.getWorkflowDataProxy(0) as { $: (name: string) => { isExecuted: boolean } };
	return $(name).isExecuted;
};

/**
 * Says whether the calling workflow goes on without waiting (`shouldRestartParentExecution` in
 * `workflow-helpers.js`, 2.41.1). `e2e/whoWaits` fails first.
 */
const doesCallerGoOn = (context: IExecuteFunctions): boolean => {
	const { runExecutionData } = context as unknown as {
		runExecutionData?: { parentExecution?: { shouldResume?: boolean } };
	};
	return runExecutionData?.parentExecution?.shouldResume === false;
};
