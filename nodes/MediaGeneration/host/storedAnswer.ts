import type { IDataObject, INodeExecutionData, IWebhookResponseData } from 'n8n-workflow';

/**
 * Gives items to n8n, which answers the sender when it has stored the execution, or 500 when it could
 * not. A sender that gets 200 is done. n8n reads `webhookResponse` only once the execution is stored,
 * so a getter notices that (`webhook-helpers.js` and `webhook-on-received-response-extractor.js` of
 * n8n, 2.14.2 and 2.41.1). `e2e/openInternet` fails first.
 * @param onStored is called when n8n has stored the execution, before it saves static data and answers;
 * returns the answer
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
