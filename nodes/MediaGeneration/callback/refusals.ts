import { MOST_JSON_LEVELS } from '../api/answers';
import { SIGNATURE_FAULTS } from './scheme';

/** Why the trigger, or a run that sleeps, refuses a callback: the HTTP status, and the text for the sender. */
export const REFUSALS = {
	...SIGNATURE_FAULTS,
	bodyNotAnObject: [400, 'The body must be a JSON object, sent as application/json'],
	bodyTooDeep: [400, `The body must not be nested deeper than ${MOST_JSON_LEVELS} levels`],
	taskIdMissing: [400, 'The body must have data.task_id or data.taskId, as text'],
	taskIdMalformed: [
		400,
		'The task ID must have 1 to 256 characters, without control characters, and not be "." or ".."',
	],
	taskIdContradictory: [400, 'data.task_id, data.taskId and taskId must be the same'],
	createdForAnother: [
		404,
		"The task was created with another Callback URL, whose path lacks the ID in this trigger's URL",
	],
	taskUnknown: [404, 'The service knows no such task'],
	taskNotInExecution: [404, 'This execution waits for other tasks'],
	limitPassed: [410, "The wait limit has passed. Look at the task with the node's operation Get"],
	detailsUnavailable: [503, "The task's details are unavailable. Retry later."],
	taskNotEnded: [503, 'According to its details, the task has not ended. Retry once it has.'],
	underway: [503, 'A copy of this callback is still being processed. Retry later.'],
	temporarilyUnavailable: [503, 'Temporarily unable to process callbacks. Retry later.'],
} as const satisfies Record<string, readonly [httpStatus: number, message: string]>;

/** A callback that a receiver refuses. */
export interface Refused {
	/** One word for why, for senders and logs. */
	reason: keyof typeof REFUSALS;
	/** What caused the refusal, for the log only. */
	cause?: string;
}
