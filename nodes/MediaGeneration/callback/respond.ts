import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { BoundedMap } from '../lib/boundedMap';
import { REFUSALS, type Refused } from './refusals';

/** The milliseconds in which a sender is answered. Senders usually give up after 5 to 15 s. */
export const ANSWER_WITHIN = 5_000;

/** Answers the sender. Nothing starts or continues. */
export function answer(
	context: IWebhookFunctions,
	status: number,
	body: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true };
}

/** Turns the sender away, and logs the reason for the owner. */
export function refuse(
	context: IWebhookFunctions,
	{ reason, clockDifferenceSeconds, cause }: Refused,
): IWebhookResponseData {
	const [status, message] = REFUSALS[reason];
	const difference =
		clockDifferenceSeconds !== undefined &&
		`${Math.abs(clockDifferenceSeconds)} s ${clockDifferenceSeconds < 0 ? 'behind' : 'ahead of'} the clock here`;
	const facts = [`${status} ${reason}`, difference, cause].filter(Boolean).join('; ');
	warn(
		context,
		reason,
		`refused a callback: ${message} (${facts}). To find out more, use Verify Callback of the Media Generation node.`,
	);
	return answer(context, status, { accepted: false, reason, message });
}

/** The milliseconds between two lines of a node on one subject: anyone can send callbacks. */
const QUIET = 60_000;

/** The last line by node and subject, and how many were left out since. */
const lines = new BoundedMap<string, { since: number; omitted: number }>(1_000);

/** Warns the owner in n8n's log, which has warnings by default. */
export function warn(context: IWebhookFunctions, subject: string, text: string): void {
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
