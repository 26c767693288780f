import type { IDataObject, IExecuteFunctions, IRunData } from 'n8n-workflow';
import { cutText } from '../lib/text';
import { lookInside } from './internals';

/**
 * Who reads the output: another node, an agent, or n8n's AI assistant. An agent reads the output of a
 * tool, and of a node without an execution, as in n8n's Agents.
 */
type Audience = 'workflow' | 'agent' | 'assistant';

/** n8n's timeout, while the execution is awake. Without a timeout, both are Infinity. */
export interface Timeout {
	/** When n8n ends the execution, in milliseconds since 1970. */
	at: number;
	/** How long n8n lets the execution run in all, in milliseconds. */
	length: number;
}

/** What n8n says of one call of `execute()`, read once. Moments are in milliseconds since 1970. */
export interface Call {
	context: IExecuteFunctions;
	calledAt: number;
	/** An AI agent or MCP server calls the node. */
	isTool: boolean;
	audience: Audience;
	/**
	 * Whether the first error ends the run (On Error: stop). False for old agents: n8n swallows what
	 * their tools throw, so errors must be output.
	 */
	stopsOnError: boolean;
	/** How often n8n calls the node for a run at most. */
	mostTries: number;
	timeout: Timeout;
	/** When an MCP client wants its answer; Infinity for any other call. */
	answerBy: number;
	/** When the call must be done: the earlier of `timeout.at` and `answerBy`. */
	doneBy: number;
	/** Aborted when the execution is stopped. */
	signal?: AbortSignal;
	/** Blank for the calls of an MCP server. */
	executionId: string;
	/** What n8n stores for the node with the execution; absent without an execution. */
	nodeContext?: IDataObject;
	/** Whether n8n would give this call the values of another call. */
	isMixedUp: boolean;
}

export function readCall(context: IExecuteFunctions): Call {
	const calledAt = Date.now();
	// A tool of any agent but the newest.
	const isOldTool = context.isToolExecution();
	// The newest agent runs a variant of the node, whose type ends in `Tool`, like any node (2.14.2,
	// 2.41.1). `e2e/agentTools` fails first.
	const isTool = isOldTool || context.getNode().type.endsWith('Tool');
	const nodeContext = readNodeContext(context);
	const runs = readNotedRuns(context);
	// Only the first run of each node is read, because a loop may have very many. Without any run, this is
	// Infinity.
	const begunAt = Math.min(...Object.values(runs).map(([first]) => first?.startTime ?? Infinity));
	const timeout = readTimeout(context, calledAt, begunAt);
	const answerBy =
		isTool && isBelowMcp(context) ? Math.min(calledAt, begunAt) + MCP_ANSWER_TIMEOUT : Infinity;
	return {
		context,
		calledAt,
		isTool,
		audience: readAudience(context, isTool || !nodeContext),
		// An old tool is a tool of LangChain, whose `AgentExecutor` swallows errors
		// (`get-input-connection-data.js`, 2.14.2, 2.41.1). `e2e/agentTools` fails first.
		stopsOnError: !context.continueOnFail() && !isOldTool,
		mostTries: readMostTries(context),
		timeout,
		answerBy,
		doneBy: Math.min(timeout.at, answerBy),
		signal: context.getExecutionCancelSignal(),
		executionId: (context.getExecutionId() as string | undefined) ?? '',
		nodeContext,
		isMixedUp: isOldTool && isMixedUp(context),
	};
}

/**
 * Recognizes "Execute node" of n8n's AI assistant by the name of its workflow, which n8n deletes when
 * it ends or sleeps (`execute-node.service.js`, 2.41.1). `e2e/stopAndTimeout` fails first.
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
 * Reads how often n8n calls a node for a run at most: once without Retry On Fail. When n8n wakes an
 * execution that slept, n8n counts from the start again, so a run must count its own tries
 * (`getRetryParams` in `workflow-execute.js`, 2.14.2, 2.41.1). `e2e/failedTasks` fails first.
 */
function readMostTries(context: IExecuteFunctions): number {
	const { retryOnFail, maxTries } = context.getNode();
	return retryOnFail ? Math.min(5, Math.max(2, maxTries || 3)) : 1;
}

/**
 * Reads when n8n ends the execution if it is awake. A field of the context has that moment, by the
 * timeouts of the workflow and of n8n. If the field is missing, the workflow's own timeout counts, from
 * now. `e2e/stopAndTimeout` fails first. After a sleep that n8n itself ended, n8n may end the execution
 * earlier, and no field says so.
 */
function readTimeout(context: IExecuteFunctions, calledAt: number, begunAt: number): Timeout {
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	const ownLength = executionTimeout > 0 ? executionTimeout * 1_000 : Infinity;
	const at = lookInside(context).additionalData?.executionTimeoutTimestamp ?? calledAt + ownLength;
	// A workflow that another workflow calls has the rest of its caller's time.
	return { at, length: Math.min(ownLength, begunAt < Infinity ? at - begunAt : Infinity) };
}

/** Reads what n8n has noted of the runs so far, by node. */
const readNotedRuns = (context: IExecuteFunctions): IRunData =>
	lookInside(context).runExecutionData?.resultData?.runData ?? {};

/** Reads the node's run index in the execution. n8n's proxy is slow. */
export const readRunIndex = (context: IExecuteFunctions): number =>
	context.getWorkflowDataProxy(0).$runIndex as number;

/**
 * Says whether n8n would give a call of a tool the values of another call. An agent before version 3
 * numbers its calls anew for each of its items, but n8n notes all calls in one list, from which
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
 * An MCP client, n8n's too, gives up 60 s after its own request, and then asks again. The time counts
 * from the first run that n8n has noted, because an agent between client and node may have called the
 * node several times since.
 */
const MCP_ANSWER_TIMEOUT = 44_000;

/**
 * Says whether an MCP server leads to the node, and no other trigger has started the execution. n8n names
 * an MCP trigger only in queue mode of newer versions, so a call without a trigger counts as one.
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
 * Shows a text with the execution, where n8n's list of executions finds it. n8n drops the output of an
 * execution that is stopped, but stores ten such texts of 255 characters, also in a sleep and for a
 * retry. Names are of letters, digits and underscores (`execution-metadata.js`, 2.14.2, 2.41.1).
 * `e2e/costs` and `e2e/stopAndTimeout` fail first.
 */
export function showInExecution(context: IExecuteFunctions, name: string, text: string): void {
	const { customData } = context.getWorkflowDataProxy(0).$execution as {
		customData: { set: (key: string, value: string) => void };
	};
	customData.set(name, cutText(text, 255));
}
