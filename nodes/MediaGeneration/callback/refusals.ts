import { JSON_LEVELS } from '../api/schemas';

/** Why a callback is turned away: the HTTP status, and what its sender is told. */
export const REFUSALS = {
	headerMissing: [401, 'Both X-Webhook-Timestamp and X-Webhook-Signature are required, once each'],
	timestampMalformed: [401, 'X-Webhook-Timestamp must be Unix time in seconds, digits only'],
	timestampStale: [401, 'X-Webhook-Timestamp is too far from the present time'],
	signatureWrong: [
		401,
		'X-Webhook-Signature must be the Base64 of the HMAC-SHA256 of "<task ID>.<timestamp>"',
	],
	keyMissing: [401, 'The receiver has no key to verify signatures with'],
	bodyNotAnObject: [400, 'The body must be a JSON object, sent as application/json'],
	bodyTooDeep: [400, `The body must not be nested deeper than ${JSON_LEVELS} levels`],
	taskIdMissing: [400, 'The body must have data.task_id or data.taskId, as text'],
	taskIdMalformed: [
		400,
		'The task ID must have 1 to 256 characters, without control characters, and not be "." or ".."',
	],
	taskIdContradictory: [400, 'data.task_id, data.taskId and taskId must be the same'],
	createdForAnother: [
		404,
		"The task was created with another Callback URL. If it is a relay in front of this trigger, put the ID in the trigger's own URL into its path",
	],
	taskNotInExecution: [404, 'This execution waits for other tasks'],
	taskUnknown: [404, 'The service knows no such task'],
	limitPassed: [410, "The wait limit has passed. Look at the task with the node's operation Get"],
	detailsUnavailable: [503, "The task's details are unavailable. Retry later."],
	taskNotEnded: [503, 'By its details the task has not ended. Retry when it has.'],
	temporarilyUnavailable: [503, 'Temporarily unable to process callbacks. Retry later.'],
	underway: [503, 'A copy of this callback is still being processed. Retry later.'],
} as const satisfies Record<string, readonly [number, string]>;

/** The reason for a refusal, as one word for senders and logs. */
export type Reason = keyof typeof REFUSALS;

export interface Refused {
	reason: Reason;
	/** Seconds by which the timestamp is ahead of the clock here; negative: behind. */
	clockDifferenceSeconds?: number;
	/** What is behind it, for the log only. */
	cause?: string;
}
