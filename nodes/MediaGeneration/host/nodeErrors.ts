import {
	NodeApiError,
	NodeOperationError,
	type INode,
	type INodeExecutionData,
} from 'n8n-workflow';
import { toPlainError } from '../lib/text';

/** What is shown of an error that ends a run. */
interface ShownError {
	message: string;
	/** Plain lines below it. */
	lines: string[];
	/** The error that was thrown, if it isn't one of ours. */
	cause?: Error;
	/** Present if the service answered. */
	answer?: { httpCode?: string };
}

/**
 * Builds n8n's own error, with this message. n8n replaces many messages with its own, and some of n8n's
 * messages advise a retry, which may cost twice (`node-api.error.js`, `node.error.js`; 2.14.2, 2.41.1).
 * `unit/run/errors` fails first. The editor makes HTML of the description. If an error has an item
 * index, the editor adds it to the message, counted from 0 (`NodeErrorView`; 2.41.1). `e2e/editor`
 * fails first.
 */
export function buildNodeError(
	node: INode,
	{ message, lines, cause, answer }: ShownError,
): NodeApiError | NodeOperationError {
	const options = { description: lines.join(' ') };
	const error = answer
		? new NodeApiError(node, { message }, { ...options, ...answer })
		: new NodeOperationError(node, cause ?? message, options);
	error.message = message;
	delete error.context.itemIndex;
	toPlainError(error);
	if (lines.length) error.description = lines.join('<br>');
	return error;
}

/**
 * Builds the item of an error, in a run that continues. n8n sends an item to the error output if its JSON
 * has only the keys `error`, `message` and `details` (before 2.34, not `details`), or if the item has an
 * `error` beside its JSON. At that output, n8n adds the fields of the input item. It would put an
 * enumerable `error` in place of the JSON, so ours isn't enumerable (`handleNodeErrorOutput` and
 * `lineResult` in `workflow-execute.js`, 2.14.2, 2.41.1). `e2e/failedTasks` fails first.
 * @param shown `beside` is output beside the error, `details` at the error output
 */
export function buildErrorItem(
	{ onError }: INode,
	item: number,
	shown: { message: string; description: string; beside?: object; details?: object },
): INodeExecutionData {
	const { message, description, beside, details } = shown;
	const error = { error: message, ...(description && { message: description }) };
	const pairedItem = { item };
	if (onError !== 'continueErrorOutput') return { json: { ...beside, ...error }, pairedItem };
	const errorItem = { json: { ...error, ...(details && { details }) }, pairedItem };
	// The description has the task's ID, should n8n put this error in place of the JSON after all.
	const whole = { message: joinTexts(message, description) };
	return details ? Object.defineProperty(errorItem, 'error', { value: whole }) : errorItem;
}

const joinTexts = (...texts: unknown[]): string => texts.filter(Boolean).join('. ');

/**
 * Puts the error of an item beside its JSON, for a node that falls asleep. From there, every version of
 * n8n stores the error, sends the item to the error output, and puts the error in place of the JSON. An
 * error within the JSON of the first item would make n8n try the node again before it stores the sleep
 * (`handleNodeErrorOutput` and `processRunExecutionData` in `workflow-execute.js`, 2.14.2, 2.41.1).
 * `e2e/withoutCallback` fails first.
 */
export function moveError(item: INodeExecutionData): INodeExecutionData {
	const { error, message } = item.json;
	if (error === undefined) return item;
	const whole = { message: joinTexts(error, message) } as NodeOperationError;
	return { json: {}, error: whole, pairedItem: item.pairedItem };
}
