import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

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

/** Reads the number of the run among those of the node in the execution. n8n's proxy is slow. */
export const readRunIndex = (context: IExecuteFunctions): number =>
	context.getWorkflowDataProxy(0).$runIndex as number;

/**
 * Says whether n8n would give a call of a tool the values of another one. Several items of an agent
 * before version 3 number their calls each for itself, but n8n notes all in one list, from which
 * `$fromAI` reads by that number (`get-input-connection-data.js`, `workflow-data-proxy.js`).
 * `e2e/agentTools` fails first.
 */
export function isMixedUp(context: IExecuteFunctions): boolean {
	const noted = readNotedRuns(context)[context.getNode().name]?.[readRunIndex(context)];
	const input = noted?.inputOverride?.ai_tool?.[0]?.[0];
	return input !== undefined && input.json !== context.getInputData()[0]?.json;
}
