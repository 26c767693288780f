import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { SLUG } from '../lib/brand';
import { moveError } from './nodeErrors';
import { lookInside } from './internals';

/**
 * The name under which n8n stores the input of a node that sleeps: beside the node's connections, so
 * that n8n redacts it like other data (`full-item-redaction.strategy.js`, 2.41.1). `e2e/sleep` fails
 * first.
 */
const INPUT_NAME = `${SLUG}-input`;

/**
 * Makes n8n store these items as the input of the node that falls asleep. If n8n ends the sleep by
 * itself, it outputs that input (`handleWaitingState` in `workflow-execute.js`, 2.14.2, 2.41.1).
 * n8n asks nodes not to change their input, but without this the task IDs would be lost. `e2e/sleep`
 * fails first. The real input is stored from `data.main`, which is whole: under Execute Once,
 * `getInputData()` has the first item only.
 * @returns copies of the items, for the node to return: n8n changes what a node returns
 */
export function storeItems(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
): INodeExecutionData[] {
	const { data } = context.getExecuteData();
	const stored = items.map(moveError);
	data[INPUT_NAME] ??= data.main ?? [];
	data.main = [stored];
	return stored.map((item) => ({ ...item }));
}

/**
 * Reads the node context in a webhook, where n8n has no function for it. n8n stores changes of the
 * context if the webhook returns items. `e2e/sleep` fails first.
 */
export const findNodeContext = (context: IWebhookFunctions): IDataObject | undefined =>
	readExecutionData(context)?.contextData?.[`node:${context.getNode().name}`];

/**
 * Has n8n run the node, with the items that the webhook returns as its input. n8n disables the
 * node that slept, so that its input passes through (`disableNode` in `waiting-webhooks.js`,
 * 2.14.2, 2.41.1). `e2e/sleep` fails first.
 * @returns the input that the node had when it fell asleep
 */
export function enableNode(context: IWebhookFunctions): INodeExecutionData[][] {
	const [next] = readExecutionData(context)?.nodeExecutionStack ?? [];
	if (!next) return [];
	const { [INPUT_NAME]: input = [], ...data } = next.data;
	next.node.disabled = false;
	next.data = data;
	return input as INodeExecutionData[][];
}

const readExecutionData = (context: IWebhookFunctions) =>
	lookInside(context).runExecutionData?.executionData;
