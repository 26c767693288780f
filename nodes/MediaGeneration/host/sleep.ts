import type {
	IDataObject,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';

type Input = Array<INodeExecutionData[] | null>;

/** The fields of a webhook's context that have no function (2.14.2, 2.41.1). */
interface WebhookFields {
	runExecutionData?: {
		executionData?: {
			contextData?: Record<string, IDataObject>;
			nodeExecutionStack?: Array<{ node: INode }>;
		};
	};
}

/** Reads the node's whole input. Under Execute Once, `getInputData()` has its first item only. */
export const readInput = (context: IExecuteFunctions): Input => context.getExecuteData().data.main!;

/**
 * Makes n8n store these items as the input of the node that falls asleep. If n8n ends the sleep by
 * itself, it outputs that input (`handleWaitingState` in `workflow-execute.js`, 2.14.2, 2.41.1).
 * n8n asks nodes not to change their input, but no other way keeps all task IDs. `e2e/sleep` fails
 * first.
 */
export function storeItems(context: IExecuteFunctions, items: INodeExecutionData[]): void {
	context.getExecuteData().data.main = [[...items]];
}

/** Reads the items of `storeItems`. */
export const readStoredItems = (context: IExecuteFunctions): INodeExecutionData[] => [
	...(readInput(context)[0] ?? []),
];

/**
 * Returns what n8n keeps for the node with the execution, in a webhook, which has no function for
 * it. n8n stores its changes if the webhook returns items. `e2e/sleep` fails first.
 */
export const readNodeContext = (context: IWebhookFunctions): IDataObject | undefined =>
	readExecutionData(context)?.contextData?.[`node:${context.getNode().name}`];

/**
 * Has n8n run the node, with the items that the webhook returns as its input. n8n disables the
 * node that slept, so that its input passes through (`disableNode` in `waiting-webhooks.js`,
 * 2.14.2, 2.41.1). `e2e/sleep` fails first.
 */
export function enableNode(context: IWebhookFunctions): void {
	const [entry] = readExecutionData(context)?.nodeExecutionStack ?? [];
	if (entry) entry.node.disabled = false;
}

const readExecutionData = (context: IWebhookFunctions) =>
	(context as unknown as WebhookFields).runExecutionData?.executionData;
