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

/** One word for what is wrong, for senders, logs and Verify Callback. */
export type Fault = keyof typeof FAULTS;

export interface CallbackRequest {
	/** By lower-case name, as Node has them: a repeated one is one text, joined by commas. */
	headers: Record<string, unknown>;
	/** The parsed JSON, whatever it is. */
	body: unknown;
	/** The bytes that it was parsed from. */
	bytes: Uint8Array;
}

export interface VerifyOptions {
	/** How far the timestamp may be off, in seconds either way; 0: any age. */
	toleranceSeconds: number;
	/** Milliseconds since 1970. */
	now: number;
}

/** All that is known of a callback, also of one that is refused. */
export interface Verdict {
	/** In the contract's order. Empty: the callback counts. */
	faults: Fault[];
	taskId?: string;
	/** Seconds by which the timestamp is ahead of the clock here; negative: behind. */
	clockDifferenceSeconds?: number;
	/** The key that made the signature, also of a stale callback. */
	signedBy?: KeyName;
	/** What the body says of the task. It decides nothing, signed or not. */
	claim?: Claim;
}

export interface Claim {
	/** Pending: the callback brings a part of the result. */
	status: TaskStatus;
	/** The body's `data.callbackType`. */
	type: unknown;
}

/** What can be said of a callback without a key. Its signature isn't compared yet. */
interface Form extends Verdict {
	signature?: Signature;
}

/** Without a fault, the ID and the claim are known. */
export const isAccepted = (
	verdict: Verdict,
): verdict is Verdict & Required<Pick<Verdict, 'taskId' | 'claim'>> => verdict.faults.length === 0;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Verifies a callback. Nothing is thrown. @param keys undefined: the receiver has none */
export function verify(
	request: CallbackRequest,
	keys: SigningKeys | undefined | 'off',
	options: VerifyOptions,
): Verdict {
	const { signature, ...form } = readForm(request, options, keys !== 'off');
	const { faults, taskId } = form;
	if (keys === 'off' || taskId === undefined) return form;
	const add = (fault: Fault): Verdict => ({ ...form, faults: [...faults, fault] });
	if (!keys) return add('keyMissing');
	const signedBy = signature && findSigner(signature, { taskId, bytes: request.bytes }, keys);
	if (signedBy) return { ...form, signedBy };
	return faults.includes('signatureWrong') ? form : add('signatureWrong');
}

/**
 * Checks everything that needs no key. A missing header, a body that isn't a JSON object, and an
 * unusable task ID end the reading. Nothing is thrown.
 * @param signed false: the headers of a signature aren't looked at
 */
export function readForm(
	{ headers, body }: CallbackRequest,
	options: VerifyOptions,
	signed: boolean,
): Form {
	const read = (name: string) => toText(headers[name.toLowerCase()]);
	const signature = signed ? readSignature(read) : undefined;
	if (signed && !signature) return { faults: ['headerMissing'] };
	const type = read('content-type');
	if (!isObject(body) || (type && !JSON_TYPE.test(type))) return { faults: ['bodyNotAnObject'] };
	const parts = callbackBody.parse(body);
	const id = readTaskId(parts);
	if ('fault' in id) return { faults: [id.fault] };
	const { taskId } = id;
	const claim = readClaim(parts);
	const tooDeep: Fault[] = isDeeper(body, JSON_LEVELS) ? ['bodyTooDeep'] : [];
	if (!signature) return { faults: tooDeep, taskId, claim };

	const { faults, ...difference } = readTime(signature, options);
	if (!signature.given.length) faults.push('signatureWrong');
	faults.push(...tooDeep);
	return { faults, taskId, claim, ...difference, signature };
}

/** Compares a timestamp with the clock here. */
function readTime({ timestamp }: Signature, { toleranceSeconds, now }: VerifyOptions): Verdict {
	if (!/^\d{1,15}$/.test(timestamp)) return { faults: ['timestampMalformed'] };
	const clockDifferenceSeconds = Math.round(Number(timestamp) - now / 1000);
	const isStale = toleranceSeconds > 0 && Math.abs(clockDifferenceSeconds) > toleranceSeconds;
	return { faults: isStale ? ['timestampStale'] : [], clockDifferenceSeconds };
}

/**
 * Reads the task's ID: `data.task_id` by the contract, `data.taskId` of a task record. JSON parsers
 * round long numbers, so a number counts as equal to text that it was rounded from.
 */
function readTaskId({
	taskId: topLevelId,
	data,
}: CallbackBody): { taskId: string } | { fault: Fault } {
	const { task_id: contractId, taskId: recordId } = data;
	const given = contractId ?? recordId;
	const taskId = Number.isSafeInteger(given) ? String(given) : toText(given);
	if (!taskId) return { fault: 'taskIdMissing' };
	if (!TASK_ID.test(taskId)) return { fault: 'taskIdMalformed' };
	const isSame = (id: unknown) => id === taskId || id === Number(taskId);
	const others = [contractId, recordId, topLevelId].filter((id) => id !== undefined && id !== null);
	return others.every(isSame) ? { taskId } : { fault: 'taskIdContradictory' };
}

/** Reads what the body says of the task. Older services say it in `code` and `callbackType`. */
function readClaim({ code = SUCCESS, data }: CallbackBody): Claim {
	const { callbackType: type, state } = data;
	const word = toText(type);
	const isSuccess = code === SUCCESS;
	if (isSuccess && PART_OF_RESULT.test(word)) return { status: 'pending', type };
	const byType: TaskStatus = isSuccess && !TASK_FAILED.test(word) ? 'completed' : 'failed';
	return { status: toStatus(toText(state), byType), type };
}
