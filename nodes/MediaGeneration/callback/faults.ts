import { JSON_LEVELS } from '../api/schemas';
import { buildSignedText, SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../api/service';

/** How a sender is refused: the HTTP status, and what it is told. */
export type Refusal = readonly [status: number, message: string];

/** What can be wrong with a callback itself. Receivers have further reasons of their own. */
export const FAULTS = {
	headerMissing: [401, `Both ${TIMESTAMP_HEADER} and ${SIGNATURE_HEADER} are required, once each`],
	timestampMalformed: [401, `${TIMESTAMP_HEADER} must be Unix time in seconds, digits only`],
	timestampStale: [401, `${TIMESTAMP_HEADER} is too far from the present time`],
	signatureWrong: [
		401,
		`${SIGNATURE_HEADER} must be the Base64 of the HMAC-SHA256 of "${buildSignedText('<task ID>', '<timestamp>')}"`,
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
} as const satisfies Record<string, Refusal>;

/** One word for what is wrong, for senders, logs and Verify Callback. */
export type Fault = keyof typeof FAULTS;
