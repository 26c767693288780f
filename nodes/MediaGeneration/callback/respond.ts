import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { Memory } from '../lib/memory';
import type { Refusal, Refused } from './verify';

/** Senders get an answer within this time, in milliseconds. They usually give up after 5 to 15 s. */
export const ANSWER = 5_000;

/** For both receivers: the service doesn't confirm the callback yet. */
export const UNCONFIRMED = {
	detailsUnavailable: [503, "The task's details are unavailable. Retry later."],
	taskNotEnded: [503, 'According to its details, the task has not ended. Retry once it has.'],
} as const satisfies Record<string, Refusal>;

/** Answers the sender. No execution starts or continues. */
export function answer(
	context: IWebhookFunctions,
	status: number,
	body: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true };
}

/** Refuses a callback, and logs why for the owner. @param refusals the receiver's, by reason */
export function refuseCallback<Reason extends string>(
	context: IWebhookFunctions,
	refusals: Record<Reason, Refusal>,
	{ reason, clockDifferenceSeconds, cause }: Refused<Reason>,
): IWebhookResponseData {
	const [status, message] = refusals[reason];
	const difference =
		clockDifferenceSeconds !== undefined &&
		`${Math.abs(clockDifferenceSeconds)} s ${clockDifferenceSeconds < 0 ? 'behind' : 'ahead of'} the clock here`;
	const facts = [`${status} ${reason}`, difference, cause].filter(Boolean).join('; ');
	warnOwner(context, reason, `refused a callback: ${message} (${facts})`);
	return answer(context, status, { accepted: false, reason, message });
}

/** A node logs one subject at most once in this time, in milliseconds: anyone can send callbacks. */
const QUIET = 60_000;

/** The last line by node and subject, and how many were left out since. */
const lines = new Memory<{ since: number; omitted: number }>('warnings');

/** Warns the owner in n8n's log, which shows warnings by default. */
export function warnOwner(context: IWebhookFunctions, subject: string, text: string): void {
	const { id: workflowId } = context.getWorkflow();
	const { id, name } = context.getNode();
	const key = `${workflowId}:${id}:${subject}`;
	const last = lines.get(key);
	if (last && Date.now() - last.since < QUIET) {
		last.omitted++;
		return;
	}
	lines.set(key, { since: Date.now(), omitted: 0 });
	const more = last?.omitted ? ` ${last.omitted} more since the last line.` : '';
	context.logger.warn(`"${name}" ${text}${more}`, { workflowId });
}
