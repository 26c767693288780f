import type { IDataObject, IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL } from '../api/endpoints';
import { BoundedMap } from '../lib/boundedMap';
import { digest } from '../lib/json';

/** Reads the execution's ID. A call of an MCP server has none, and must not look like an earlier execution. */
export const readExecutionId = (context: IExecuteFunctions): string =>
	(context.getExecutionId() as string | undefined) ?? '';

/**
 * Reads the node's context, which n8n keeps with the execution. n8n's Agents run a node without an execution, and n8n throws then.
 */
function readNodeContext(context: IExecuteFunctions): IDataObject | undefined {
	try {
		return context.getContext('node');
	} catch {
		return undefined;
	}
}

/** Says whether there is an execution. An agent of n8n's Agents runs its tools without one: nothing is stored, and nothing can sleep. */
export const hasExecution = (context: IExecuteFunctions): boolean =>
	readNodeContext(context) !== undefined;

/** The notes of runs without an execution. */
const notes = new WeakMap<IExecuteFunctions, IDataObject>();

/** Returns the notes of this run, to read and to write. n8n keeps them with the execution, between tries and while it sleeps. */
export function getRunNotes(context: IExecuteFunctions): IDataObject {
	const kept = readNodeContext(context) ?? notes.get(context) ?? {};
	notes.set(context, kept);
	return kept;
}

/** Calls without an execution share a note this long, in milliseconds. */
const SHARED_FOR = 3_600_000;

/** The notes that calls without an execution share. */
const shared = new BoundedMap<string, { value: unknown; until: number }>(10_000);

/** The calls of one tool have the same parameters, as its owner set them, and the same credential. */
const identifyShared = (context: IExecuteFunctions, name: string): string => {
	const { parameters, credentials } = context.getNode();
	return digest([parameters, credentials?.[CREDENTIAL], name]);
};

/**
 * Reads a note that the calls of an agent share. n8n keeps it with the execution. Without one, this process keeps it for an hour.
 * @returns undefined when there is none
 */
export function readShared(context: IExecuteFunctions, name: string): unknown {
	const kept = readNodeContext(context);
	if (kept) return kept[name];
	const note = shared.get(identifyShared(context, name));
	return note && note.until > Date.now() ? note.value : undefined;
}

/** Writes a note for `readShared`. */
export function writeShared(context: IExecuteFunctions, name: string, value: object): void {
	const kept = readNodeContext(context);
	if (kept) kept[name] = value;
	else shared.set(identifyShared(context, name), { value, until: Date.now() + SHARED_FOR });
}

/** Recognizes the variant of the node that n8n makes for AI agents. The newest agent runs it like any node. */
export const isToolNode = (context: IExecuteFunctions | IWebhookFunctions): boolean =>
	context.getNode().type.endsWith('Tool');

/** Recognizes a call by an AI agent. */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.isToolExecution() || isToolNode(context);

/**
 * Recognizes "Execute node" of n8n's AI assistant (`execute-node.service.js`): a workflow of one node with a timeout. n8n deletes
 * it and its execution as soon as that ends or sleeps. Only its name marks it.
 */
export const isExecuteNode = (context: IExecuteFunctions): boolean =>
	context.getWorkflow().name === `Execute node ${context.getNode().type}`;

/** What n8n's context of a run has beside its functions. */
interface ContextFields {
	additionalData?: { executionTimeoutTimestamp?: number };
	runExecutionData?: { parentAgentRun?: object };
}

/** n8n's Agents cancel a workflow that they call after it was awake this long (`workflow-tool-factory.js`), in milliseconds. */
const AGENTS_LIMIT = 120_000;

/**
 * Says when n8n ends the execution if it is awake then, in milliseconds since 1970; Infinity if it does not. n8n tells nodes the
 * workflow's own timeout, but not its default (`EXECUTIONS_TIMEOUT`), the start of the execution, or the deadline of a calling
 * workflow. A field of the context has the deadline that follows from all of them. Without the field, the timeout counts from now.
 */
export function readDeadline(context: IExecuteFunctions): number {
	const { additionalData, runExecutionData } = context as unknown as ContextFields;
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	const own =
		additionalData?.executionTimeoutTimestamp ??
		(executionTimeout > 0 ? Date.now() + executionTimeout * 1_000 : Infinity);
	if (!runExecutionData?.parentAgentRun) return own;
	const { establishedAt = 0 } = context.getExecutionContext?.() ?? {};
	const ofAgents = establishedAt + AGENTS_LIMIT;
	// The agent does not cancel one that has slept.
	return ofAgents > Date.now() ? Math.min(own, ofAgents) : own;
}

/**
 * Says whether the first error ends the run. A tool outside of the newest agent never throws: those agents swallow what a tool
 * throws (`AgentExecutor` of LangChain), so their model would not be told.
 */
export const stopsOnError = (context: IExecuteFunctions): boolean =>
	!context.continueOnFail() && !context.isToolExecution();

/**
 * Notes by its run index that a call by the newest agent has begun. A call that n8n tries again is noted once. n8n keeps the node's
 * context with the execution, also while it sleeps.
 */
export function noteCall(context: IExecuteFunctions): void {
	if (context.isToolExecution() || !isToolNode(context)) return;
	const kept = getRunNotes(context) as { calls?: number[] };
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	kept.calls = [...new Set([...(kept.calls ?? []), run])];
}

/**
 * Says whether all calls of the newest agent have begun, and this one has the last run index. n8n notes a run for each call of a
 * turn before the first begins. It begins them in order; before 2.36, in reverse order.
 */
export function isLastCall(context: IExecuteFunctions): boolean {
	const { calls = [] } = getRunNotes(context) as { calls?: number[] };
	const { $node, $runIndex } = context.getWorkflowDataProxy(0);
	const { [context.getNode().name]: own } = $node as Record<string, { runIndex: number }>;
	return own?.runIndex === $runIndex && calls.length > ($runIndex as number);
}
