import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { BoundedMap } from '../lib/boundedMap';

/** Time for task details and everything else before a callback is answered: senders give up after 5 to 15 seconds. */
export const DETAILS_SETTINGS = { timeoutSeconds: 4 };

/** An answer of n8n's is waited for so long, in milliseconds. Senders have given up and retried long before. */
export const ANSWER_LIMIT = 60_000;

/** The reason for which a callback is turned away. All of it is our words, save the time that the sender gave. */
export interface Refused {
	status: number;
	reason: string;
	message: string;
	clockDifferenceSeconds?: number;
}

export const TASK_NOT_ENDED: Refused = {
	status: 503,
	reason: 'taskNotEnded',
	message: 'By its details the task has not ended. Retry when it has.',
};

export const DETAILS_UNAVAILABLE: Refused = {
	status: 503,
	reason: 'detailsUnavailable',
	message: "The task's details are temporarily unavailable. Retry later.",
};

/** Answers the sender in our own words; nothing starts or continues. */
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
 * Hands the items to n8n, which answers when it has stored the execution with them, and with 500 when it could not. So a sender
 * that hears 200 need not send again.
 * @param onStored is called when n8n has stored the execution, before it saves static data and answers; returns the answer
 */
export const handOver = (
	items: INodeExecutionData[],
	onStored: () => IDataObject,
): IWebhookResponseData => ({
	get webhookResponse() {
		return onStored();
	},
	workflowData: [items],
});

/** Seconds in which a node logs one line for each reason: anyone can send callbacks. */
const QUIET_SECONDS = 60;

/** The last line by node and reason, and how many refusals since were not logged. */
const lines = new BoundedMap<string, { since: number; unlogged: number }>(1_000);

/** Tells the owner in n8n's log why a callback was refused, at a level that n8n logs by default. */
export function logRefusal(
	context: Pick<IWebhookFunctions, 'logger' | 'getNode' | 'getWorkflow'>,
	{ status, reason, message, clockDifferenceSeconds }: Refused,
): void {
	const now = Date.now() / 1000;
	const key = `${context.getWorkflow().id}:${context.getNode().id}:${reason}`;
	const last = lines.get(key);
	if (last && now - last.since < QUIET_SECONDS) {
		last.unlogged++;
		return;
	}
	lines.set(key, { since: now, unlogged: 0 });
	const facts = [
		`${status} ${reason}`,
		clockDifferenceSeconds !== undefined &&
			`${Math.abs(clockDifferenceSeconds)} s ${clockDifferenceSeconds < 0 ? 'behind' : 'ahead of'} the clock here`,
		last?.unlogged && `${last.unlogged} more since the last line`,
	];
	context.logger.warn(
		`"${context.getNode().name}" refused a callback: ${message} (${facts.filter(Boolean).join('; ')}). To find out more, use Task: Verify Callback of the Media Generation node.`,
		{ workflowId: context.getWorkflow().id },
	);
}
