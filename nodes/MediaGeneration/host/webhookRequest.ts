import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';

/**
 * Reads a webhook's request, with the bytes of its body, which n8n has beside the body (`body-parser.js`,
 * 2.14.2, 2.41.1). `e2e/trigger` fails first, for the body.
 */
export function readRequest(context: IWebhookFunctions) {
	const { rawBody } = context.getRequestObject() as { rawBody?: Buffer };
	return {
		headers: context.getHeaderData(),
		body: context.getBodyData() as unknown,
		bytes: rawBody ?? Buffer.alloc(0),
	};
}

/**
 * Gives items to n8n, which answers the sender when it has stored the execution, or 500 when it
 * could not. n8n reads `webhookResponse` only after storing, so reading it is our signal
 * (`webhook-helpers.js`, 2.14.2, 2.41.1). `e2e/concurrencyLimit` fails first.
 * @param onStored returns the answer; n8n saves static data after it
 */
export const answerOnceStored = (
	items: INodeExecutionData[],
	onStored: () => IDataObject,
): IWebhookResponseData => ({
	get webhookResponse() {
		return onStored();
	},
	workflowData: [items],
});

/** The fields of a webhook's response that tell whether n8n took what the webhook returned. */
export type HeldResponse = Pick<
	ReturnType<IWebhookFunctions['getResponseObject']>,
	'statusCode' | 'writableEnded'
>;

/**
 * Says whether n8n still works on what the webhook of this response returned. n8n answers once it
 * has stored the execution, or could not. Before that it may wait for a slot of its concurrency
 * limit, for hours, and it claims a sleeping execution only afterwards (`webhook-helpers.js`,
 * `active-executions.js`; 2.14.2, 2.41.1). Events don't tell: after a hang-up `close` comes at
 * once, with status 200, and `finish` never.
 *
 * Keep answers below 1 kB: n8n compresses longer ones, and a compressed response never ends after a
 * hang-up. Neither does the response of an execution that a user stops while it waits for its slot.
 * `e2e/concurrencyLimit` fails first.
 */
export const isUnderway = ({ writableEnded }: HeldResponse): boolean => !writableEnded;

/** Says whether n8n has taken what the webhook returned: only then n8n answers 200. */
export const wasDelivered = ({ statusCode, writableEnded }: HeldResponse): boolean =>
	writableEnded && statusCode === 200;
