import {
	NodeApiError,
	NodeOperationError,
	UserError,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { ServiceError } from '../api/client';
import { isTool } from './nodeContext';

/** Says what happened and what to do next. An agent's model reads the message alone, so it holds both then. */
function explain(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex?: number,
	createdTaskIds: string[] = [],
): { message: string; description: string } {
	const { message } = error as Error;
	const description = [
		error instanceof UserError && error.description,
		createdTaskIds.length &&
			`These tasks were created before and continue. Look at them with Get: ${createdTaskIds.join(', ')}`,
	]
		.filter(Boolean)
		.join(' ');
	if (isTool(context))
		return { message: [message, description].filter(Boolean).join('. '), description: '' };
	return {
		message: itemIndex === undefined ? message : `${message} [item ${itemIndex}]`,
		description,
	};
}

/**
 * Turns what ended a run into n8n's own classes.
 * @param itemIndex absent: it concerns all items
 * @param createdTaskIds tasks that exist and were paid for, but that the output does not hold any more
 */
export function toNodeError(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex?: number,
	createdTaskIds?: string[],
): NodeApiError | NodeOperationError {
	const { message, description } = explain(context, error, itemIndex, createdTaskIds);
	const options = { description, itemIndex };
	const node = context.getNode();
	const nodeError =
		error instanceof ServiceError
			? new NodeApiError(node, { message }, { ...options, httpCode: error.code?.toString() })
			: new NodeOperationError(
					node,
					error instanceof UserError ? message : (error as Error),
					options,
				);
	// n8n replaces many messages by its own; some of them advise to retry, which may pay twice.
	nodeError.message = message;
	return nodeError;
}

/**
 * Makes the output item of an item that did not succeed in a run that continues. n8n takes an item of these keys, and of no
 * others, for its error output, and adds the fields of the input item there.
 */
export function toErrorItem(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex: number,
): INodeExecutionData {
	const { message, description } = explain(context, error, itemIndex);
	return {
		json: { error: message, ...(description && { message: description }) },
		pairedItem: { item: itemIndex },
	};
}
