import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { cutText } from '../lib/text';

/**
 * Recognizes a call by an AI agent. The newest agent runs a variant of the node, whose type ends in
 * `Tool`, like any node (2.14.2, 2.41.1). `e2e/agentTools` fails first.
 */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.isToolExecution() || context.getNode().type.endsWith('Tool');

/** What n8n has noted of a run of a node. */
interface NotedRun {
	startTime: number;
	/** Of a tool: what it was called with. */
	inputOverride?: { ai_tool?: INodeExecutionData[][] };
}

/** Reads what n8n's context has of the runs so far, by node (2.14.2, 2.41.1). */
export function readNotedRuns(context: IExecuteFunctions): Record<string, NotedRun[]> {
	const { runExecutionData } = context as unknown as {
		runExecutionData?: { resultData?: { runData?: Record<string, NotedRun[]> } };
	};
	return runExecutionData?.resultData?.runData ?? {};
}

/**
 * Says whether n8n would give a call the values of another one. Several items of an agent before
 * version 3 number their calls each for itself, but n8n notes all in one list, from which `$fromAI`
 * reads by that number (`get-input-connection-data.js`, `workflow-data-proxy.js`).
 * `e2e/agentTools` fails first.
 */
export function isMixedUp(context: IExecuteFunctions): boolean {
	if (!context.isToolExecution()) return false;
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	const noted = readNotedRuns(context)[context.getNode().name]?.[run];
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
