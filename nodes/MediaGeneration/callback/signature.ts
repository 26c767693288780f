import { timingSafeEqual } from 'crypto';
import { findKeyFault, GET_KEY } from './scheme';

/** The keys of a credential. The previous one counts while the key is being replaced. */
export interface SigningKeys {
	current: string;
	previous?: string;
}

/** Which of the keys signed. */
export type KeyName = keyof SigningKeys;

/** HMAC accepts a blank key, with which anyone could sign. Invisible characters are blank too. */
const isKey = (secret?: string): secret is string =>
	/[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(secret ?? '');

/** The fields of a credential that have its keys. */
export interface KeyFields {
	webhookSecret?: string;
	previousWebhookSecret?: string;
}

/** Reads the keys of a credential; undefined if it has none. */
export function readSigningKeys({
	webhookSecret: current,
	previousWebhookSecret: previous,
}: KeyFields): SigningKeys | undefined {
	return isKey(current) ? { current, previous: isKey(previous) ? previous : undefined } : undefined;
}

/** Says which fault a key has, and what to do; undefined if both are fine. */
export function explainKeyFault({ current, previous = current }: SigningKeys): string | undefined {
	const fault = findKeyFault(current) ?? findKeyFault(previous);
	return fault && `A webhook HMAC key ${fault}. ${GET_KEY}.`;
}

/** Finds the key that makes one of the signatures, compared in constant time; undefined if none does. */
export function findKey(
	signatures: string[],
	signWith: (key: string) => string | undefined,
	keys: SigningKeys,
): KeyName | undefined {
	const candidates = signatures.map((signature) => Buffer.from(signature));
	const matches = (key?: string) => {
		const signature = key && signWith(key);
		if (!signature) return false;
		const expected = Buffer.from(signature);
		return candidates.some(
			(one) => one.length === expected.length && timingSafeEqual(one, expected),
		);
	};
	// Both keys are always compared, so the duration doesn't show which one signed.
	const [current, previous] = [matches(keys.current), matches(keys.previous)];
	if (current) return 'current';
	return previous ? 'previous' : undefined;
}
