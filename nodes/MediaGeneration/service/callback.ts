import { callbackBody, type CallbackBody } from './contract';
import {
	matchedKey,
	SIGNATURE_HEADER,
	TIMESTAMP_HEADER,
	type MatchedKey,
	type SigningKeys,
} from './signature';
import { statusOf, type TaskStatus } from './task';

/** Why a callback is refused, in a word for the sender's log. */
export type RefusalReason =
	| 'headerMissing'
	| 'timestampMalformed'
	| 'timestampStale'
	| 'bodyNotAnObject'
	| 'taskIdMissing'
	| 'taskIdContradictory'
	| 'signatureWrong';

export interface Refusal {
	accepted: false;
	/** The HTTP status to answer with. */
	status: 400 | 401;
	reason: RefusalReason;
	message: string;
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
 * Whether a callback is genuine: the receiver verification of the contract, step by step, cheapest first. What
 * the headers alone give away is refused before the body is looked at. Pure, and never throws.
 * @param headers by lower-case name, as Node gives them
 * @param body the parsed JSON, whatever it is
 */
export function judgeCallback(
	headers: Record<string, unknown>,
	body: unknown,
	{ keys, toleranceSeconds, now }: CallbackSettings,
): Refusal | Acceptance {
	const timestamp = headers[TIMESTAMP_HEADER];
	const signature = headers[SIGNATURE_HEADER];
	if (keys) {
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
		if (toleranceSeconds > 0 && Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
			return refuse(401, 'timestampStale', 'X-Webhook-Timestamp is too far from the present time');
	}
	const parsed = isObject(body) ? callbackBody.safeParse(body) : undefined;
	if (!parsed?.success) return refuse(400, 'bodyNotAnObject', 'The body must be a JSON object');
	const taskId = parsed.data.data?.task_id;
	if (!isText(taskId))
		return refuse(400, 'taskIdMissing', 'The body must have data.task_id, a text');
	const topLevel = parsed.data.taskId;
	if (topLevel !== undefined && topLevel !== null && topLevel !== taskId)
		return refuse(400, 'taskIdContradictory', 'taskId and data.task_id must be the same');
	const claimedStatus = claimedStatusOf(parsed.data);
	if (!keys) return { accepted: true, taskId, signature: 'off', claimedStatus };
	const key = matchedKey(signature as string, taskId, timestamp as string, keys);
	if (!key)
		return refuse(
			401,
			'signatureWrong',
			'X-Webhook-Signature does not match the task id and timestamp',
		);
	return { accepted: true, taskId, signature: key, claimedStatus };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isObject = (value: unknown): value is object =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

function claimedStatusOf({ code, data }: CallbackBody): TaskStatus {
	if (data?.state !== undefined) return statusOf(data.state);
	if (/fail/i.test(data?.callbackType ?? '')) return 'failed';
	return code === undefined || code === 200 ? 'completed' : 'failed';
}
