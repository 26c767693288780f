import {
	findMatchingSecret,
	listOtherIds,
	readCallbackParts,
	SIGNATURE_HEADER,
	TIMESTAMP_HEADER,
	verifyCallback,
	type MatchingSecret,
	type RefusalReason,
	type SigningSecrets,
	type VerificationSettings,
} from './verify';

/** Faults of a callback that its sender is not told. */
type DiagnosisReason =
	| RefusalReason
	| 'keyMissing'
	| 'keyHasWhiteSpace'
	| 'keyMismatch'
	| 'signatureHex'
	| 'signatureUrlSafe'
	| 'signatureWhiteSpace'
	| 'signatureOfDataTaskId'
	| 'signatureOfTopLevelId'
	| 'timestampInMilliseconds';

/** A callback's fault and the next step. It holds no secret and no signature. */
export interface Diagnosis {
	genuine: boolean;
	/** Absent: genuine. */
	reason?: DiagnosisReason;
	message: string;
	taskId?: string;
	/** The secret that made the signature, also when something else is wrong. */
	signature?: MatchingSecret;
	/** Seconds by which the timestamp is ahead of the clock here; negative: behind. */
	clockDifferenceSeconds?: number;
}

/** Known mistakes in a signature that is otherwise right. */
const KNOWN_MISTAKES: Array<{
	reason: DiagnosisReason;
	message: string;
	/** Undoes the mistake; undefined for a signature that does not have it. */
	repair: (signature: string) => string | undefined;
}> = [
	{
		reason: 'signatureWhiteSpace',
		message:
			'The signature is right, but has white space in or around it. Look at what is between the service and n8n.',
		repair: (signature) => signature.replace(/\s/g, ''),
	},
	{
		reason: 'signatureHex',
		message:
			'The signature is right, but written in hex; the contract has Base64. Ask the service.',
		repair: (signature) =>
			/^[0-9a-f]{64}$/i.test(signature)
				? Buffer.from(signature, 'hex').toString('base64')
				: undefined,
	},
	{
		reason: 'signatureUrlSafe',
		message:
			'The signature is right, but written in URL-safe or unpadded Base64; the contract has plain Base64. Ask the service.',
		repair: (signature) =>
			/^[\w-]{43}=?$/.test(signature)
				? Buffer.from(signature, 'base64url').toString('base64')
				: undefined,
	},
];

/**
 * Verifies a callback like the trigger, and explains a refusal to its owner, who has the secret.
 * @param headers by name, in any case
 * @param body the parsed JSON, whatever it is
 */
export function diagnoseCallback(
	headers: Record<string, unknown>,
	body: unknown,
	settings: VerificationSettings,
): Diagnosis {
	const { secrets, now } = settings;
	const given = normalizeHeaders(headers);
	const facts = findFacts(given, body, secrets, now);
	const refused = (reason: DiagnosisReason, message: string): Diagnosis => ({
		genuine: false,
		reason,
		message,
		...facts,
	});
	if (!secrets)
		return refused(
			'keyMissing',
			"The credential has no 'Webhook HMAC Key', so nothing can be verified. Paste the webhookHmacKey of your account settings into it.",
		);
	const verdict = verifyCallback(given, body, settings);
	if (verdict.accepted)
		return {
			genuine: true,
			message:
				verdict.signature === 'current'
					? 'The callback is genuine.'
					: "The callback is genuine, signed with the previous key. Keep 'Previous Webhook HMAC Key' in the credential for now.",
			...facts,
		};
	const { reason, message } = verdict;
	switch (reason) {
		case 'headerMissing':
			return refused(
				reason,
				`${message}. Missing: ${listMissingHeaders(given).join(', ')}. The service sends them once you have generated a webhookHmacKey in your account settings.`,
			);
		case 'timestampStale':
			return explainStaleness(facts, refused, now);
		case 'signatureWrong':
		case 'taskIdMissing':
		case 'taskIdContradictory': {
			const mistake =
				(reason === 'signatureWrong' ? findMistake(given, body, secrets) : undefined) ??
				findOtherSignedId(given, body, secrets);
			if (mistake) return refused(mistake.reason, mistake.message);
			return reason === 'signatureWrong'
				? refused(
						'keyMismatch',
						"The signature is of another key, another task ID or another time. Compare 'Webhook HMAC Key' in the credential with the webhookHmacKey in your account settings. If the key was replaced, put the old one into 'Previous Webhook HMAC Key'.",
					)
				: refused(reason, `${message}.`);
		}
		default:
			return refused(reason, `${message}.`);
	}
}

