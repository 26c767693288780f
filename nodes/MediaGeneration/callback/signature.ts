import { createHmac, timingSafeEqual } from 'crypto';

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
