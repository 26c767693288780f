import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { BoundedMap } from '../lib/boundedMap';

/** Timeout of the details request before a callback is answered. Senders usually give up after 5 to 15 seconds. */
export const DETAILS_SETTINGS = { timeoutSeconds: 4 };

/** How long to wait for n8n's own answer, in milliseconds. Senders usually give up and retry long before. */
export const ANSWER_LIMIT = 60_000;

/** Why a callback is turned away. Only the time difference comes from the sender. */
export interface Refused {
	status: number;
	reason: string;
	message: string;
	clockDifferenceSeconds?: number;
}

/** The reasons to refuse a well-formed callback, and what its sender is told. */
const REASONS = {
	createdForAnother: {
		status: 404,
		message:
			"The task was created with another Callback URL. If it is a relay in front of this trigger, put the ID in the trigger's own URL into its path",
	},
	detailsDoubtful: {
		status: 503,
		message:
			"The service knows no such task, but the credential's 'Task Details Path' has not returned any task yet, so that path may be wrong. Retry later.",
	},
	detailsUnavailable: {
		status: 503,
		message: "The task's details are temporarily unavailable. Retry later.",
	},
	keyMissing: {
		status: 401,
		message: 'The receiver has no key to verify signatures with',
	},
	resultsUnderWay: {
		status: 503,
		message: 'All tasks have ended, and their files are being downloaded. Retry later.',
	},
	taskNotEnded: {
		status: 503,
		message: 'By its details the task has not ended. Retry when it has.',
	},
	taskNotInExecution: {
		status: 404,
		message: 'This execution waits for other tasks',
	},
	taskUnknown: {
		status: 404,
		message: 'The service knows no such task',
	},
	temporarilyUnavailable: {
		status: 503,
		message: 'Temporarily unable to process callbacks. Retry later.',
	},
	underway: {
		status: 503,
		message: 'A copy of this callback is still being processed. Retry later.',
	},
};

/** A reason to refuse a well-formed callback. */
export type Reason = keyof typeof REASONS;

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
export function refuse(context: IWebhookFunctions, given: Refused | Reason): IWebhookResponseData {
	const refused = typeof given === 'string' ? { reason: given, ...REASONS[given] } : given;
	const { status, reason, message } = refused;
	// Files that are still being downloaded are no fault.
	if (given !== 'resultsUnderWay') logRefusal(context, refused);
	return answer(context, status, { accepted: false, reason, message });
}

/**
 * Hands the items to n8n. It answers when it has stored the execution, or 500 when it could not. A sender that gets 200 is done.
 * n8n reads `webhookResponse` only once the execution is stored, so a getter notices that (`webhook-helpers.js` and
 * `webhook-on-received-response-extractor.js` of n8n, the same in 2.14.2 and 2.41.1). If n8n changes this, `e2e/openInternet` fails
 * first.
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

/** A node logs each reason at most once in this many seconds, because anyone can send callbacks. */
const QUIET_SECONDS = 60;

/** The last line by node and reason, and the number of refusals that were not logged since. */
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
		`"${context.getNode().name}" refused a callback: ${message} (${facts.filter(Boolean).join('; ')}). To find out more, use Verify Callback of the Media Generation node.`,
		{ workflowId: context.getWorkflow().id },
	);
}
