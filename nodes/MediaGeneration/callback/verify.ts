import type { IWebhookFunctions } from 'n8n-workflow';
import type { Credentials } from '../api/endpoints';
import { callbackBody, JSON_LEVELS, type CallbackBody } from '../api/schemas';
import { PART_OF_RESULT, SUCCESS, TASK_FAILED, TASK_ID } from '../api/service';
import { toStatus, type TaskStatus } from '../api/task';
import { readBody } from '../host/jsonBody';
import { readAsWebhook } from '../host/webhookCredential';
import { CREDENTIAL } from '../lib/brand';
import { isDeeper, isObject } from '../lib/json';
import { warnOwner, type Refusal, type Refused } from './respond';
import {
	DEFAULT_TOLERANCE_SECONDS,
	readSignature,
	SIGNATURE_FAULTS,
	type Signature,
} from './scheme';
import { findSigner, readSigningKeys, type KeyName } from './signature';

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

export interface VerifyOptions {
	/** Whether the callback must be signed. `ifKey`: only if the credential has a key. */
	signed: boolean | 'ifKey';
	/** A callback of this type needs no signature, whatever the credential has: nobody trusts it. */
	unsignedType?: string;
	/** How far the timestamp may be off, in seconds either way; 0: any age. */
	toleranceSeconds?: number;
}

/** What the body says, signed or not. The claim decides nothing. */
interface Form {
	taskId: string;
	/** `data` has no ID. What the contract signs is the one in `data`. */
	isAtTop: boolean;
	claim: {
		/** Pending: the callback brings a part of the result. */
		status: TaskStatus;
		/** The body's `data.callbackType`. */
		type: unknown;
	};
}

/** A callback that counts. */
export interface AcceptedCallback extends Form {
	/** The key that made the signature. */
	signedBy: KeyName | 'off';
	body: unknown;
	/** Returns the credential that it was verified with, or reads it. @throws if n8n can't read it */
	readCredentials: () => Promise<Credentials>;
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Verifies the callback in a request to n8n, up to its first fault. Anyone can send callbacks, so the
 * credential is read last.
 * @throws if n8n can't read the credential
 */
export async function verifyRequest(
	context: IWebhookFunctions,
	{ signed, unsignedType, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: VerifyOptions,
): Promise<Refused<Fault> | AcceptedCallback> {
	const { body, bytes } = readBody(context);
	const headers: Record<string, unknown> = context.getHeaderData();
	const read = (name: string) => toText(headers[name.toLowerCase()]);
	const signature = readSignature(read);
	if (signed === true && !signature) return { reason: 'headerMissing' };
	const form = readForm(body, read('content-type'));
	if ('reason' in form) return form;
	const fault = findFault(signature, form, toleranceSeconds);
	if (signed === true && fault) return fault;
	let credentials: Promise<Credentials> | undefined;
	const readCredentials = async () =>
		await (credentials ??= readAsWebhook<Credentials>(context, CREDENTIAL));
	const callback = { ...form, body, readCredentials };
	const isTrustedByNobody = unsignedType && form.claim.type === unsignedType;
	if (!signed || isTrustedByNobody) return { ...callback, signedBy: 'off' };
	const keys = readSigningKeys(await readCredentials());
	if (!keys && signed === 'ifKey') return { ...callback, signedBy: 'off' };
	if (fault) return fault;
	if (!keys) return { reason: 'keyMissing' };
	const signedBy = signature && findSigner(signature, { taskId: form.taskId, bytes }, keys);
	if (!signedBy) return { reason: 'signatureWrong' };
	if (signedBy === 'previous')
		warnOwner(
			context,
			'previousKey',
			"got a callback that is signed with 'Previous Webhook HMAC Key' of the credential. Clear that key once the service signs with the new one, so that nobody else can use it.",
		);
	return { ...callback, signedBy };
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
function readTaskId({
	taskId: topLevelId,
	data,
}: CallbackBody): Omit<Form, 'claim'> | Refused<Fault> {
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
function readClaim({ code = SUCCESS, state: topLevelState, data }: CallbackBody): Form['claim'] {
	const { callbackType: type, state = topLevelState } = data;
	const word = toText(type);
	const isSuccess = code === SUCCESS;
	if (isSuccess && PART_OF_RESULT.test(word)) return { status: 'pending', type };
	const byType: TaskStatus = isSuccess && !TASK_FAILED.test(word) ? 'completed' : 'failed';
	return { status: toStatus(toText(state), byType), type };
}
