import type { Logger } from 'n8n-workflow';
import type { MatchingSecret, SigningSecrets } from '../callback/signature';

/** After so many callbacks in a row with the current secret, the previous one is taken to be out of use. */
export const ENOUGH_CALLBACKS = 20;

/** By trigger, the number of callbacks in a row with the current secret; kept while there is a previous one. */
const inARow = new Map<string, number>();

/** Says once in n8n's log that the previous key can be cleared. Each item says which key matched. */
export function noteMatchingSecret(
	logger: Pick<Logger, 'info'>,
	trigger: string,
	{ previous }: SigningSecrets,
	matching: MatchingSecret,
): void {
	if (!previous) {
		inARow.delete(trigger);
		return;
	}
	const count = matching === 'current' ? (inARow.get(trigger) ?? 0) + 1 : 0;
	inARow.set(trigger, count);
	if (count === ENOUGH_CALLBACKS)
		logger.info(
			`The last ${count} callbacks were all signed with the current key. If the service has replaced the key, clear 'Previous Webhook HMAC Key' in the credential.`,
		);
}
