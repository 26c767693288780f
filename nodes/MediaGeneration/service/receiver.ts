import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { judgeCallback, type Acceptance, type CallbackSettings, type Refusal } from './callback';
import { logRefusal, type Refused } from './refusals';

/** Time for task details, and all else that is waited for, before a callback is answered: senders give up after 5 to 15 seconds. */
export const DETAILS_SETTINGS = { timeoutSeconds: 4 };

/** The verdict on the request that called a webhook. */
export const judgeRequest = (
	context: IWebhookFunctions,
	settings: CallbackSettings,
): Refusal | Acceptance =>
	judgeCallback(context.getHeaderData(), context.getBodyData() as unknown, settings);

/** Answers the sender in our own words; nothing starts or goes on. */
export function answer(
	context: IWebhookFunctions,
	status: number,
	body: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true };
}

/** Turns the sender away with the reason, which the owner finds in n8n's log. */
export function refuse(context: IWebhookFunctions, refused: Refused): IWebhookResponseData {
	logRefusal(context, refused);
	const { status, reason, message } = refused;
	return answer(context, status, { accepted: false, reason, message });
}

/**
 * Hands the items to n8n, which gives the answer when it has stored the execution with them, and 500 when it could not: a
 * sender that hears 200 need not call again.
 * @param answerWith is asked for the answer then, before n8n saves static data
 */
export const handOver = (
	items: INodeExecutionData[],
	answerWith: () => IDataObject,
): IWebhookResponseData => ({
	get webhookResponse() {
		return answerWith();
	},
	workflowData: [items],
});

export const TASK_NOT_ENDED: Refused = {
	status: 503,
	reason: 'taskNotEnded',
	message: 'By its details the task has not ended; call again when it has',
};
