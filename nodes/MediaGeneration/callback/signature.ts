import { createHmac, timingSafeEqual } from 'crypto';
import { buildSignedText } from '../api/service';

/** The keys of a credential. The previous one counts while the key is being replaced. */
export interface SigningKeys {
	current: string;
	previous?: string;
}

/** Which of the keys. */
export type KeyName = keyof SigningKeys;

/** What a signature is made of, and the signature, each as its header or the body has it. */
export interface Signed {
	taskId: string;
	/** Unix time in seconds. */
	timestamp: string;
	signature: string;
}

/** Invisible characters aren't a key: HMAC accepts them, so anyone could sign. */
const isKey = (secret?: string): secret is string =>
	/[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(secret ?? '');

/** Reads the keys of a credential; undefined if it has none. */
export function readSigningKeys(credentials: {
	webhookSecret?: string;
	previousWebhookSecret?: string;
}): SigningKeys | undefined {
	const { webhookSecret: current, previousWebhookSecret: previous } = credentials;
	return isKey(current) ? { current, previous: isKey(previous) ? previous : undefined } : undefined;
}

/** Signs as described in the task-service interface, "Callback signature verification". */
export const sign = (taskId: string, timestamp: string, key: string): string =>
	createHmac('sha256', key).update(buildSignedText(taskId, timestamp)).digest('base64');

/**
 * Finds the key that made a signature; undefined if none did. Each key is compared in constant
 * time. Nothing is thrown.
 */
export function findSigner(
	{ taskId, timestamp, signature }: Signed,
	keys: SigningKeys,
): KeyName | undefined {
	const given = Buffer.from(signature);
	const matches = (key?: string): boolean => {
		if (!isKey(key)) return false;
		const expected = Buffer.from(sign(taskId, timestamp, key));
		return given.length === expected.length && timingSafeEqual(given, expected);
	};
	// Both are always compared, so the time taken doesn't show which one matched.
	const [current, previous] = [matches(keys.current), matches(keys.previous)];
	if (current) return 'current';
	return previous ? 'previous' : undefined;
}
