import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { readMcpDeadline } from './mcpCall';
import { isMixedUp, readNotedRuns } from './notedRuns';

/**
 * Who reads the output: another node, an AI model, or n8n's AI assistant. A model reads that of a
 * tool, and of a node without an execution, as in n8n's Agents.
 */
type Audience = 'workflow' | 'model' | 'assistant';

/** n8n's timeout, while the execution is awake. Without one, both are Infinity. */
export interface Timeout {
	/** When n8n ends the execution. */
	at: number;
	/** How long n8n lets it run in all, in milliseconds. */
	length: number;
}

/** What n8n says of one call of `execute()`, read once. Times are in milliseconds since 1970. */
export interface Call {
	context: IExecuteFunctions;
	called: number;
	/** An AI agent or MCP server calls the node. */
	isTool: boolean;
	audience: Audience;
	/** The first error ends the run. Where n8n swallows errors, it doesn't: no model would be told. */
	stops: boolean;
	/** How often n8n calls the node for a run at most. */
	tries: number;
	timeout: Timeout;
	/** When an MCP client wants its answer; Infinity for any other call. */
	answerBy: number;
	/** The earlier of both. */
	deadline: number;
	/** Aborted when the execution is stopped. */
	signal?: AbortSignal;
	/** Blank for the calls of an MCP server. */
	executionId: string;
	/** What n8n keeps for the node with the execution; absent without one. */
	kept?: IDataObject;
	/** n8n would give this call the values of another one. */
	isMixedUp: boolean;
}

export function readCall(context: IExecuteFunctions): Call {
	const isTool = recognizeTool(context);
	const kept = readKept(context);
	const answerBy = isTool ? readMcpDeadline(context) : Infinity;
	const timeout = readTimeout(context);
	return {
		context,
		called: Date.now(),
		isTool,
		audience: readAudience(context, isTool || !kept),
		stops: !context.continueOnFail() && !swallowsErrors(context),
		tries: readMostTries(context),
		timeout,
		answerBy,
		deadline: Math.min(timeout.at, answerBy),
		signal: context.getExecutionCancelSignal(),
		executionId: (context.getExecutionId() as string | undefined) ?? '',
		kept,
		isMixedUp: context.isToolExecution() && isMixedUp(context),
	};
}

/**
 * Recognizes a call by an AI agent. The newest agent runs a variant of the node, whose type ends in
 * `Tool`, like any node (2.14.2, 2.41.1). `e2e/agentTools` fails first.
 */
const recognizeTool = (context: IExecuteFunctions): boolean =>
	context.isToolExecution() || context.getNode().type.endsWith('Tool');

/**
 * Recognizes "Execute node" of n8n's AI assistant by the name of its workflow, which n8n deletes at
 * its end or sleep (`execute-node.service.js`, 2.41.1). `e2e/stopAndTimeout` fails first.
 */
function readAudience(context: IExecuteFunctions, isForModel: boolean): Audience {
	if (isForModel) return 'model';
	const isAssistant = context.getWorkflow().name === `Execute node ${context.getNode().type}`;
	return isAssistant ? 'assistant' : 'workflow';
}

/**
 * In n8n's Agents there is no execution, and `getContext` throws (`ephemeral-node-executor.js`,
 * 2.41.1). `e2e/agents` fails first.
 */
function readKept(context: IExecuteFunctions): IDataObject | undefined {
	try {
		return context.getContext('node');
	} catch {
		return undefined;
	}
}

/**
 * Says whether what the node throws gets lost: a tool of any agent but the newest is one of
 * LangChain's, whose `AgentExecutor` swallows errors (`get-input-connection-data.js`, 2.14.2,
 * 2.41.1). `e2e/agentTools` fails first.
 */
const swallowsErrors = (context: IExecuteFunctions): boolean => context.isToolExecution();

/**
 * Reads how often n8n tries a node at most: once without Retry On Fail. n8n counts from the start
 * again when it wakes an execution that slept, so that whoever pays in each try counts too
 * (`getRetryParams` in `workflow-execute.js`, 2.14.2, 2.41.1). `e2e/failedTasks` fails first.
 */
function readMostTries(context: IExecuteFunctions): number {
	const { retryOnFail, maxTries } = context.getNode();
	return retryOnFail ? Math.min(5, Math.max(2, maxTries || 3)) : 1;
}

/** What n8n's context of a run has beside its functions (2.14.2 to 2.41.1). */
interface ContextFields {
	additionalData?: { executionTimeoutTimestamp?: number };
}

/**
 * Reads when n8n ends the execution if it is awake. Settings have the workflow's own timeout only.
 * A field of the context has the deadline by all timeouts. Without the field, the timeout counts
 * from now. `e2e/stopAndTimeout` fails first. After a wait that n8n itself ended, n8n may end it
 * earlier, and no field says so.
 */
function readTimeout(context: IExecuteFunctions): Timeout {
	const { additionalData } = context as unknown as ContextFields;
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	const own = executionTimeout > 0 ? executionTimeout * 1_000 : Infinity;
	const at = additionalData?.executionTimeoutTimestamp ?? Date.now() + own;
	// A workflow that another one calls has the rest of that one's time.
	const runs = Object.values(readNotedRuns(context)).flat();
	const begun = Math.min(...runs.map(({ startTime }) => startTime));
	return { at, length: Math.min(own, runs.length ? at - begun : Infinity) };
}
