import { timingSafeEqual } from 'crypto';
import { isWeakKey, KEY_NAME, sign, WEAK_KEY, type Signature, type SignedContent } from './scheme';

/** The keys of a credential. The previous one counts while the key is being replaced. */
export interface SigningKeys {
	current: string;
	previous?: string;
}

/** Which of the keys. */
export type KeyName = keyof SigningKeys;

/** Invisible characters aren't a key: HMAC accepts them, so anyone could sign. */
const isKey = (secret?: string): secret is string =>
	/[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(secret ?? '');

/** Reads the keys of a credential; undefined if it has none. */
export function readSigningKeys({
	webhookSecret: current,
	previousWebhookSecret: previous,
}: {
	webhookSecret?: string;
	previousWebhookSecret?: string;
}): SigningKeys | undefined {
	return isKey(current) ? { current, previous: isKey(previous) ? previous : undefined } : undefined;
}

/** Names the keys that can be guessed, and says what to do; undefined if there are none. */
export function explainWeakKeys({ current, previous }: SigningKeys): string | undefined {
	const names = [
		isWeakKey(current) && "'Webhook HMAC Key'",
		previous && isWeakKey(previous) && "'Previous Webhook HMAC Key'",
	].filter(Boolean);
	if (!names.length) return undefined;
	return `${names.join(' and ')} in the credential: ${WEAK_KEY} can be guessed, and whoever has it can forge callbacks. Generate a new ${KEY_NAME} in your account settings with the service and paste it into the credential.`;
}

/** Finds the key that made a signature of the service; undefined if none did. Nothing is thrown. */
export const findSigner = (
	signature: Signature,
	content: SignedContent,
	keys: SigningKeys,
): KeyName | undefined => findKey(signature.given, (key) => sign(signature, content, key), keys);

/**
 * Finds the key that makes one of the given signatures; undefined if none does. Each key is compared
 * in constant time.
 */
export function findKey(
	signatures: string[],
	signWith: (key: string) => string | undefined,
	keys: SigningKeys,
): KeyName | undefined {
	const given = signatures.map((one) => Buffer.from(one));
	const matches = (key?: string) => {
		const made = isKey(key) && signWith(key);
		if (!made) return false;
		const expected = Buffer.from(made);
		return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
	};
	// Both are always compared, so the time taken doesn't show which one matched.
	const [current, previous] = [matches(keys.current), matches(keys.previous)];
	if (current) return 'current';
	return previous ? 'previous' : undefined;
}
