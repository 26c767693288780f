import { callbackBody, JSON_LEVELS, type CallbackBody } from '../api/schemas';
import { PART_OF_RESULT, SUCCESS, TASK_FAILED, TASK_ID } from '../api/service';
import { toStatus, type TaskStatus } from '../api/task';
import { isDeeper, isObject } from '../lib/json';
import { readSignature, SIGNATURE_FAULTS, type Signature } from './scheme';
import { findSigner, type KeyName, type SigningKeys } from './signature';

/** How a sender is refused: the HTTP status, and what it is told. */
export type Refusal = readonly [status: number, message: string];

/** What can be wrong with a callback itself. Receivers have further reasons of their own. */
export const FAULTS = {
	...SIGNATURE_FAULTS,
	bodyNotAnObject: [400, 'The body must be a JSON object, sent as application/json'],
	bodyTooDeep: [400, `The body must not be nested deeper than ${JSON_LEVELS} levels`],
	taskIdMissing: [400, 'The body must have data.task_id or data.taskId, as text'],
	taskIdMalformed: [
		400,
		'The task ID must have 1 to 256 characters, without control characters, and not be "." or ".."',
	],
	taskIdContradictory: [400, 'data.task_id, data.taskId and taskId must be the same'],
} as const satisfies Record<string, Refusal>;

/** One word for what is wrong, for senders and logs. */
export type Fault = keyof typeof FAULTS;

/** A callback that a receiver refuses. */
export interface Refused<Reason extends string> {
	reason: Reason;
	/** Seconds by which the timestamp is ahead of the clock here; negative: behind. */
	clockDifferenceSeconds?: number;
	/** What is behind it, for the log only. */
	cause?: string;
}

export interface CallbackRequest {
	/** By lower-case name, as Node has them: a repeated one is one text, joined by commas. */
	headers: Record<string, unknown>;
	/** The parsed JSON, whatever it is. */
	body: unknown;
	/** The bytes that it was parsed from. */
	bytes: Uint8Array;
}

export interface VerifyOptions {
	/** Whether the callback must be signed. `ifKey`: only if the credential has a key. */
	signed: boolean | 'ifKey';
	/** How far the timestamp may be off, in seconds either way; 0: any age. */
	toleranceSeconds: number;
}

/** What the body says, signed or not. The claim decides nothing. */
interface Form extends Id {
	claim: Claim;
}

interface Id {
	taskId: string;
	/** `data` has no ID. What the contract signs is the one in `data`. */
	isAtTop: boolean;
}

export interface Claim {
	/** Pending: the callback brings a part of the result. */
	status: TaskStatus;
	/** The body's `data.callbackType`. */
	type: unknown;
}

/** A callback that counts. */
export interface VerifiedCallback extends Form {
	/** The key that made the signature. */
	signedBy: KeyName | 'off';
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Verifies a callback, up to its first fault. Anyone can send callbacks, so the keys are read last.
 * @param readKeys undefined: there are none; off: the callback needs no signature
 * @throws if `readKeys` does
 */
export async function verify(
	{ headers, body, bytes }: CallbackRequest,
	{ signed, toleranceSeconds }: VerifyOptions,
	readKeys: (claim: Claim) => Promise<SigningKeys | undefined | 'off'>,
): Promise<Refused<Fault> | VerifiedCallback> {
	const read = (name: string) => toText(headers[name.toLowerCase()]);
	const signature = readSignature(read);
	if (signed === true && !signature) return { reason: 'headerMissing' };
	const form = readForm(body, read('content-type'));
	if ('reason' in form) return form;
	const fault = findFault(signature, form, toleranceSeconds);
	if (signed === true && fault) return fault;
	const keys = await readKeys(form.claim);
	if (keys === 'off') return { ...form, signedBy: 'off' };
	if (fault) return fault;
	if (!keys) return { reason: 'keyMissing' };
	const content = { taskId: form.taskId, bytes };
	const signedBy = signature && findSigner(signature, content, keys);
	return signedBy ? { ...form, signedBy } : { reason: 'signatureWrong' };
}

/** Finds what is wrong with a signed callback that no key is needed for. */
function findFault(
	signature: Signature | undefined,
	{ isAtTop }: Form,
	toleranceSeconds: number,
): Refused<Fault> | undefined {
	if (!signature) return { reason: 'headerMissing' };
	if (isAtTop) return { reason: 'taskIdMissing' };
	const { timestamp, given } = signature;
	if (!/^\d{1,15}$/.test(timestamp)) return { reason: 'timestampMalformed' };
	const clockDifferenceSeconds = Math.round(Number(timestamp) - Date.now() / 1000);
	if (toleranceSeconds > 0 && Math.abs(clockDifferenceSeconds) > toleranceSeconds)
		return { reason: 'timestampStale', clockDifferenceSeconds };
	return given.length ? undefined : { reason: 'signatureWrong' };
}

/** Reads the body: it must be a JSON object that has a usable task ID. */
function readForm(body: unknown, type: string): Form | Refused<Fault> {
	if (!isObject(body) || (type && !JSON_TYPE.test(type))) return { reason: 'bodyNotAnObject' };
	if (isDeeper(body, JSON_LEVELS)) return { reason: 'bodyTooDeep' };
	const parts = callbackBody.parse(body);
	const id = readTaskId(parts);
	return 'reason' in id ? id : { ...id, claim: readClaim(parts) };
}

/**
 * Reads the task's ID: `data.task_id` by the contract, `data.taskId` of a task record, or `taskId` at
 * the top. JSON parsers round long numbers, so a number equals text that it was rounded from.
 */
function readTaskId({ taskId: topLevelId, data }: CallbackBody): Id | Refused<Fault> {
	const { task_id: contractId, taskId: recordId } = data;
	const idInData = contractId ?? recordId;
	const isAtTop = idInData === undefined || idInData === null;
	const given = idInData ?? topLevelId;
	const taskId = Number.isSafeInteger(given) ? String(given) : toText(given);
	if (!taskId) return { reason: 'taskIdMissing' };
	if (!TASK_ID.test(taskId)) return { reason: 'taskIdMalformed' };
	const isSame = (id: unknown) => id === taskId || id === Number(taskId);
	const others = [contractId, recordId, topLevelId].filter((id) => id !== undefined && id !== null);
	return others.every(isSame) ? { taskId, isAtTop } : { reason: 'taskIdContradictory' };
}

/** Reads what the body says of the task. Older services say it in `code` and `callbackType`. */
function readClaim({ code = SUCCESS, state: topLevelState, data }: CallbackBody): Claim {
	const { callbackType: type, state = topLevelState } = data;
	const word = toText(type);
	const isSuccess = code === SUCCESS;
	if (isSuccess && PART_OF_RESULT.test(word)) return { status: 'pending', type };
	const byType: TaskStatus = isSuccess && !TASK_FAILED.test(word) ? 'completed' : 'failed';
	return { status: toStatus(toText(state), byType), type };
}
