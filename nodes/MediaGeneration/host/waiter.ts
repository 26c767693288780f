import type { IExecuteFunctions, NodeTypeAndVersion } from 'n8n-workflow';
import type { Call } from './call';
import { lookInside } from './internals';

const RESPOND_NODE = 'n8n-nodes-base.respondToWebhook';
const WAIT_NODE = 'n8n-nodes-base.wait';
const CHAT_TRIGGER = '@n8n/n8n-nodes-langchain.chatTrigger';

/** Triggers that may wait for the end of the execution before they acknowledge a message. */
const MESSAGE_BROKERS = new Set(
	['kafka', 'rabbitmq', 'mqtt', 'amqp'].map((name) => `n8n-nodes-base.${name}Trigger`),
);

/** The execution IDs of engine-v2 are UUIDs. It can't let a node sleep (2.41.1). */
const ENGINE_V2_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

const N8N = "n8n can't let a run of this kind sleep";

/**
 * Finds who waits for the end of an execution, other than an agent. Whoever waits gets an unfinished
 * task as soon as it sleeps (docs/generate.md, "Who waits"; 2.14.2, 2.41.1). `e2e/whoWaits` fails
 * first.
 * @returns why it can't sleep, as the end of a sentence; undefined if it can
 */
export function findWaiter({
	context,
	executionId,
	nodeContext,
	audience,
}: Call): string | undefined {
	// n8n deletes the execution of a single node at its end, so that no callback could wake it.
	if (!nodeContext || executionId === '' || audience === 'assistant') return N8N;
	if (ENGINE_V2_ID.test(executionId)) return N8N;
	switch (context.getMode()) {
		case 'error':
		case 'retry':
			return undefined;
		// An agent's workflow tool too. If it slept, n8n would wake the newest agent only, and would run
		// one of its calls at once only (`handleWaitingState` in `workflow-execute.js`, 2.14.2, 2.41.1).
		case 'integrated':
			return isCallerWaiting(context)
				? 'the workflow that called this one waits for its end'
				: undefined;
		case 'trigger':
		case 'webhook':
		case 'manual': {
			const holder = findHolder(context);
			return holder && `"${holder}" waits for its end`;
		}
		default:
			return N8N;
	}
}

/**
 * Says whether the calling workflow waits (`shouldRestartParentExecution` in `workflow-helpers.js`,
 * 2.41.1). `e2e/whoWaits` fails first.
 */
function isCallerWaiting(context: IExecuteFunctions): boolean {
	const goesOn = lookInside(context).runExecutionData?.parentExecution?.shouldResume === false;
	return context.getExecutionContext?.()?.parentExecutionId !== undefined && !goesOn;
}

/** Finds a trigger or Wait node above that answers its caller with the end of the execution. */
function findHolder(context: IExecuteFunctions): string | undefined {
	const parents = context
		.getParentNodes(context.getNode().name, { includeNodeParameters: true })
		.filter(({ disabled }) => !disabled);
	const isStart = ({ name }: NodeTypeAndVersion) =>
		!context.getParentNodes(name).length && isExecuted(context, name);
	const started = parents.filter(isStart);
	const triggers = started.length ? started : parents.filter(isTrigger);
	const waits = parents.filter(
		({ type, parameters }) =>
			type === WAIT_NODE && /^(webhook|form)$/.test(String(parameters?.resume)),
	);
	return [...triggers, ...waits].find((node) => isHolding(context, node))?.name;
}

const isTrigger = ({ type }: NodeTypeAndVersion): boolean =>
	/trigger$/i.test(type) || /\.webhook$/.test(type);

function isHolding(context: IExecuteFunctions, node: NodeTypeAndVersion): boolean {
	if (MESSAGE_BROKERS.has(node.type)) return true;
	const how = readResponseMode(node);
	if (how === 'responseNode') return !hasResponded(context, node.name);
	return how !== 'onReceived' && how !== 'responseNodes';
}

/** Reads how a node answers its caller. An expression isn't resolved, so its caller counts as waiting. */
function readResponseMode({ type, parameters }: NodeTypeAndVersion): unknown {
	const unset = type === CHAT_TRIGGER ? 'lastNode' : 'onReceived';
	const { responseMode } = (parameters?.options ?? {}) as { responseMode?: unknown };
	return parameters?.responseMode ?? responseMode ?? unset;
}

/** Says whether a Respond to Webhook node below this node has run. */
const hasResponded = (context: IExecuteFunctions, above: string): boolean =>
	context
		.getChildNodes(above)
		.some(({ type, name }) => type === RESPOND_NODE && isExecuted(context, name));

const isExecuted = (context: IExecuteFunctions, name: string): boolean => {
	const { $ } = context.getWorkflowDataProxy(0) as { $: (name: string) => { isExecuted: boolean } };
	return $(name).isExecuted;
};
