import { KEY_NAME } from '../api/service';
import { FAULTS, type Fault } from './faults';
import type { KeyName, SigningKeys } from './signature';
import { verify, type CallbackRequest, type VerifyOptions } from './verify';

/** What is wrong with a callback, and the next step. It holds no key and no signature. */
export interface Diagnosis {
	genuine: boolean;
	/** Absent: genuine. */
	reason?: Fault;
	message: string;
	taskId?: string;
	/** The key that made the signature, also when something else is wrong. */
	signature?: KeyName;
	/** Seconds by which the timestamp is ahead of the clock here; negative: behind. */
	clockDifferenceSeconds?: number;
}

/** What the owner of the key can do. Senders aren't told. */
const NEXT_STEPS: Partial<Record<Fault, string>> = {
	headerMissing: `The service sends them once you have generated a ${KEY_NAME} in your account settings.`,
	keyMissing: `Paste the ${KEY_NAME} of your account settings into 'Webhook HMAC Key' of the credential.`,
	signatureWrong: `Compare 'Webhook HMAC Key' in the credential with the ${KEY_NAME} in your account settings.`,
	timestampStale:
		"Set the clocks of n8n's server and the sender. For an old callback, set Tolerance (Seconds) to 0.",
};

/** What the owner corrects first, whatever else is wrong. */
const FIRST: Fault[] = ['keyMissing', 'timestampStale'];

/**
 * Verifies a callback, and explains the verdict to the owner of the key.
 * @param request its headers by name in any case
 */
export function diagnose(
	{ headers, body }: CallbackRequest,
	keys: SigningKeys | undefined,
	options: VerifyOptions,
): Diagnosis {
	const verdict = verify({ headers: toNodeHeaders(headers), body }, keys, options);
	const { faults, taskId, signedBy, clockDifferenceSeconds } = verdict;
	const reason = FIRST.find((fault) => faults.includes(fault)) ?? faults[0];
	return {
		genuine: !reason,
		...(reason
			? { reason, message: explainFault(reason) }
			: { message: 'The callback is genuine.' }),
		...(taskId !== undefined && { taskId }),
		...(signedBy && { signature: signedBy }),
		...(clockDifferenceSeconds !== undefined && { clockDifferenceSeconds }),
	};
}

const explainFault = (fault: Fault): string =>
	[FAULTS[fault][1], NEXT_STEPS[fault]].filter(Boolean).join('. ');

/** Writes header names in lower case, as Node does, and numbers as text. */
const toNodeHeaders = (headers: Record<string, unknown>): Record<string, unknown> =>
	Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [
			name.trim().toLowerCase(),
			typeof value === 'number' ? String(value) : value,
		]),
	);
