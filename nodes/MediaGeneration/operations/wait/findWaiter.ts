import type { NodeTypeAndVersion } from 'n8n-workflow';
import type { Starter } from '../../host/execution';

const WAIT_NODE = 'n8n-nodes-base.wait';
const CHAT_TRIGGER = '@n8n/n8n-nodes-langchain.chatTrigger';

/** Triggers that may wait for the end of the execution before they acknowledge a message. */
const MESSAGE_BROKERS = new Set(
	['kafka', 'rabbitmq', 'mqtt', 'amqp'].map((name) => `n8n-nodes-base.${name}Trigger`),
);

/** The execution IDs of engine-v2 are UUIDs. It can't let a node sleep (2.41.1). */
const ENGINE_V2_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export const NO_EXECUTION = 'there is no execution here that could sleep';

/** Modes in which a trigger started the execution. */
const TRIGGERED = new Set(['trigger', 'webhook', 'manual']);

/**
 * Finds who waits for the end of an execution, or why it can't sleep. Whoever waits gets an
 * unfinished task as soon as the execution sleeps (docs/generate.md, "Who waits").
 * @returns the reason to stay awake, as the end of a sentence; undefined if nobody waits
 */
export function findWaiter(starter: Starter): string | undefined {
	const { mode, executionId } = starter;
	if (starter.isTool) return "an AI agent waits for its tool's result";
	if (executionId === '') return NO_EXECUTION;
	if (starter.isSingleNode)
		return "n8n deletes the execution of a single node at its end, so a callback couldn't resume it";
	if (ENGINE_V2_ID.test(executionId)) return "n8n's new engine can't let a node sleep";
	if (mode === 'error' || mode === 'retry') return undefined;
	if (mode === 'integrated')
		return starter.callerWaits
			? "the workflow that called this one waits for its end. To let the execution sleep, move Generate there, or turn off 'Wait for Sub-Workflow Completion'"
			: undefined;
	if (!TRIGGERED.has(mode)) return `n8n waits for the end of a run of the kind "${mode}"`;
	return findHolder(starter);
}

/** Finds a trigger or Wait node above that answers its caller with the end of the execution. */
function findHolder({ parents, startedBy, hasResponded }: Starter): string | undefined {
	const enabled = parents.filter(({ disabled }) => !disabled);
	const started = enabled.filter(({ name }) => name === startedBy);
	const triggers = started.length > 0 ? started : enabled.filter(isTrigger);
	const waits = enabled.filter(
		({ type, parameters }) =>
			type === WAIT_NODE && /^(webhook|form)$/.test(String(parameters?.resume)),
	);
	for (const node of [...triggers, ...waits]) {
		if (MESSAGE_BROKERS.has(node.type))
			return `"${node.name}" acknowledges its message when the execution ends, or sleeps`;
		const how = readResponseMode(node);
		if (how === 'onReceived' || how === 'responseNodes') continue;
		if (how === 'responseNode' && hasResponded(node.name)) continue;
		return `the caller of "${node.name}" waits for the answer, and would get it before the tasks have ended`;
	}
	return undefined;
}

const isTrigger = ({ type }: NodeTypeAndVersion): boolean =>
	/trigger$/i.test(type) || /\.webhook$/.test(type);

/** How a node answers its caller. An expression is none of n8n's words, so its caller waits. */
function readResponseMode({ type, parameters }: NodeTypeAndVersion): unknown {
	const unset = type === CHAT_TRIGGER ? 'lastNode' : 'onReceived';
	const { responseMode } = (parameters?.options ?? {}) as { responseMode?: unknown };
	return parameters?.responseMode ?? responseMode ?? unset;
}
