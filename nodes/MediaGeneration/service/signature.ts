import { createHmac, timingSafeEqual } from 'crypto';

/** Names of the headers of a signed callback, as n8n gives them: in lower case. */
export const TIMESTAMP_HEADER = 'x-webhook-timestamp';
export const SIGNATURE_HEADER = 'x-webhook-signature';

/** The keys that a callback may be signed with; the previous one counts while the key is being rotated. */
export interface SigningKeys {
	current: string;
	previous?: string;
}

export type MatchedKey = keyof SigningKeys;

/**
 * Base64 of HMAC-SHA256 over `<taskId>.<timestamp>`, as the service signs its callbacks
 * (task-service interface, "Callback signature verification").
 * @param timestamp the header's own text: Unix time in seconds
 */
export function sign(taskId: string, timestamp: string, key: string): string {
	return createHmac('sha256', key).update(`${taskId}.${timestamp}`).digest('base64');
}

/**
 * Which key a callback was signed with, if any. Never throws on what a sender chose; every key is tried, each
 * in constant time, and a blank key never matches: HMAC takes one, so anyone could sign with it.
 */
export function matchedKey(
	signature: string,
	taskId: string,
	timestamp: string,
	keys: SigningKeys,
): MatchedKey | undefined {
	const matches = (key: string | undefined): boolean =>
		Boolean(key?.trim()) && equalInConstantTime(signature, sign(taskId, timestamp, key as string));
	const current = matches(keys.current);
	const previous = matches(keys.previous);
	if (current) return 'current';
	return previous ? 'previous' : undefined;
}

function equalInConstantTime(given: string, expected: string): boolean {
	const givenBytes = Buffer.from(given);
	const expectedBytes = Buffer.from(expected);
	return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
