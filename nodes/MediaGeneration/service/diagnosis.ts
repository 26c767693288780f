import { judgeCallback, type RefusalReason } from './callback';
import { callbackParts } from './contract';
import {
	matchedKey,
	SIGNATURE_HEADER,
	TIMESTAMP_HEADER,
	type MatchedKey,
	type SigningKeys,
} from './signature';

/** What is wrong with a callback, beyond the reasons that its sender is given. */
export type DiagnosisReason =
	| RefusalReason
	| 'keyMissing'
	| 'keyHasWhiteSpace'
	| 'keyMismatch'
	| 'signatureHex'
	| 'signatureUrlSafe'
	| 'signatureWhiteSpace'
	| 'signatureOfTopLevelId'
	| 'timestampInMilliseconds';

/** What is said of a callback; no key and no signature is in it. */
export interface Diagnosis {
	genuine: boolean;
	/** Absent: genuine. */
	reason?: DiagnosisReason;
	/** What is wrong and what to do. */
	message: string;
	taskId?: string;
	/** The key that the signature is of, also where something else is wrong. */
	signature?: MatchedKey;
	/** How far the timestamp is ahead of the present time; negative: behind. */
	clockDifferenceSeconds?: number;
}

interface DiagnosisSettings {
	keys?: SigningKeys;
	toleranceSeconds: number;
	/** Milliseconds since 1970. */
	now: number;
}

/** The ways to go wrong with a signature that is otherwise right, and how the right one looks when they are taken back. */
const WAYS: Array<{
	reason: DiagnosisReason;
	message: string;
	/** Whether a signature has this form, and if so the Base64 of it. */
	base64Of: (given: string) => string | undefined;
}> = [
	{
		reason: 'signatureWhiteSpace',
		message:
			'The signature is right but for white space in or around it. Look at what is between the service and n8n.',
		base64Of: (given) => (/\s/.test(given) ? given.replace(/\s/g, '') : undefined),
	},
	{
		reason: 'signatureHex',
		message: 'The signature is right but written in hex; the contract has Base64. Ask the service.',
		base64Of: (given) =>
			/^[0-9a-f]{64}$/i.test(given) ? Buffer.from(given, 'hex').toString('base64') : undefined,
	},
	{
		reason: 'signatureUrlSafe',
		message:
			'The signature is right but written in URL-safe or unpadded Base64; the contract has plain Base64. Ask the service.',
		base64Of: (given) =>
			/^[\w-]{43}=?$/.test(given) ? Buffer.from(given, 'base64url').toString('base64') : undefined,
	},
];

/**
 * Says of a callback what the trigger would say, and where it would refuse it, why: for its owner, who has the key.
 * @param headers by name, in any case
 * @param body the parsed JSON, whatever it is
 */
export function diagnoseCallback(
	headers: Record<string, unknown>,
	body: unknown,
	{ keys, toleranceSeconds, now }: DiagnosisSettings,
): Diagnosis {
	const given = byLowerCase(headers);
	const facts = factsOf(given, body, keys, now);
	const found = (reason: DiagnosisReason, message: string): Diagnosis => ({
		genuine: false,
		reason,
		message,
		...facts,
	});
	if (!keys)
		return found(
			'keyMissing',
			'The credential has no Webhook HMAC Key, so nothing can be verified. Paste the webhookHmacKey of your account settings into it.',
		);
	const verdict = judgeCallback(given, body, { keys, toleranceSeconds, now });
	if (verdict.accepted)
		return {
			genuine: true,
			message:
				verdict.signature === 'current'
					? 'The callback is genuine.'
					: 'The callback is genuine, signed with the previous key: keep Previous Webhook HMAC Key in the credential for now.',
			...facts,
		};
	const { reason, message } = verdict;
	switch (reason) {
		case 'headerMissing':
			return found(
				reason,
				`${message}. Missing: ${missingOf(given).join(', ')}. The service sends them once you have generated a webhookHmacKey in your account settings.`,
			);
		case 'timestampStale':
			return staleness(facts, found, now);
		case 'signatureWrong': {
			const way = wayOf(given, body, keys);
			return way
				? found(way.reason, way.message)
				: found(
						'keyMismatch',
						'The signature is of another key, another task ID or another time. Compare Webhook HMAC Key in the credential with the webhookHmacKey in your account settings; if the key was replaced, put the old one into Previous Webhook HMAC Key.',
					);
		}
		case 'taskIdMissing':
		case 'taskIdContradictory':
			return ofTopLevelId(given, body, keys)
				? found(
						'signatureOfTopLevelId',
						`The service signed the top-level taskId; the contract signs data.task_id. ${message}.`,
					)
				: found(reason, `${message}.`);
		default:
			return found(reason, `${message}.`);
	}
}

