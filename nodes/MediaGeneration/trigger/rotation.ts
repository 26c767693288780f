import type { Logger } from 'n8n-workflow';
import type { MatchedKey, SigningKeys } from '../service/signature';

/** After how many callbacks in a row that the current key signed the previous one is taken to be out of use. */
export const ENOUGH_CALLBACKS = 20;

/** By trigger, how many callbacks in a row the current key has signed; kept while there is a previous key. */
const inARow = new Map<string, number>();

/**
 * Says once in n8n's log that the previous key can be cleared. The log is where a trigger that runs unseen can speak to its
 * owner; each item says which key matched.
 */
export function noteKey(
	logger: Pick<Logger, 'info'>,
	trigger: string,
	{ previous }: SigningKeys,
	matched: MatchedKey,
): void {
	if (!previous) {
		inARow.delete(trigger);
		return;
	}
	const count = matched === 'current' ? (inARow.get(trigger) ?? 0) + 1 : 0;
	inARow.set(trigger, count);
	if (count === ENOUGH_CALLBACKS)
		logger.info(
			`The last ${count} callbacks were all signed with the current key. If the service has replaced the key, clear Previous Webhook HMAC Key in the credential.`,
		);
}
