import type { IWebhookFunctions } from 'n8n-workflow';
import type { Credentials } from '../api/endpoints';
import { readBody } from '../host/jsonBody';
import { readAsWebhook } from '../host/webhookCredential';
import { CREDENTIAL } from '../lib/brand';
import { type Refused, warnOwner } from './respond';
import { DEFAULT_TOLERANCE_SECONDS } from './scheme';
import { readSigningKeys, type KeyName, type SigningKeys } from './signature';
import { isAccepted, readForm, verify, type Claim, type Fault, type Verdict } from './verify';

export interface SignatureSettings {
	/** Whether the callback must be signed. `ifKey`: only if the credential has a key. */
	signed: boolean | 'ifKey';
	/** A callback of this type needs no signature, whatever the credential has: nobody trusts it. */
	unsignedType?: string;
	/** How far the timestamp may be off, in seconds either way; 0: any age. */
	toleranceSeconds?: number;
}

/** A callback that counts, and the credential that it was verified with. */
export interface AcceptedCallback {
	taskId: string;
	claim: Claim;
	signedBy: KeyName | 'off';
	body: unknown;
	credentials: Credentials;
}

/**
 * Verifies the callback in a request to n8n. The credential is read only for a well-formed one.
 * @throws if n8n can't read the credential
 */
export async function verifyRequest(
	context: IWebhookFunctions,
	{ signed, unsignedType, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: SignatureSettings,
): Promise<Refused<Fault> | AcceptedCallback> {
	const request = { headers: context.getHeaderData(), ...readBody(context) };
	const options = { toleranceSeconds, now: Date.now() };
	const form = readForm(request, options, signed === true);
	if (!isAccepted(form)) return toRefused(form);

	const credentials = await readAsWebhook<Credentials>(context, CREDENTIAL);
	const isUntrusted = unsignedType !== undefined && form.claim.type === unsignedType;
	const keys = isUntrusted ? 'off' : chooseKeys(signed, readSigningKeys(credentials));
	// Read anew, because `ifKey` asks for a signature only now.
	const verdict = verify(request, keys, options);
	if (!isAccepted(verdict)) return toRefused(verdict);
	const { taskId, claim, signedBy = 'off' } = verdict;
	if (signedBy === 'previous')
		warnOwner(
			context,
			'previousKey',
			"got a callback that is signed with 'Previous Webhook HMAC Key' of the credential. Clear that key once the service signs with the new one, so that nobody else can use it.",
		);
	return { taskId, claim, signedBy, body: request.body, credentials };
}

function chooseKeys(
	signed: SignatureSettings['signed'],
	keys?: SigningKeys,
): SigningKeys | undefined | 'off' {
	if (signed === 'ifKey') return keys ?? 'off';
	return signed ? keys : 'off';
}

function toRefused({ faults, clockDifferenceSeconds }: Verdict): Refused<Fault> {
	const [reason] = faults as [Fault];
	return reason === 'timestampStale' ? { reason, clockDifferenceSeconds } : { reason };
}