/** As seconds this would be the year 5138, so a timestamp from here on is in milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000;

function explainStaleness(
	{ clockDifferenceSeconds = 0, signature }: Partial<Diagnosis>,
	refused: (reason: DiagnosisReason, message: string) => Diagnosis,
	now: number,
): Diagnosis {
	if (clockDifferenceSeconds + now / 1000 > MILLISECONDS_FROM)
		return refused(
			'timestampInMilliseconds',
			'X-Webhook-Timestamp is in milliseconds; the contract has seconds. Ask the service.',
		);
	const side = clockDifferenceSeconds < 0 ? 'before' : 'after';
	const rest = signature ? `, and its signature is right (${signature} key)` : '';
	return refused(
		'timestampStale',
		`The callback was sent ${Math.abs(clockDifferenceSeconds)} s ${side} now${rest}. If it came in just now, set the clocks of n8n's server and the sender. For an old one, set Tolerance to 0.`,
	);
}

/** Finds the facts that do not depend on what is wrong. */
function findFacts(
	headers: Record<string, string>,
	body: unknown,
	secrets: SigningSecrets | undefined,
	now: number,
): Pick<Diagnosis, 'taskId' | 'signature' | 'clockDifferenceSeconds'> {
	const { timestamp, signature } = readSignedParts(headers);
	const taskId = readTaskId(body);
	const matching = secrets && taskId && findMatchingSecret(signature, taskId, timestamp, secrets);
	return {
		...(taskId && { taskId }),
		...(matching && { signature: matching }),
		...(/^\d{1,15}$/.test(timestamp) && {
			clockDifferenceSeconds: Math.round(Number(timestamp) - now / 1000),
		}),
	};
}

function findMistake(
	headers: Record<string, string>,
	body: unknown,
	secrets: SigningSecrets,
): { reason: DiagnosisReason; message: string } | undefined {
	const { timestamp, signature } = readSignedParts(headers);
	const taskId = readTaskId(body) ?? '';
	for (const mistake of KNOWN_MISTAKES) {
		const repaired = mistake.repair(signature);
		if (repaired && findMatchingSecret(repaired, taskId, timestamp, secrets)) return mistake;
	}
	const trimmed = { current: secrets.current.trim(), previous: secrets.previous?.trim() };
	const matching = findMatchingSecret(signature, taskId, timestamp, trimmed);
	if (matching)
		return {
			reason: 'keyHasWhiteSpace',
			message: `${matching === 'current' ? 'Webhook HMAC Key' : 'Previous Webhook HMAC Key'} in the credential has white space around it. Paste it again without.`,
		};
	return undefined;
}

/** Finds the ID that was signed in place of data.task_id. Some services put it elsewhere. */
function findOtherSignedId(
	headers: Record<string, string>,
	body: unknown,
	secrets: SigningSecrets,
): { reason: DiagnosisReason; message: string } | undefined {
	const { timestamp, signature } = readSignedParts(headers);
	const parts = readCallbackParts(body);
	const signed = (parts ? listOtherIds(parts) : []).find(({ id }) =>
		findMatchingSecret(signature, id, timestamp, secrets),
	);
	return (
		signed && {
			reason: signed.place === 'taskId' ? 'signatureOfTopLevelId' : 'signatureOfDataTaskId',
			message: `The service signed ${signed.place === 'taskId' ? 'the top-level taskId' : 'data.taskId'}; the contract signs data.task_id. Turn on 'Other Callback Bodies' in the trigger's Options to accept such callbacks.`,
		}
	);
}

const listMissingHeaders = (headers: Record<string, string>): string[] =>
	[
		{ name: 'X-Webhook-Timestamp', value: headers[TIMESTAMP_HEADER] },
		{ name: 'X-Webhook-Signature', value: headers[SIGNATURE_HEADER] },
	]
		.filter(({ value }) => !value)
		.map(({ name }) => name);

const readSignedParts = (headers: Record<string, string>) => ({
	timestamp: headers[TIMESTAMP_HEADER] ?? '',
	signature: headers[SIGNATURE_HEADER] ?? '',
});

/** Reads the contract's ID where it is text. */
function readTaskId(body: unknown): string | undefined {
	const taskId = readCallbackParts(body)?.taskId;
	return typeof taskId === 'string' ? taskId : undefined;
}

/** Writes header names in lower case, as Node does, and numbers as text. */
const normalizeHeaders = (headers: Record<string, unknown>): Record<string, string> =>
	Object.fromEntries(
		Object.entries(headers)
			.filter(([, value]) => value !== undefined && value !== null)
			.map(([name, value]) => [name.trim().toLowerCase(), [value].flat().map(String).join(', ')]),
	);
