import type { IDataObject, INodeExecutionData, IWebhookResponseData } from 'n8n-workflow';

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
