import { integer, JSON_LEVELS, TASK_ID } from '../api/schemas';
import { toStatus, type TaskStatus } from '../api/task';
import { isDeeper, isObject } from '../lib/json';
import type { Refused } from './refusals';
import type { Signed } from './signature';

/** The default tolerance for a callback's timestamp, in seconds either way. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

export interface VerifySettings {
	/** Off: the headers aren't looked at. */
	verifySignature: boolean;
	/** The tolerance for the timestamp, in seconds either way; 0: any age. */
	toleranceSeconds: number;
}

/** A callback that passed all checks that need no key. */
export interface Form extends Signed {
	/** Seconds by which the timestamp is ahead of the clock here; negative: behind. */
	clockDifferenceSeconds: number;
	/** The outcome that the body claims; pending: a part of the result. It is not signed. */
	claimedStatus: TaskStatus;
	/** The body's `data.callbackType`. */
	callbackType: unknown;
}

/** A Content-Type that is JSON, also by its suffix, such as application/cloudevents+json. */
const JSON_TYPE = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i;

/** Base64 of 32 bytes. */
const SIGNATURE = /^[A-Za-z0-9+/]{43}=$/;

/** In lower case, as n8n has them. */
const HEADERS = ['x-webhook-timestamp', 'x-webhook-signature'];

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Checks everything that needs no key, in the contract's order. Nothing is thrown.
 * @param headers by lower-case name, as Node has them: a repeated one is one text, joined by commas
 * @param body the parsed JSON, whatever it is
 * @param now milliseconds since 1970
 */
export function checkForm(
	headers: Record<string, unknown>,
	body: unknown,
	{ verifySignature, toleranceSeconds }: VerifySettings,
	now = Date.now(),
): Refused | Form {
	const [timestamp = '', signature = ''] = HEADERS.map((name) => headers[name]).map(toText);
	if (verifySignature && !(timestamp && signature)) return { reason: 'headerMissing' };
	const type = toText(headers['content-type']);
	if (!isObject(body) || (type && !JSON_TYPE.test(type))) return { reason: 'bodyNotAnObject' };
	const taskId = readTaskId(body);
	if (typeof taskId !== 'string') return taskId;
	const clockDifferenceSeconds = Math.round(Number(timestamp) - now / 1000);
	if (verifySignature) {
		if (!/^\d{1,15}$/.test(timestamp)) return { reason: 'timestampMalformed' };
		if (isStale(clockDifferenceSeconds, toleranceSeconds))
			return { reason: 'timestampStale', clockDifferenceSeconds };
		if (!SIGNATURE.test(signature)) return { reason: 'signatureWrong' };
	}
	if (isDeeper(body, JSON_LEVELS)) return { reason: 'bodyTooDeep' };
	return { taskId, timestamp, signature, clockDifferenceSeconds, ...readClaims(body) };
}

/** @param toleranceSeconds either way; 0: any age */
export const isStale = (clockDifferenceSeconds: number, toleranceSeconds: number): boolean =>
	toleranceSeconds > 0 && Math.abs(clockDifferenceSeconds) > toleranceSeconds;

/**
 * Reads the task's ID: `data.task_id` by the contract, `data.taskId` of a task record. JSON parsers
 * round long numbers, so a number counts as equal to text that it was rounded from.
 */
function readTaskId({ taskId: topLevelId, data }: Record<string, unknown>): Refused | string {
	const { task_id: contractId, taskId: recordId } = isObject(data) ? data : {};
	const given = contractId ?? recordId;
	const id = Number.isSafeInteger(given) ? String(given) : toText(given);
	if (!id) return { reason: 'taskIdMissing' };
	if (!TASK_ID.test(id)) return { reason: 'taskIdMalformed' };
	const differs = [contractId, recordId, topLevelId].some(
		(other) => other !== undefined && other !== null && other !== id && other !== Number(id),
	);
	return differs ? { reason: 'taskIdContradictory' } : id;
}

/** Callback types that bring a part of the result before the task ends. */
const PART = /^(text|first)$/i;

/** Reads what the body says of the task. Older services say it in `code` and `callbackType`. */
function readClaims({ code, data }: Record<string, unknown>) {
	const { callbackType, state } = isObject(data) ? data : {};
	const type = toText(callbackType);
	const isSuccess = (integer.safeParse(code).data ?? 200) === 200;
	const claimed: TaskStatus = isSuccess && !/fail/i.test(type) ? 'completed' : 'failed';
	const ended = toStatus(toText(state), claimed);
	const claimedStatus: TaskStatus = isSuccess && PART.test(type) ? 'pending' : ended;
	return { claimedStatus, callbackType };
}
