import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { judgeCallback, type Acceptance, type CallbackSettings, type Refusal } from './callback';

/** How many seconds the time stamp of a callback may differ from the time here, where the user sets nothing else. */
export const TOLERANCE_SECONDS = 300;

/** Time for task details, and all else that is waited for, before a callback is answered: senders give up after 5 to 15 seconds. */
export const DETAILS_SETTINGS = { timeoutSeconds: 4 };

/** The verdict on the request that called a webhook. */
export const judgeRequest = (
	context: IWebhookFunctions,
	settings: CallbackSettings,
): Refusal | Acceptance =>
	judgeCallback(context.getHeaderData(), context.getBodyData() as unknown, settings);

/**
 * Answers the sender in our own words, and says what n8n is to do: go on with these items, or nothing.
 */
export function answer(
	context: IWebhookFunctions,
	status: number,
	body: IDataObject,
	items?: INodeExecutionData[],
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true, ...(items && { workflowData: [items] }) };
}

/** Turns the sender away with the reason. */
export function refuse(
	context: IWebhookFunctions,
	{ status, reason, message }: { status: number; reason: string; message: string },
): IWebhookResponseData {
	return answer(context, status, { accepted: false, reason, message });
}

export const TASK_NOT_ENDED = {
	status: 503,
	reason: 'taskNotEnded',
	message: 'By its details the task has not ended; call again when it has',
};
