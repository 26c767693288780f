import { callbackBody, JSON_LEVELS, type CallbackBody } from '../api/schemas';
import { PART_OF_RESULT, SUCCESS, TASK_FAILED, TASK_ID } from '../api/service';
import { findStatus, type TaskStatus } from '../api/task';
import { isDeeper, isObject } from '../lib/json';
import type { Refused } from './refusals';
import { DEFAULT_TOLERANCE_SECONDS, readSignature, sign, type Signature } from './scheme';
import { findKey, readSigningKeys, type KeyFields, type KeyName } from './signature';

export interface CallbackRequest {
	/** By lower-case name, as Node has them: a repeated one is one text, joined by commas. */
	headers: object;
	/** The parsed JSON, whatever it is. */
	body: unknown;
	/** The bytes that it was parsed from. */
	bytes: Uint8Array;
}

export interface VerifyOptions {
	/** Whether the callback must be signed. `ifKey`: only if the credential has a key. */
	signed: boolean | 'ifKey';
	/** A callback of this type needs no signature, whatever the credential has: nobody trusts it. */
	unsignedType?: string;
	/** How far the timestamp may be off, in seconds either way; 0: any age. */
	toleranceSeconds?: number;
}

/** A callback that counts. */
export interface VerifiedCallback {
	taskId: string;
	/** `data` has no ID. What the contract signs is the one in `data`. */
	isAtTop: boolean;
	/** What the body says of the task, signed or not. It decides nothing. */
	claim: {
		/** Pending: the callback brings a part of the result. */
		status: TaskStatus;
		/** The body's `data.callbackType`. */
		type: unknown;
	};
	/** The key that made the signature. */
	signedBy: KeyName | 'off';
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Verifies a callback, up to its first fault. Anyone can send callbacks, so the credential is read
 * last.
 * @throws if `readCredentials` does
 */
export async function verify(
	{ headers, body, bytes }: CallbackRequest,
	{ signed, unsignedType, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: VerifyOptions,
	readCredentials: () => Promise<KeyFields>,
): Promise<Refused | VerifiedCallback> {
	const read = (name: string) => toText((headers as Record<string, unknown>)[name.toLowerCase()]);
	const signature = readSignature(read);
	if (signed === true && !signature) return { reason: 'headerMissing' };
	const callback = readCallback(body, read('content-type'));
	if ('reason' in callback) return callback;
	const fault = findFault(signature, callback.isAtTop, toleranceSeconds);
	if (signed === true && fault) return fault;
	const isExempt = unsignedType !== undefined && callback.claim.type === unsignedType;
	if (!signed || isExempt) return callback;
	const keys = readSigningKeys(await readCredentials());
	if (!keys && signed === 'ifKey') return callback;
	if (fault) return fault;
	if (!keys) return { reason: 'keyMissing' };
	const content = { taskId: callback.taskId, bytes };
	const signedBy =
		signature && findKey(signature.given, (key) => sign(signature, content, key), keys);
	return signedBy ? { ...callback, signedBy } : { reason: 'signatureWrong' };
}

/** Finds what is wrong with a signed callback that no key is needed for. */
function findFault(
	signature: Signature | undefined,
	isAtTop: boolean,
	toleranceSeconds: number,
): Refused | undefined {
	if (!signature) return { reason: 'headerMissing' };
	if (isAtTop) return { reason: 'taskIdMissing' };
	const { timestamp, given } = signature;
	if (!/^\d{1,15}$/.test(timestamp)) return { reason: 'timestampMalformed' };
	const ahead = Math.round(Number(timestamp) - Date.now() / 1000);
	if (toleranceSeconds > 0 && Math.abs(ahead) > toleranceSeconds)
		return {
			reason: 'timestampStale',
			cause: `${Math.abs(ahead)} s ${ahead < 0 ? 'behind' : 'ahead of'} the clock here`,
		};
	return given.length ? undefined : { reason: 'signatureWrong' };
}

/**
 * Reads the body: it must be a JSON object that has a usable task ID, in `data.task_id` by the
 * contract, in `data.taskId` of a task record, or in `taskId` at the top. JSON parsers round long
 * numbers, so a number equals text that it was rounded from.
 */
function readCallback(body: unknown, type: string): VerifiedCallback | Refused {
	if (!isObject(body) || (type && !JSON_TYPE.test(type))) return { reason: 'bodyNotAnObject' };
	if (isDeeper(body, JSON_LEVELS)) return { reason: 'bodyTooDeep' };
	const parts = callbackBody.parse(body);
	const { data, taskId: idAtTop } = parts;
	const idsInData = [data.task_id, data.taskId].filter(isGiven);
	const ids = [...idsInData, idAtTop].filter(isGiven);
	const [id] = ids;
	const taskId = Number.isSafeInteger(id) ? String(id) : toText(id);
	if (!taskId) return { reason: 'taskIdMissing' };
	if (!TASK_ID.test(taskId)) return { reason: 'taskIdMalformed' };
	if (ids.some((other) => other !== taskId && other !== Number(taskId)))
		return { reason: 'taskIdContradictory' };
	return { taskId, isAtTop: !idsInData.length, claim: readClaim(parts), signedBy: 'off' };
}

const isGiven = (id: unknown): boolean => id !== undefined && id !== null;

/** Reads what the body says of the task. Older services say it in `code` and `callbackType`. */
function readClaim({ code = SUCCESS, state: stateAtTop, data }: CallbackBody) {
	const { callbackType: type, state = stateAtTop } = data;
	const word = toText(type);
	const isSuccess = code === SUCCESS;
	if (isSuccess && PART_OF_RESULT.test(word)) return { status: 'pending' as const, type };
	const byType = isSuccess && !TASK_FAILED.test(word) ? 'completed' : 'failed';
	return { status: findStatus(toText(state)) ?? byType, type };
}
