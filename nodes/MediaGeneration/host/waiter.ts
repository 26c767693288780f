import type { IExecuteFunctions, NodeTypeAndVersion } from 'n8n-workflow';
import type { Call } from './call';
import { lookInside } from './internals';

/** Triggers that may wait for the end of the execution before they acknowledge a message. */
const MESSAGE_BROKER = /^n8n-nodes-base\.(kafka|rabbitmq|mqtt|amqp)Trigger$/;

/** The execution IDs of engine-v2, which can't let a node sleep, are UUIDs (2.41.1). */
const ENGINE_V2_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** A reason, as the end of a sentence. */
const N8N_CANNOT = "n8n can't let a run of this kind sleep";

/**
 * Finds who waits for the end of an execution, other than an agent. Whoever waits gets an unfinished task
 * as soon as the execution sleeps (docs/generate.md, "Who waits"; 2.14.2, 2.41.1).
 * `e2e/whoWaits` fails first.
 * @returns why the execution can't sleep, as the end of a sentence; undefined if it can
 */
export function findWaiter({
	context,
	executionId,
	nodeContext,
	audience,
}: Call): string | undefined {
	// n8n's assistant executes a single node, and n8n deletes that execution when the node has run: no
	// callback could wake it.
	if (!nodeContext || executionId === '' || audience === 'assistant') return N8N_CANNOT;
	if (ENGINE_V2_ID.test(executionId)) return N8N_CANNOT;
	switch (context.getMode()) {
		case 'error':
		case 'retry':
			return undefined;
		// Includes a workflow used as an agent's tool: n8n resumes only the newest AI Agent node, and only
		// one of its parallel calls (`handleWaitingState` in `workflow-execute.js`, 2.14.2, 2.41.1).
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
			return N8N_CANNOT;
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
	const starts = parents.filter(isStart);
	const triggers = starts.length ? starts : parents.filter(isTrigger);
	const waits = parents.filter(
		({ type, parameters }) =>
			type === 'n8n-nodes-base.wait' && /^(webhook|form)$/.test(String(parameters?.resume)),
	);
	return [...triggers, ...waits].find((node) => isHolding(context, node))?.name;
}

const isTrigger = ({ type }: NodeTypeAndVersion): boolean => /(trigger|\.webhook)$/i.test(type);

function isHolding(context: IExecuteFunctions, node: NodeTypeAndVersion): boolean {
	if (MESSAGE_BROKER.test(node.type)) return true;
	const mode = readResponseMode(node);
	if (mode === 'responseNode') return !hasResponded(context, node.name);
	return mode !== 'onReceived' && mode !== 'responseNodes';
}

/** Reads how a node answers its caller. An expression isn't resolved, so its caller counts as waiting. */
function readResponseMode({ type, parameters }: NodeTypeAndVersion): unknown {
	const defaultMode = type === '@n8n/n8n-nodes-langchain.chatTrigger' ? 'lastNode' : 'onReceived';
	const { responseMode } = (parameters?.options ?? {}) as { responseMode?: unknown };
	return parameters?.responseMode ?? responseMode ?? defaultMode;
}

/** Says whether a Respond to Webhook node below this node has run. */
const hasResponded = (context: IExecuteFunctions, above: string): boolean =>
	context
		.getChildNodes(above)
		.some(
			({ type, name }) => type === 'n8n-nodes-base.respondToWebhook' && isExecuted(context, name),
		);

const isExecuted = (context: IExecuteFunctions, name: string): boolean => {
	const { $ } = context.getWorkflowDataProxy(0) as { $: (name: string) => { isExecuted: boolean } };
	return $(name).isExecuted;
};
