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
	/** What was thrown, if it isn't an error of ours. */
	cause?: Error;
	/** Present if a service refused something. */
	answer?: { httpCode?: string };
}

/**
 * Makes n8n's own error, with this message. n8n replaces many messages with its own, and some of
 * those advise a retry, which may cost twice (`node-api.error.js`, `node.error.js`; 2.14.2, 2.41.1).
 * `unit/run/errors` fails first. The editor makes HTML of the description, and adds the number of the
 * item to the message where it is given, counted from 0 (`NodeErrorView`; 2.41.1). `e2e/editor` fails
 * first.
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
 * Makes the item of an error, in a run that continues. n8n sends an item to the error output if it has
 * these keys and no others, before 2.34 without `details`, or if it has an `error` beside its JSON. It
 * adds the fields of the input item there, and would then put that `error` in place of the JSON if it
 * could be listed (`handleNodeErrorOutput` and `lineResult` in `workflow-execute.js`, 2.14.2, 2.41.1).
 * `e2e/failedTasks` fails first.
 * @param known of the item: all, and what stands in `details` at the error output
 */
export function buildErrorItem(
	{ onError }: INode,
	{ message, description, itemIndex }: { message: string; description: string; itemIndex: number },
	{ beside, details }: { beside?: object; details?: object } = {},
): INodeExecutionData {
	const error = { error: message, ...(description && { message: description }) };
	const pairedItem = { item: itemIndex };
	if (onError !== 'continueErrorOutput') return { json: { ...beside, ...error }, pairedItem };
	const item = { json: { ...error, ...(details && { details }) }, pairedItem };
	// Should n8n put it in place of the JSON after all, the ID of the task is in it.
	const whole = { message: joinTexts(message, description) };
	return details ? Object.defineProperty(item, 'error', { value: whole }) : item;
}

const joinTexts = (...texts: unknown[]): string => texts.filter(Boolean).join('. ');

/**
 * Puts the error of an item beside its JSON, for a node that falls asleep. There it outlasts n8n's
 * storing, and every version knows it at the error output. In the JSON of the first item, n8n would
 * try the node again before it stores the sleep (`handleNodeErrorOutput` and `processRunExecutionData`
 * in `workflow-execute.js`, 2.14.2, 2.41.1). n8n puts it in place of the JSON. `e2e/uncalled` fails
 * first.
 */
export function moveError(item: INodeExecutionData): INodeExecutionData {
	const { error, message } = item.json;
	if (error === undefined) return item;
	const moved = { message: joinTexts(error, message) } as NodeOperationError;
	return { json: {}, error: moved, pairedItem: item.pairedItem };
}
