import { createHmac, timingSafeEqual } from 'crypto';
import { integer, JSON_LEVELS, TASK_ID } from '../api/schemas';
import { isDeeper, isObject } from '../lib/json';
import { toStatus, type TaskStatus } from '../api/task';

/** Headers of a signed callback, in lower case as n8n has them. */
export const TIMESTAMP_HEADER = 'x-webhook-timestamp';
export const SIGNATURE_HEADER = 'x-webhook-signature';

/** The default tolerance for a callback's timestamp, in seconds either way. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/** The secrets that a callback may be signed with. The previous one is accepted while the secret is being replaced. */
export interface SigningSecrets {
	current: string;
	previous?: string;
}

export type MatchingSecret = keyof SigningSecrets;

/** Reads the secrets of a credential; undefined when it has none. */
export function getSigningSecrets({
	webhookSecret,
	previousWebhookSecret,
}: {
	webhookSecret?: string;
	previousWebhookSecret?: string;
}): SigningSecrets | undefined {
	const previous = previousWebhookSecret?.trim() ? previousWebhookSecret : undefined;
	return webhookSecret?.trim() ? { current: webhookSecret, previous } : undefined;
}

/** The reason for a refusal, as one word for logs. */
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

/** Base64 of the 32 bytes of an HMAC-SHA256. The length is checked separately: in the pattern it takes twice as long. */
const SIGNATURE = /^[A-Za-z0-9+/]+=$/;
const SIGNATURE_LENGTH = 44;

const JSON_TYPE = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i;

/**
 * Says whether a Content-Type is JSON, also by its suffix, such as application/cloudevents+json. The usual type is compared
 * first, because the pattern takes a tenth of the time of all checks.
 */
export const isJsonType = (contentType: string): boolean =>
	contentType === 'application/json' || JSON_TYPE.test(contentType);

export interface Refusal {
	accepted: false;
	/** The HTTP status to answer with. */
	status: 400 | 401;
	reason: RefusalReason;
	message: string;
	/** Seconds by which a stale timestamp is ahead of the clock here; negative: behind. */
	clockDifferenceSeconds?: number;
}

export interface Acceptance {
	accepted: true;
	/** Verified by the signature, unless that is off. */
	taskId: string;
	signature: MatchingSecret | 'off';
	/** The outcome that the body claims. It is not signed, so the task's details must confirm it. */
	claimedStatus: TaskStatus;
}

/** What is checked before the signature. */
interface FormSettings {
	/** The tolerance for the timestamp, in seconds either way; 0: any age. */
	toleranceSeconds: number;
	/** Milliseconds since 1970. */
	now: number;
	/** Also accepts the ID in `data.taskId` or a top-level `taskId`. The first one that the signature fits counts. */
	otherBodies?: boolean;
}

export interface VerificationSettings extends FormSettings {
	/** Absent: signatures are not verified. */
	secrets?: SigningSecrets;
}

/** A callback that passed all checks that need no key. */
interface WellFormed {
	/** The IDs that may be the signed one, in order; at least one. */
	taskIds: string[];
	parts: CallbackParts;
}

const refuse = (status: 400 | 401, reason: RefusalReason, message: string): Refusal => ({
	accepted: false,
	status,
	reason,
	message,
});

/**
 * Checks everything that needs no key, in the contract's order: missing headers, the task ID, then the timestamp and the form
 * of the signature. A callback that fails here costs no credential read and no HMAC.
 * @param headers by lower-case name, as Node has them: a repeated one is one text, joined by commas
 * @param body the parsed JSON, whatever it is
 * @param signed the signature is verified, so its headers must be there
 */
export function checkForm(
	headers: Record<string, unknown>,
	body: unknown,
	signed: boolean,
	settings: FormSettings,
): Refusal | WellFormed {
	const timestamp = headers[TIMESTAMP_HEADER];
	const signature = headers[SIGNATURE_HEADER];
	if (signed && !(isText(timestamp) && isText(signature)))
		return refuse(
			401,
			'headerMissing',
			'Both X-Webhook-Timestamp and X-Webhook-Signature are required, once each',
		);
	const contentType = headers['content-type'];
	if (isText(contentType) && !isJsonType(contentType))
		return refuse(400, 'bodyNotAnObject', 'The Content-Type must be application/json');
	const parts = readCallbackParts(body);
	if (!parts) return refuse(400, 'bodyNotAnObject', 'The body must be a JSON object');
	const taskIds = settings.otherBodies ? readAnyIds(parts) : readContractId(parts);
	if ('reason' in taskIds) return taskIds;
	const refusal = signed && checkSignedParts(timestamp as string, signature as string, settings);
	return refusal || { taskIds, parts };
}

/** Reads the ID from the place the contract defines. */
function readContractId(parts: CallbackParts): Refusal | string[] {
	const { taskId, topLevelId } = parts;
	if (!isText(taskId)) {
		const [elsewhere] = listOtherIds(parts);
		return refuse(
			400,
			'taskIdMissing',
			elsewhere
				? `The body must have data.task_id. This one has its ID in ${elsewhere.place}: turn on 'Other Callback Bodies' in the trigger's Options to accept it`
				: 'The body must have data.task_id, as text',
		);
	}
	if (!TASK_ID.test(taskId)) return refuseMalformed('data.task_id');
	const agrees =
		topLevelId === undefined ||
		topLevelId === null ||
		topLevelId === taskId ||
		// JSON parsers round numbers with more digits.
		topLevelId === Number(taskId);
	return agrees
		? [taskId]
		: refuse(400, 'taskIdContradictory', 'taskId and data.task_id must be the same');
}