/** A timestamp from here on is one in milliseconds: as seconds it would be the year 5138. */
const MILLISECONDS_FROM = 100_000_000_000;

function staleness(
	{ clockDifferenceSeconds = 0, signature }: Partial<Diagnosis>,
	found: (reason: DiagnosisReason, message: string) => Diagnosis,
	now: number,
): Diagnosis {
	if (clockDifferenceSeconds + now / 1000 > MILLISECONDS_FROM)
		return found(
			'timestampInMilliseconds',
			'X-Webhook-Timestamp is in milliseconds; the contract has seconds. Ask the service.',
		);
	const side = clockDifferenceSeconds < 0 ? 'before' : 'after';
	const rest = signature ? `, and its signature is right (${signature} key)` : '';
	return found(
		'timestampStale',
		`The callback was sent ${Math.abs(clockDifferenceSeconds)} s ${side} now${rest}. If it came in just now, set the clocks of n8n's server and the sender; for an old one, set Tolerance to 0.`,
	);
}

/** What can be said of a callback whatever is wrong with it. */
function factsOf(
	headers: Record<string, string>,
	body: unknown,
	keys: SigningKeys | undefined,
	now: number,
): Pick<Diagnosis, 'taskId' | 'signature' | 'clockDifferenceSeconds'> {
	const { timestamp, signature } = signedPartsOf(headers);
	const { taskId } = idsOf(body);
	const matched = keys && taskId && matchedKey(signature, taskId, timestamp, keys);
	return {
		...(taskId && { taskId }),
		...(matched && { signature: matched }),
		...(/^\d{1,15}$/.test(timestamp) && {
			clockDifferenceSeconds: Math.round(Number(timestamp) - now / 1000),
		}),
	};
}

/** The way in which a signature that does not match went wrong, if it is a known one. */
function wayOf(
	headers: Record<string, string>,
	body: unknown,
	keys: SigningKeys,
): { reason: DiagnosisReason; message: string } | undefined {
	const { timestamp, signature } = signedPartsOf(headers);
	const { taskId = '' } = idsOf(body);
	for (const way of WAYS) {
		const base64 = way.base64Of(signature);
		if (base64 && matchedKey(base64, taskId, timestamp, keys)) return way;
	}
	const trimmed = { current: keys.current.trim(), previous: keys.previous?.trim() };
	const matched = matchedKey(signature, taskId, timestamp, trimmed);
	if (matched)
		return {
			reason: 'keyHasWhiteSpace',
			message: `${matched === 'current' ? 'Webhook HMAC Key' : 'Previous Webhook HMAC Key'} in the credential has white space around it. Paste it again without.`,
		};
	return undefined;
}

function ofTopLevelId(headers: Record<string, string>, body: unknown, keys: SigningKeys): boolean {
	const { timestamp, signature } = signedPartsOf(headers);
	const { topLevelId } = idsOf(body);
	return Boolean(topLevelId && matchedKey(signature, topLevelId, timestamp, keys));
}

const missingOf = (headers: Record<string, string>): string[] =>
	[
		{ name: 'X-Webhook-Timestamp', value: headers[TIMESTAMP_HEADER] },
		{ name: 'X-Webhook-Signature', value: headers[SIGNATURE_HEADER] },
	]
		.filter(({ value }) => !value)
		.map(({ name }) => name);

const signedPartsOf = (headers: Record<string, string>) => ({
	timestamp: headers[TIMESTAMP_HEADER] ?? '',
	signature: headers[SIGNATURE_HEADER] ?? '',
});

/** The ids of a body, where they are texts. */
function idsOf(body: unknown): { taskId?: string; topLevelId?: string } {
	const { taskId, topLevelId } = callbackParts(body) ?? {};
	const text = (id: unknown) => (typeof id === 'string' && id !== '' ? id : undefined);
	return { taskId: text(taskId), topLevelId: text(topLevelId) };
}

/** Headers as Node gives them: by lower-case name, and as text also where a user wrote a number. */
const byLowerCase = (headers: Record<string, unknown>): Record<string, string> =>
	Object.fromEntries(
		Object.entries(headers)
			.filter(([, value]) => value !== undefined && value !== null)
			.map(([name, value]) => [name.trim().toLowerCase(), [value].flat().map(String).join(', ')]),
	);
