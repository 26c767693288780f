import type { IExecuteFunctions, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';

/**
 * Makes n8n store these items as the input of the node that parks. When n8n ends a wait by itself,
 * it outputs that input, and a webhook sees only it (`handleWaitingState` in `workflow-execute.js`,
 * 2.14.2, 2.41.1). n8n asks nodes not to change their input, but no other way keeps all task IDs.
 * `getInputData()` is a copy under Execute Once. `e2e/createAndWait` fails first.
 */
export function storeItems(context: IExecuteFunctions, items: INodeExecutionData[]): void {
	context.getExecuteData().data.main = [[...items]];
}

/** Reads the items of `storeItems`. */
export const readStoredItems = (context: IExecuteFunctions): INodeExecutionData[] => [
	...(context.getExecuteData().data.main?.[0] ?? []),
];

/**
 * Reads the parked items, and an entry of the node's context, in a webhook. It has no function for
 * either, but expressions have (`webhook-context.js`, `workflow-data-proxy.js`; 2.14.2, 2.41.1).
 * `e2e/createAndWait` fails first.
 * @param path of the entry, such as `run.wait`
 */
export function readParked<Entry>(
	context: IWebhookFunctions,
	path: string,
): { items: INodeExecutionData[]; entry?: Entry } {
	const name = JSON.stringify(context.getNode().name).replaceAll('}', '\\u007d');
	return context.evaluateExpression(
		`{{ { items: $input.all(), entry: $node[${name}].context.${path} } }}`,
	) as unknown as { items: INodeExecutionData[]; entry?: Entry };
}