/** Reads the IDs from all known places. If they differ, the signature decides. */
function readAnyIds(parts: CallbackParts): Refusal | string[] {
	const others = listOtherIds(parts).map(({ id }) => id);
	const ids = [...new Set([parts.taskId, ...others].filter(isText))];
	if (ids.length === 0)
		return refuse(400, 'taskIdMissing', 'The body must have data.task_id, data.taskId or taskId');
	const wellFormed = ids.filter((id) => TASK_ID.test(id));
	return wellFormed.length > 0 ? wellFormed : refuseMalformed('The task ID');
}

/** Lists the IDs outside the contract's place. */
export const listOtherIds = ({
	dataTaskId,
	topLevelId,
}: CallbackParts): Array<{ place: 'data.taskId' | 'taskId'; id: string }> =>
	[
		{ place: 'data.taskId' as const, id: dataTaskId },
		{ place: 'taskId' as const, id: topLevelId },
	].filter((other): other is typeof other & { id: string } => isText(other.id));

const refuseMalformed = (id: string): Refusal =>
	refuse(
		400,
		'taskIdMalformed',
		`${id} must have 1 to 256 characters, without control characters, and not be "." or ".."`,
	);

/** Checks the form of the signed parts, and the timestamp's age. */
function checkSignedParts(
	timestamp: string,
	signature: string,
	{ toleranceSeconds, now }: FormSettings,
): Refusal | undefined {
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
	settings: VerificationSettings,
): Refusal | Acceptance {
	const { secrets } = settings;
	const form = checkForm(headers, body, secrets !== undefined, settings);
	if ('reason' in form) return form;
	for (const taskId of form.taskIds) {
		const signature = secrets
			? findMatchingSecret(
					headers[SIGNATURE_HEADER] as string,
					taskId,
					headers[TIMESTAMP_HEADER] as string,
					secrets,
				)
			: 'off';
		if (!signature) continue;
		if (isDeeper(body, JSON_LEVELS))
			return refuse(
				400,
				'bodyTooDeep',
				`The body must not be nested deeper than ${JSON_LEVELS} levels`,
			);
		return { accepted: true, taskId, signature, claimedStatus: readClaimedStatus(form.parts) };
	}
	return refuse(
		401,
		'signatureWrong',
		'X-Webhook-Signature does not match the task ID and timestamp',
	);
}

/** The parts of a callback's body, unchecked, with whole-number IDs as text. Only one ID is signed; everything else is a claim. */
export interface CallbackParts {
	/** `data.task_id` */
	taskId: unknown;
	/** `data.taskId` */
	dataTaskId: unknown;
	/** `taskId` */
	topLevelId: unknown;
	code: unknown;
	callbackType: unknown;
	state: unknown;
}

/**
 * Reads the parts of a callback's body; undefined when the body is not a JSON object. A schema would take nearly as long as
 * the HMAC, and anyone can send callbacks.
 */
export function readCallbackParts(body: unknown): CallbackParts | undefined {
	if (!isObject(body)) return undefined;
	const { taskId: topLevelId, code, data } = body;
	const { task_id: taskId, taskId: dataTaskId, callbackType, state } = isObject(data) ? data : {};
	return {
		taskId: toText(taskId),
		dataTaskId: toText(dataTaskId),
		topLevelId: toText(topLevelId),
		code,
		callbackType,
		state,
	};
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The contract's IDs are text. A whole number is read as its digits, unless it was long enough to be rounded. */
const toText = (id: unknown): unknown => (Number.isSafeInteger(id) ? String(id) : id);

/** Callback types that bring part of the result before the task ends. */
const PART = /^(text|first)$/i;

const FAILURE = /fail/i;

function readClaimedStatus({ code, callbackType, state }: CallbackParts): TaskStatus {
	const type = typeof callbackType === 'string' ? callbackType : '';
	const isSuccess = (integer.safeParse(code).data ?? 200) === 200;
	if (isSuccess && PART.test(type)) return 'pending';
	const claimed = isSuccess && !FAILURE.test(type) ? 'completed' : 'failed';
	return typeof state === 'string' ? toStatus(state, claimed) : claimed;
}

/**
 * Signs as the service does: Base64 of HMAC-SHA256 over `<taskId>.<timestamp>` (task-service interface, "Callback signature
 * verification").
 * @param timestamp the header's own text: Unix time in seconds
 */
export function sign(taskId: string, timestamp: string, secret: string): string {
	return createHmac('sha256', secret).update(`${taskId}.${timestamp}`).digest('base64');
}

/**
 * Finds the secret that a callback was signed with. Never throws, whatever the sender chose. Tries every secret, each in
 * constant time. A blank secret never matches, because anyone could sign with it.
 */
export function findMatchingSecret(
	signature: string,
	taskId: string,
	timestamp: string,
	secrets: SigningSecrets,
): MatchingSecret | undefined {
	const matches = (secret: string | undefined): boolean =>
		Boolean(secret?.trim()) &&
		equalsInConstantTime(signature, sign(taskId, timestamp, secret as string));
	const current = matches(secrets.current);
	const previous = matches(secrets.previous);
	if (current) return 'current';
	return previous ? 'previous' : undefined;
}

function equalsInConstantTime(given: string, expected: string): boolean {
	const givenBytes = Buffer.from(given);
	const expectedBytes = Buffer.from(expected);
	return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
