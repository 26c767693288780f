import { REFUSALS, type Reason } from './refusals';
import { findMatchingSecret, type MatchingSecret, type SigningSecrets } from './signature';
import { checkForm, isStale } from './verify';

/** What is wrong with a callback, and the next step. It holds no key and no signature. */
export interface Diagnosis {
	genuine: boolean;
	/** Absent: genuine. */
	reason?: Reason;
	message: string;
	taskId?: string;
	/** The key that made the signature, also when something else is wrong. */
	signature?: MatchingSecret;
	/** Seconds by which the timestamp is ahead of the clock here; negative: behind. */
	clockDifferenceSeconds?: number;
}

/** What the owner of the key can do. A sender is not told. */
const NEXT_STEPS: Partial<Record<Reason, string>> = {
	headerMissing:
		'The service sends them once you have generated a webhookHmacKey in your account settings.',
	keyMissing:
		"Paste the webhookHmacKey of your account settings into 'Webhook HMAC Key' of the credential.",
	signatureWrong:
		"Compare 'Webhook HMAC Key' in the credential with the webhookHmacKey in your account settings.",
	timestampStale:
		"Set the clocks of n8n's server and the sender. For an old callback, set Tolerance (Seconds) to 0.",
};

/**
 * Verifies a callback like the trigger, and says what is known of it even if it is refused.
 * @param headers by name, in any case
 * @param body the parsed JSON, whatever it is
 * @param now milliseconds since 1970
 */
export function diagnoseCallback(
	headers: Record<string, unknown>,
	body: unknown,
	settings: { secrets?: SigningSecrets; toleranceSeconds: number; now: number },
): Diagnosis {
	const { secrets, toleranceSeconds, now } = settings;
	// Whatever its age, so that the key of a stale callback is found too.
	const anyAge = { verifySignature: true, toleranceSeconds: 0 };
	const form = checkForm(normalizeHeaders(headers), body, anyAge, now);
	if ('reason' in form) return { genuine: false, ...describe(form.reason) };
	const { taskId, clockDifferenceSeconds } = form;
	const signature = secrets && findMatchingSecret(form, secrets);
	let reason: Reason | undefined = signature ? undefined : 'signatureWrong';
	if (isStale(clockDifferenceSeconds, toleranceSeconds)) reason = 'timestampStale';
	if (!secrets) reason = 'keyMissing';
	return {
		genuine: !reason,
		...(reason ? describe(reason) : { message: 'The callback is genuine.' }),
		taskId,
		...(signature && { signature }),
		clockDifferenceSeconds,
	};
}

const describe = (reason: Reason): { reason: Reason; message: string } => ({
	reason,
	message: [REFUSALS[reason][1].replace(/\.$/, ''), NEXT_STEPS[reason]].filter(Boolean).join('. '),
});

/** Writes header names in lower case, as Node does, and numbers as text. */
const normalizeHeaders = (headers: Record<string, unknown>): Record<string, unknown> =>
	Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [
			name.trim().toLowerCase(),
			typeof value === 'number' ? String(value) : value,
		]),
	);
