import {
	NodeApiError,
	NodeOperationError,
	type INode,
	type INodeExecutionData,
} from 'n8n-workflow';
import { FieldError } from '../models/field';
import { ServiceError } from '../service/client';
import { EndpointError } from '../service/endpoints';
import { OperationError } from './operation';

const isOwn = (error: unknown): error is ServiceError | FieldError | OperationError =>
	error instanceof ServiceError || error instanceof FieldError || error instanceof OperationError;

/** An error of ours as what happened and what to do next; any other one as it says itself. */
function explained(error: unknown, itemIndex?: number): { message: string; description: string } {
	const { message } = error as Error;
	const description = isOwn(error) ? error.description : '';
	return {
		message: itemIndex === undefined ? message : `${message} [item ${itemIndex}]`,
		description,
	};
}

/**
 * What ends a run, in n8n's own classes.
 * @param itemIndex absent: it concerns all items
 * @param createdTaskIds tasks that exist and were paid for, but that the output does not give to the user any more
 */
export function nodeErrorOf(
	node: INode,
	error: unknown,
	itemIndex?: number,
	createdTaskIds: string[] = [],
): NodeApiError | NodeOperationError {
	const { message, description } = explained(error, itemIndex);
	const kept = createdTaskIds.length
		? `These tasks were created before and go on; look at them with Get: ${createdTaskIds.join(', ')}`
		: '';
	const options = { description: [description, kept].filter(Boolean).join(' '), itemIndex };
	const own = isOwn(error) || error instanceof EndpointError;
	const nodeError =
		error instanceof ServiceError
			? new NodeApiError(node, { message }, { ...options, httpCode: error.code?.toString() })
			: new NodeOperationError(node, own ? message : (error as Error), options);
	// n8n puts a text of its own in place of many messages; some advise to retry, which may pay twice.
	nodeError.message = message;
	return nodeError;
}

/**
 * The output item of an item that did not succeed in a run that goes on. n8n takes an item of these keys, and of no
 * others, for its error output, and adds the fields of the input item there.
 */
export function errorItemOf(error: unknown, itemIndex: number): INodeExecutionData {
	const { message, description } = explained(error, itemIndex);
	return {
		json: { error: message, ...(description && { message: description }) },
		pairedItem: { item: itemIndex },
	};
}
