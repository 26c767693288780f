import { callbackParts, claimedCode, type CallbackParts } from './contract';
import {
	matchedKey,
	SIGNATURE_HEADER,
	TIMESTAMP_HEADER,
	type MatchedKey,
	type SigningKeys,
} from './signature';
import { statusOf, type TaskStatus } from './task';

/** Why a callback is refused, in a word for the logs of sender and owner. */
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

/**
 * A task id has 1 to 256 characters, none of them a control character or half of one. The contract shows no limit;
 * those of public services have at most 64. What is remembered, logged and asked for stays small by this.
 */
const TASK_ID = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** Base64 of the 32 bytes that HMAC-SHA256 gives, of this many characters: counting them in the form takes twice as long. */
const SIGNATURE = /^[A-Za-z0-9+/]+=$/;
const SIGNATURE_LENGTH = 44;

/** How deep a body may be nested; the contract's has two levels. n8n stores items by recursion. */
const BODY_LEVELS = 64;

export interface Refusal {
	accepted: false;
	/** The HTTP status to answer with. */
	status: 400 | 401;
	reason: RefusalReason;
	message: string;
	/** How far a stale timestamp is ahead of the present time; negative: behind. */
	clockDifferenceSeconds?: number;
}

export interface Acceptance {
	accepted: true;
	/** Verified by the signature, unless that is off. */
	taskId: string;
	signature: MatchedKey | 'off';
	/** What the body says of the outcome. It is not signed: a claim, to be held against task details. */
	claimedStatus: TaskStatus;
}

export interface CallbackSettings {
	/** Absent: signatures are not verified. */
	keys?: SigningKeys;
	/** How many seconds a timestamp may differ from now, either way; 0: any. */
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
 * What the headers alone give away: a callback that this refuses costs neither the reading of a key nor a signature.
 * @param headers by lower-case name, as Node gives them: a repeated one is one text, joined by commas
 * @returns undefined when the headers are in order
 */
export function refusalByHeaders(
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
 * Whether a callback is genuine: the receiver verification of the contract, step by step, cheapest first. Pure, and
 * never throws.
 * @param headers by lower-case name, as Node gives them
 * @param body the parsed JSON, whatever it is
 */
export function judgeCallback(
	headers: Record<string, unknown>,
	body: unknown,
	{ keys, toleranceSeconds, now }: CallbackSettings,
): Refusal | Acceptance {
	const refusal = refusalByHeaders(headers, { signed: keys !== undefined, toleranceSeconds, now });
	if (refusal) return refusal;
	const parts = callbackParts(body);
	if (!parts) return refuse(400, 'bodyNotAnObject', 'The body must be a JSON object');
	const { taskId, topLevelId } = parts;
	if (!isText(taskId))
		return refuse(400, 'taskIdMissing', 'The body must have data.task_id, a text');
	if (!TASK_ID.test(taskId))
		return refuse(
			400,
			'taskIdMalformed',
			'data.task_id must have 1 to 256 characters, without control characters',
		);
	if (topLevelId !== undefined && topLevelId !== null && topLevelId !== taskId)
		return refuse(400, 'taskIdContradictory', 'taskId and data.task_id must be the same');
	const signature = keys
		? matchedKey(
				headers[SIGNATURE_HEADER] as string,
				taskId,
				headers[TIMESTAMP_HEADER] as string,
				keys,
			)
		: 'off';
	if (!signature)
		return refuse(
			401,
			'signatureWrong',
			'X-Webhook-Signature does not match the task id and timestamp',
		);
	if (isDeeper(body, BODY_LEVELS))
		return refuse(
			400,
			'bodyTooDeep',
			`The body must not be nested deeper than ${BODY_LEVELS} levels`,
		);
	return { accepted: true, taskId, signature, claimedStatus: claimedStatusOf(parts) };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function isDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	if (levels === 0) return true;
	for (const key in value)
		if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
	return false;
}

function claimedStatusOf({ code, callbackType, state }: CallbackParts): TaskStatus {
	if (typeof state === 'string') return statusOf(state);
	if (typeof callbackType === 'string' && /fail/i.test(callbackType)) return 'failed';
	if (code === 200) return 'completed';
	const { data = 200 } = claimedCode.safeParse(code);
	return data === 200 ? 'completed' : 'failed';
}
