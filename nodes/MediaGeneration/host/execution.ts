import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeTypeAndVersion,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { cutText } from '../lib/text';

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

/** Reads how the execution was started. */
export function readStarter(context: IExecuteFunctions): Starter {
	const { name } = context.getNode();
	const { triggerNode, parentExecutionId } = context.getExecutionContext?.() ?? {};
	return {
		mode: context.getMode(),
		executionId: (context.getExecutionId() as string | undefined) ?? '',
		isTool: isTool(context),
		isSingleNode: isSingleNode(context),
		startedBy: findStart(context) ?? triggerNode?.name,
		callerWaits: parentExecutionId !== undefined && !doesCallerGoOn(context),
		parents: context.getParentNodes(name, { includeNodeParameters: true }),
		hasResponded: (above) =>
			context
				.getChildNodes(above)
				.some(({ type, name: below }) => type === RESPOND_NODE && isExecuted(context, below)),
	};
}

/** Recognizes a call by an AI agent. The newest agent runs a variant of the node, like any node. */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.isToolExecution() || context.getNode().type.endsWith('Tool');

/** The field of a tool's context with the calls that n8n has noted (2.14.2, 2.41.1). */
interface NotedCalls {
	runExecutionData?: {
		resultData?: {
			runData?: Record<string, Array<{ inputOverride?: { ai_tool?: INodeExecutionData[][] } }>>;
		};
	};
}

/**
 * Says whether n8n would give a call the values of another one. Several items of an agent before
 * version 3 number their calls each for itself, but n8n notes all in one list, from which `$fromAI`
 * reads by that number (`get-input-connection-data.js`, `workflow-data-proxy.js`).
 * `e2e/agentTools` fails first.
 */
export function isMixedUp(context: IExecuteFunctions): boolean {
	if (!context.isToolExecution()) return false;
	const { runExecutionData } = context as unknown as NotedCalls;
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	const noted = runExecutionData?.resultData?.runData?.[context.getNode().name]?.[run];
	const input = noted?.inputOverride?.ai_tool?.[0]?.[0];
	return input !== undefined && input.json !== context.getInputData()[0]?.json;
}

/** Says whether a model reads the output: of a tool, or without an execution, as in n8n's Agents. */
export const isForModel = (context: IExecuteFunctions): boolean =>
	isTool(context) || !getNodeContext(context);

/**
 * Recognizes "Execute node" of n8n's AI assistant by the name of its workflow, which n8n deletes at
 * its end or sleep (`execute-node.service.js`, 2.41.1). `e2e/stopAndTimeout` fails first.
 */
export const isSingleNode = (context: IExecuteFunctions): boolean =>
	context.getWorkflow().name === `Execute node ${context.getNode().type}`;

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

/** The fields of n8n's contexts that its URLs are made of (2.14.2, 2.41.1). */
interface UrlFields {
	runExecutionData?: { resumeToken?: string } | null;
	additionalData?: { webhookWaitingBaseUrl?: string };
}

/**
 * Reads what is secret in the execution's resume URL: the token, which n8n keeps with the execution,
 * and its address, which may have a login (`get-additional-keys.js`). `e2e/trigger` and
 * `e2e/reachability` fail first.
 */
export function readResumeSecrets(context: object): { token?: string; address?: string } {
	const { runExecutionData, additionalData } = context as UrlFields;
	return {
		token: runExecutionData?.resumeToken,
		address: additionalData?.webhookWaitingBaseUrl,
	};
}

/**
 * Returns what n8n keeps for the node with the execution; undefined without one: in n8n's Agents
 * `getContext` throws (`ephemeral-node-executor.js`, 2.41.1). `e2e/agents` fails first.
 */
export function getNodeContext(context: IExecuteFunctions): IDataObject | undefined {
	try {
		return context.getContext('node');
	} catch {
		return undefined;
	}
}

/**
 * Shows a text with the execution. n8n drops the output of one that is stopped, but keeps 255
 * characters of custom data (2.14.2, 2.41.1). `e2e/stopAndTimeout` fails first.
 */
export function showInExecution(context: IExecuteFunctions, name: string, text: string): void {
	const { customData } = context.getWorkflowDataProxy(0).$execution as {
		customData: { set: (key: string, value: string) => void };
	};
	customData.set(name, cutText(text, 255));
}
