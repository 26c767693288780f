import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { SLUG } from '../lib/brand';
import { moveError } from './errors';
import { lookInside } from './internals';

/**
 * The name under which the input of a node that sleeps is kept: like a connection, so that n8n redacts
 * it as it does other data (`full-item-redaction.strategy.js`, 2.41.1). `e2e/sleep` fails first.
 */
const INPUT = `${SLUG}-input`;

/**
 * Makes n8n store these items as the input of the node that falls asleep. If n8n ends the sleep by
 * itself, it outputs that input (`handleWaitingState` in `workflow-execute.js`, 2.14.2, 2.41.1).
 * n8n asks nodes not to change their input, but no other way keeps all task IDs. `e2e/sleep` fails
 * first. The real input is kept whole: under Execute Once, `getInputData()` has its first item only.
 * @returns what the node returns: n8n changes those items, so they are copies
 */
export function storeItems(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
): INodeExecutionData[] {
	const { data } = context.getExecuteData();
	const stored = items.map(moveError);
	data[INPUT] ??= data.main ?? [];
	data.main = [stored];
	return stored.map((item) => ({ ...item }));
}

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
 * @returns the input that the node had when it fell asleep
 */
export function enableNode(context: IWebhookFunctions): INodeExecutionData[][] {
	const [entry] = readExecutionData(context)?.nodeExecutionStack ?? [];
	if (!entry) return [];
	const { [INPUT]: input = [], ...data } = entry.data;
	entry.node.disabled = false;
	entry.data = data;
	return input as INodeExecutionData[][];
}

const readExecutionData = (context: IWebhookFunctions) =>
	lookInside(context).runExecutionData?.executionData;
