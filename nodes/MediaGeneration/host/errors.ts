import {
	NodeApiError,
	NodeOperationError,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
} from 'n8n-workflow';
import { toPlainError } from '../lib/text';

/**
 * Says whether what the node throws gets lost: a tool of any agent but the newest is one of
 * LangChain's, whose `AgentExecutor` swallows errors (`get-input-connection-data.js`, 2.14.2,
 * 2.41.1). `e2e/agentTools` fails first.
 */
export const swallowsErrors = (context: IExecuteFunctions): boolean => context.isToolExecution();

/** What is shown of an error. */
interface ShownError {
	message: string;
	description: string;
	itemIndex?: number;
	/** What was thrown, if it isn't an error of ours. */
	cause?: Error;
	/** Present if a service refused something. */
	refusal?: { httpCode?: string };
}

/**
 * Makes n8n's own error, with this message. n8n replaces many messages with its own, and some of
 * those advise a retry, which may cost twice (`node-api.error.js`, `node.error.js`; 2.14.2, 2.41.1).
 * `unit/operations/errors` fails first.
 */
export function buildNodeError(
	node: INode,
	{ message, description, itemIndex, cause, refusal }: ShownError,
): NodeApiError | NodeOperationError {
	const options = { description, itemIndex };
	const error = refusal
		? new NodeApiError(node, { message }, { ...options, ...refusal })
		: new NodeOperationError(node, cause ?? message, options);
	error.message = message;
	return toPlainError(error);
}

/**
 * Makes the item of an error, in a run that continues. n8n sends an item to the error output only if
 * it has these keys and no others, and adds the fields of the input item there
 * (`handleNodeErrorOutput` in `workflow-execute.js`, 2.14.2, 2.41.1). `e2e/sleep` fails first.
 * @param beside what else is known of the item, which is left out at the error output
 */
export function buildErrorItem(
	{ onError }: INode,
	{ message, description, itemIndex = 0 }: ShownError,
	beside: object = {},
): INodeExecutionData {
	const error = { error: message, ...(description && { message: description }) };
	const json = onError === 'continueErrorOutput' ? error : { ...beside, ...error };
	return { json, pairedItem: { item: itemIndex } };
}
