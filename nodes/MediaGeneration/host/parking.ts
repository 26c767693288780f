import type { IExecuteFunctions, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';

/**
 * Makes n8n store these items as the input of the node that parks. When n8n ends a wait by itself, it
 * does not run the node again: it outputs the node's input, and a webhook sees only that input
 * (`handleWaitingState` in `workflow-execute.js` of n8n-core, 2.14.2 and 2.41.1). n8n asks nodes not
 * to change their input, but no other way keeps all task IDs. `getInputData()` is a copy of it under
 * Execute Once, so what n8n stores is changed. `e2e/createAndWait` fails first.
 */
export function storeItems(context: IExecuteFunctions, items: INodeExecutionData[]): void {
	context.getExecuteData().data.main = [[...items]];
}

/** Reads the items of `storeItems`. */
export const readStoredItems = (context: IExecuteFunctions): INodeExecutionData[] => [
	...(context.getExecuteData().data.main?.[0] ?? []),
];

/**
 * Reads the parked items, and an entry of the node's context, in a webhook. A webhook has no function
 * for either, so an expression reads them: `$input` is the first entry of the execution's stack
 * (`webhook-context.js` of n8n-core), `$node[…].context` the node's context
 * (`workflow-data-proxy.js` of n8n-workflow); both in 2.14.2 and 2.41.1. `e2e/createAndWait` fails
 * first.
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
