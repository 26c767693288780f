import { integer, isObject, JSON_LEVELS, TASK_ID } from '../api/schemas';
import { toStatus, type TaskStatus } from '../api/task';
import { isDeeper } from '../lib/isDeeper';
import {
	findMatchingSecret,
	SIGNATURE_HEADER,
	TIMESTAMP_HEADER,
	type MatchingSecret,
	type SigningSecrets,
} from './signature';

/** The reason for a refusal, in a word for the logs of sender and owner. */
export type RefusalReason =
	| 'headerMissing'
	| 'timestampMalformed'
	| 'timestampStale'
	| 'bodyNotAnObject'
	| 'bodyTooDeep'
	| 'taskIdMissing'
	| 'taskIdMalformed'
	| 'taskIdContradictory'
	| 'signatureWrong';

/** Base64 of the 32 bytes of an HMAC-SHA256. The length is checked apart: in the pattern it takes twice as long. */
const SIGNATURE = /^[A-Za-z0-9+/]+=$/;
const SIGNATURE_LENGTH = 44;

export interface Refusal {
	accepted: false;
	/** The HTTP status to answer with. */
	status: 400 | 401;
	reason: RefusalReason;
	message: string;
	/** A stale timestamp's lead on the present time; negative: behind. */
	clockDifferenceSeconds?: number;
}

export interface Acceptance {
	accepted: true;
	/** Verified by the signature, unless that is off. */
	taskId: string;
	signature: MatchingSecret | 'off';
	/** The outcome that the body claims. It is not signed, so it has to be held against the task's details. */
	claimedStatus: TaskStatus;
}

export interface VerificationSettings {
	/** Absent: signatures are not verified. */
	secrets?: SigningSecrets;
	/** A timestamp may differ from now by so many seconds, either way; 0: by any. */
	toleranceSeconds: number;
	/** Milliseconds since 1970. */
	now: number;
}

const refuse = (status: 400 | 401, reason: RefusalReason, message: string): Refusal => ({
	accepted: false,
	status,
	reason,
	message,
});

/**
 * Checks what needs the headers alone. A callback that fails here costs neither a credential read nor an HMAC.
 * @param headers by lower-case name, as Node has them: a repeated one is one text, joined by commas
 * @returns undefined when the headers are in order
 */
export function checkHeaders(
	headers: Record<string, unknown>,
	{ signed, toleranceSeconds, now }: { signed: boolean; toleranceSeconds: number; now: number },
): Refusal | undefined {
	if (signed) {
		const timestamp = headers[TIMESTAMP_HEADER];
		const signature = headers[SIGNATURE_HEADER];
		if (!isText(timestamp) || !isText(signature))
			return refuse(
				401,
				'headerMissing',
				'Both X-Webhook-Timestamp and X-Webhook-Signature are required, once each',
			);
		if (!/^\d{1,15}$/.test(timestamp))
			return refuse(
				401,
				'timestampMalformed',
				'X-Webhook-Timestamp must be Unix time in seconds, digits only',
			);
		const difference = Number(timestamp) - now / 1000;
		if (toleranceSeconds > 0 && Math.abs(difference) > toleranceSeconds)
			return {
				...refuse(401, 'timestampStale', 'X-Webhook-Timestamp is too far from the present time'),
				clockDifferenceSeconds: Math.round(difference),
			};
		if (signature.length !== SIGNATURE_LENGTH || !SIGNATURE.test(signature))
			return refuse(
				401,
				'signatureWrong',
				'X-Webhook-Signature must be the Base64 of 32 bytes: 44 characters, the last one "="',
			);
	}
	const contentType = headers['content-type'];
	if (isText(contentType) && !/^application\/json\s*(;|$)/i.test(contentType))
		return refuse(400, 'bodyNotAnObject', 'The Content-Type must be application/json');
	return undefined;
}

/**
 * Verifies a callback by the contract's steps, cheapest first. Pure, and never throws.
 * @param headers by lower-case name, as Node has them
 * @param body the parsed JSON, whatever it is
 */
export function verifyCallback(
	headers: Record<string, unknown>,
	body: unknown,
	{ secrets, toleranceSeconds, now }: VerificationSettings,
): Refusal | Acceptance {
	const refusal = checkHeaders(headers, { signed: secrets !== undefined, toleranceSeconds, now });
	if (refusal) return refusal;
	const parts = readCallbackParts(body);
	if (!parts) return refuse(400, 'bodyNotAnObject', 'The body must be a JSON object');
	const { taskId, topLevelId } = parts;
	if (!isText(taskId)) return refuse(400, 'taskIdMissing', 'The body must have data.task_id');
	if (!TASK_ID.test(taskId))
		return refuse(
			400,
			'taskIdMalformed',
			'data.task_id must have 1 to 256 characters, without control characters',
		);
	if (topLevelId !== undefined && topLevelId !== null && topLevelId !== taskId)
		return refuse(400, 'taskIdContradictory', 'taskId and data.task_id must be the same');
	const signature = secrets
		? findMatchingSecret(
				headers[SIGNATURE_HEADER] as string,
				taskId,
				headers[TIMESTAMP_HEADER] as string,
				secrets,
			)
		: 'off';
	if (!signature)
		return refuse(
			401,
			'signatureWrong',
			'X-Webhook-Signature does not match the task ID and timestamp',
		);
	if (isDeeper(body, JSON_LEVELS))
		return refuse(
			400,
			'bodyTooDeep',
			`The body must not be nested deeper than ${JSON_LEVELS} levels`,
		);
	return { accepted: true, taskId, signature, claimedStatus: readClaimedStatus(parts) };
}

/** The parts of a callback's body, untested. Only `data.task_id` is signed; everything else is a claim. */
export interface CallbackParts {
	taskId: unknown;
	topLevelId: unknown;
	code: unknown;
	callbackType: unknown;
	state: unknown;
}

/**
 * Reads the parts of a callback's body; undefined when the body is not a JSON object. Not by a schema: that took nearly
 * as long as the HMAC, and anyone can send callbacks.
 */
export function readCallbackParts(body: unknown): CallbackParts | undefined {
	if (!isObject(body)) return undefined;
	const { taskId: topLevelId, code, data } = body;
	const { task_id: taskId, callbackType, state } = isObject(data) ? data : {};
	return { taskId, topLevelId, code, callbackType, state };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function readClaimedStatus({ code, callbackType, state }: CallbackParts): TaskStatus {
	if (typeof state === 'string') return toStatus(state);
	if (typeof callbackType === 'string' && /fail/i.test(callbackType)) return 'failed';
	if (code === 200) return 'completed';
	const { data = 200 } = integer.safeParse(code);
	return data === 200 ? 'completed' : 'failed';
}
