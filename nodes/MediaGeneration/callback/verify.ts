import { callbackBody, MOST_JSON_LEVELS, type CallbackBody } from '../api/answers';
import { FAILED_TYPE, PARTIAL_TYPE, SUCCESS_CODE, TASK_ID } from '../api/service';
import { findStatus, type TaskStatus } from '../api/task';
import { isDeeper, isObject } from '../lib/json';
import type { Refused } from './refusals';
import {
	DEFAULT_TOLERANCE_SECONDS,
	readSignatureHeaders,
	sign,
	type SignatureHeaders,
} from './scheme';
import { findKey, readSigningKeys, type KeyFields, type KeyName } from './signature';

export interface CallbackRequest {
	/** By lower-case name. Node joins the values of a repeated header by commas. */
	headers: object;
	/** The parsed JSON, whatever it is. */
	body: unknown;
	/** The bytes that the body was parsed from. */
	bytes: Uint8Array;
}

export interface VerifyOptions {
	/**
	 * Whether the callback must be signed. `ifKey`, for a run that sleeps: only if the credential has a
	 * key and the callback is no nudge.
	 */
	signed: boolean | 'ifKey';
	/** How far the timestamp may be off, in seconds either way; 0: any age. */
	toleranceSeconds?: number;
}

/**
 * Marks a callback of our own, by which a run that sleeps is nudged. A nudge is unsigned, so that
 * replacing the key during a sleep can't block it. That is safe: a nudge only makes the webhook ask the
 * service.
 */
export const NUDGE = 'nudge';

/** A callback that isn't refused. */
export interface VerifiedCallback {
	taskId: string;
	/** The ID stands only beside `data`. A signed callback has its ID in `data`. */
	isAtTop: boolean;
	/** What the body says of the task, signed or not. It decides nothing. */
	claim: {
		/** Pending: the callback brings a part of the result. */
		status: TaskStatus;
		/** `data.callbackType` of the body. */
		type: unknown;
	};
	/** The key that made the signature; `off`: no signature was checked. */
	signedBy: KeyName | 'off';
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Verifies a callback, up to its first fault. The credential is read last, because anyone can send
 * callbacks, and reading takes time.
 * @throws if `readCredentials` does
 */
export async function verify(
	{ headers, body, bytes }: CallbackRequest,
	{ signed, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: VerifyOptions,
	readCredentials: () => Promise<KeyFields>,
): Promise<Refused | VerifiedCallback> {
	const read = (name: string) => toText((headers as Record<string, unknown>)[name.toLowerCase()]);
	const signature = readSignatureHeaders(read);
	if (signed === true && !signature) return { reason: 'headerMissing' };
	const callback = readCallback(body, read('content-type'));
	if ('reason' in callback) return callback;
	// With `ifKey`, the fault counts only if the credential has a key, which is read last.
	const fault = findSignatureFault(signature, callback.isAtTop, toleranceSeconds);
	if (signed === true && fault) return fault;
	const isNudge = signed === 'ifKey' && callback.claim.type === NUDGE;
	if (!signed || isNudge) return callback;
	const keys = readSigningKeys(await readCredentials());
	if (!keys && signed === 'ifKey') return callback;
	if (fault) return fault;
	if (!keys) return { reason: 'keyMissing' };
	const content = { taskId: callback.taskId, bytes };
	const signedBy =
		signature && findKey(signature.signatures, (key) => sign(signature, content, key), keys);
	return signedBy ? { ...callback, signedBy } : { reason: 'signatureWrong' };
}

/** Finds a fault of a signed callback that can be seen without a key. */
function findSignatureFault(
	signature: SignatureHeaders | undefined,
	isAtTop: boolean,
	toleranceSeconds: number,
): Refused | undefined {
	if (!signature) return { reason: 'headerMissing' };
	if (isAtTop) return { reason: 'taskIdMissing' };
	if (!/^\d{1,15}$/.test(signature.timestamp)) return { reason: 'timestampMalformed' };
	const ahead = Math.round(Number(signature.timestamp) - Date.now() / 1000);
	if (toleranceSeconds > 0 && Math.abs(ahead) > toleranceSeconds)
		return {
			reason: 'timestampStale',
			cause: `${Math.abs(ahead)} s ${ahead < 0 ? 'behind' : 'ahead of'} the clock here`,
		};
	return signature.signatures.length ? undefined : { reason: 'signatureWrong' };
}

/**
 * Reads the body, which must be a JSON object with a usable task ID. The contract has the ID in
 * `data.task_id`, task records in `data.taskId`, and some services in `taskId` at the top. A body may
 * repeat the ID as a number, which JSON parsers round if it is long. So a number matches each text that
 * rounds to it.
 */
function readCallback(body: unknown, type: string): VerifiedCallback | Refused {
	if (!isObject(body) || (type && !JSON_TYPE.test(type))) return { reason: 'bodyNotAnObject' };
	if (isDeeper(body, MOST_JSON_LEVELS)) return { reason: 'bodyTooDeep' };
	const parts = callbackBody.parse(body);
	const { data, taskId: idAtTop } = parts;
	const idsInData = [data.task_id, data.taskId].filter(isPresent);
	const ids = [...idsInData, idAtTop].filter(isPresent);
	const [id] = ids;
	const taskId = Number.isSafeInteger(id) ? String(id) : toText(id);
	if (!taskId) return { reason: 'taskIdMissing' };
	if (!TASK_ID.test(taskId)) return { reason: 'taskIdMalformed' };
	if (ids.some((other) => other !== taskId && other !== Number(taskId)))
		return { reason: 'taskIdContradictory' };
	return { taskId, isAtTop: !idsInData.length, claim: readClaim(parts), signedBy: 'off' };
}

const isPresent = (id: unknown): boolean => id !== undefined && id !== null;

/** Reads what the body says of the task's status. Older services have only `code` and `callbackType`. */
function readClaim({ code = SUCCESS_CODE, state: stateAtTop, data }: CallbackBody) {
	const { callbackType: type, state = stateAtTop } = data;
	const word = toText(type);
	const isSuccess = code === SUCCESS_CODE;
	if (isSuccess && PARTIAL_TYPE.test(word)) return { status: 'pending' as const, type };
	const byType = isSuccess && !FAILED_TYPE.test(word) ? 'completed' : 'failed';
	return { status: findStatus(toText(state)) ?? byType, type };
}
