import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';
import { cutText } from '../lib/text';

/**
 * Who reads the output: another node, an AI model, or n8n's AI assistant. A model reads that of a
 * tool, and of a node without an execution, as in n8n's Agents.
 */
type Audience = 'workflow' | 'agent' | 'assistant';

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
	stopsOnError: boolean;
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
	nodeContext?: IDataObject;
	/** n8n would give this call the values of another one. */
	isMixedUp: boolean;
}

/** What n8n has noted of a run of a node. */
interface NotedRun {
	startTime: number;
	/** Of a tool: what it was called with. */
	inputOverride?: { ai_tool?: INodeExecutionData[][] };
}

/** What n8n's context of a run has beside its functions (2.14.2, 2.41.1). */
interface Internals {
	additionalData?: { executionTimeoutTimestamp?: number };
	runExecutionData?: { resultData?: { runData?: Record<string, NotedRun[]> } };
	workflow?: {
		nodes: Record<string, INode>;
		getChildNodes: (name: string, type: string) => string[];
	};
}

const lookInside = (context: IExecuteFunctions) => context as unknown as Internals;

export function readCall(context: IExecuteFunctions): Call {
	const called = Date.now();
	// A tool of any agent but the newest.
	const isOldTool = context.isToolExecution();
	// The newest agent runs a variant of the node, whose type ends in `Tool`, like any node (2.14.2,
	// 2.41.1). `e2e/agentTools` fails first.
	const isTool = isOldTool || context.getNode().type.endsWith('Tool');
	const nodeContext = readNodeContext(context);
	const runs = readNotedRuns(context);
	// By the first run of each node, as a loop may have very many. Infinity: n8n has noted none.
	const begun = Math.min(...Object.values(runs).map(([first]) => first?.startTime ?? Infinity));
	const timeout = readTimeout(context, called, begun);
	const answerBy =
		isTool && isBelowMcp(context) ? Math.min(called, begun) + ANSWERED_WITHIN : Infinity;
	return {
		context,
		called,
		isTool,
		audience: readAudience(context, isTool || !nodeContext),
		// An old tool is one of LangChain's, whose `AgentExecutor` swallows errors
		// (`get-input-connection-data.js`, 2.14.2, 2.41.1). `e2e/agentTools` fails first.
		stopsOnError: !context.continueOnFail() && !isOldTool,
		tries: readMostTries(context),
		timeout,
		answerBy,
		deadline: Math.min(timeout.at, answerBy),
		signal: context.getExecutionCancelSignal(),
		executionId: (context.getExecutionId() as string | undefined) ?? '',
		nodeContext,
		isMixedUp: isOldTool && isMixedUp(context),
	};
}

/**
 * Recognizes "Execute node" of n8n's AI assistant by the name of its workflow, which n8n deletes at
 * its end or sleep (`execute-node.service.js`, 2.41.1). `e2e/stopAndTimeout` fails first.
 */
function readAudience(context: IExecuteFunctions, isForAgent: boolean): Audience {
	if (isForAgent) return 'agent';
	const isAssistant = context.getWorkflow().name === `Execute node ${context.getNode().type}`;
	return isAssistant ? 'assistant' : 'workflow';
}

/**
 * In n8n's Agents there is no execution, and `getContext` throws (`ephemeral-node-executor.js`,
 * 2.41.1). `e2e/agents` fails first.
 */
function readNodeContext(context: IExecuteFunctions): IDataObject | undefined {
	try {
		return context.getContext('node');
	} catch {
		return undefined;
	}
}

/**
 * Reads how often n8n tries a node at most: once without Retry On Fail. n8n counts from the start
 * again when it wakes an execution that slept, so that whoever pays in each try counts too
 * (`getRetryParams` in `workflow-execute.js`, 2.14.2, 2.41.1). `e2e/failedTasks` fails first.
 */
function readMostTries(context: IExecuteFunctions): number {
	const { retryOnFail, maxTries } = context.getNode();
	return retryOnFail ? Math.min(5, Math.max(2, maxTries || 3)) : 1;
}

/**
 * Reads when n8n ends the execution if it is awake. Settings have the workflow's own timeout only.
 * A field of the context has the deadline by all timeouts. Without the field, the timeout counts
 * from now. `e2e/stopAndTimeout` fails first. After a wait that n8n itself ended, n8n may end it
 * earlier, and no field says so.
 */
function readTimeout(context: IExecuteFunctions, called: number, begun: number): Timeout {
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	const own = executionTimeout > 0 ? executionTimeout * 1_000 : Infinity;
	const at = lookInside(context).additionalData?.executionTimeoutTimestamp ?? called + own;
	// A workflow that another one calls has the rest of that one's time.
	return { at, length: Math.min(own, begun < Infinity ? at - begun : Infinity) };
}

/** Reads what n8n's context has of the runs so far, by node. */
const readNotedRuns = (context: IExecuteFunctions): Record<string, NotedRun[]> =>
	lookInside(context).runExecutionData?.resultData?.runData ?? {};

/** Reads the number of the run among those of the node in the execution. n8n's proxy is slow. */
export const readRunIndex = (context: IExecuteFunctions): number =>
	context.getWorkflowDataProxy(0).$runIndex as number;

/**
 * Says whether n8n would give a call of a tool the values of another one. Several items of an agent
 * before version 3 number their calls each for itself, but n8n notes all in one list, from which
 * `$fromAI` reads by that number (`get-input-connection-data.js`, `workflow-data-proxy.js`).
 * `e2e/agentTools` fails first.
 */
function isMixedUp(context: IExecuteFunctions): boolean {
	const noted = readNotedRuns(context)[context.getNode().name]?.[readRunIndex(context)];
	const input = noted?.inputOverride?.ai_tool?.[0]?.[0];
	return input !== undefined && input.json !== context.getInputData()[0]?.json;
}

const MCP_TRIGGER = '@n8n/n8n-nodes-langchain.mcpTrigger';

/**
 * n8n's MCP client gives up after 60 s, as those of others do, and its model asks again. It counts
 * from the client's call, which n8n notes: an agent between may call several times.
 */
const ANSWERED_WITHIN = 44_000;

/**
 * Says whether an MCP server leads to the node, and no other trigger has started the execution.
 * n8n has no execution for such a call, or notes its trigger only in queue mode of newer versions.
 * `e2e/agentTools` and `queue` fail first.
 */
function isBelowMcp(context: IExecuteFunctions): boolean {
	const startedBy = context.getExecutionContext?.()?.triggerNode?.type ?? MCP_TRIGGER;
	const { workflow } = lookInside(context);
	const below = workflow?.getChildNodes(context.getNode().name, 'ai_tool') ?? [];
	const isServer = (name: string) => workflow?.nodes[name]?.type === MCP_TRIGGER;
	return startedBy === MCP_TRIGGER && below.some(isServer);
}

/**
 * Shows a text with the execution, where n8n's list of executions finds it. n8n drops the output of
 * one that is stopped, but keeps ten texts of 255 characters, also in a sleep and for a retry. Names
 * are of letters, digits and underscores (`execution-metadata.js`, 2.14.2, 2.41.1).
 * `e2e/costs` and `e2e/stopAndTimeout` fail first.
 */
export function showInExecution(context: IExecuteFunctions, name: string, text: string): void {
	const { customData } = context.getWorkflowDataProxy(0).$execution as {
		customData: { set: (key: string, value: string) => void };
	};
	customData.set(name, cutText(text, 255));
}

/** What n8n keeps with an execution for all of its nodes, also in a sleep and for a retry. */
export const getFlowContext = (context: IExecuteFunctions): Record<string, unknown> =>
	context.getContext('flow');
