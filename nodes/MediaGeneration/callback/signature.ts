import { createHmac, timingSafeEqual } from 'crypto';

/** The keys of a credential. The previous one counts while the key is being replaced. */
export interface SigningSecrets {
	current: string;
	previous?: string;
}

export type MatchingSecret = keyof SigningSecrets;

/** What a signature is made of, and the signature, each as its header or the body has it. */
export interface Signed {
	taskId: string;
	/** Unix time in seconds. */
	timestamp: string;
	signature: string;
}

/** A key of invisible characters is none: HMAC takes any, so everyone could sign with it. */
const isKey = (secret?: string): secret is string =>
	/[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(secret ?? '');

/** Reads the keys of a credential; undefined if it has none. */
export function getSigningSecrets(credentials: {
	webhookSecret?: string;
	previousWebhookSecret?: string;
}): SigningSecrets | undefined {
	const { webhookSecret: current, previousWebhookSecret: previous } = credentials;
	return isKey(current) ? { current, previous: isKey(previous) ? previous : undefined } : undefined;
}

/** Signs as the task-service interface has it in "Callback signature verification". */
export const sign = (taskId: string, timestamp: string, secret: string): string =>
	createHmac('sha256', secret).update(`${taskId}.${timestamp}`).digest('base64');

/** Finds the key that a callback was signed with, in constant time for each. Nothing is thrown. */
export function findMatchingSecret(
	{ taskId, timestamp, signature }: Signed,
	secrets: SigningSecrets,
): MatchingSecret | undefined {
	const given = Buffer.from(signature);
	const matches = (secret?: string): boolean => {
		if (!isKey(secret)) return false;
		const expected = Buffer.from(sign(taskId, timestamp, secret));
		return given.length === expected.length && timingSafeEqual(given, expected);
	};
	const [current, previous] = [matches(secrets.current), matches(secrets.previous)];
	if (current) return 'current';
	return previous ? 'previous' : undefined;
}
