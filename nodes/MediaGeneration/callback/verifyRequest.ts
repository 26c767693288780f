import type { IWebhookFunctions } from 'n8n-workflow';
import type { Credentials } from '../api/endpoints';
import { readBody } from '../host/jsonBody';
import { readAsWebhook } from '../host/webhookCredential';
import { CREDENTIAL } from '../lib/brand';
import { warnOwner } from './respond';
import { DEFAULT_TOLERANCE_SECONDS } from './scheme';
import { readSigningKeys } from './signature';
import {
	verify,
	type Fault,
	type Refused,
	type VerifiedCallback,
	type VerifyOptions,
} from './verify';

export interface RequestOptions extends Pick<VerifyOptions, 'signed'> {
	/** A callback of this type needs no signature, whatever the credential has: nobody trusts it. */
	unsignedType?: string;
	/** By default that of the scheme. */
	toleranceSeconds?: number;
}

/** A callback that counts. */
export interface AcceptedCallback extends VerifiedCallback {
	body: unknown;
	/** Returns the credential that it was verified with, or reads it. @throws if n8n can't read it */
	readCredentials: () => Promise<Credentials>;
}

/**
 * Verifies the callback in a request to n8n. The credential is read only for a well-formed one that
 * may have to be signed.
 * @throws if n8n can't read the credential
 */
export async function verifyRequest(
	context: IWebhookFunctions,
	{ signed, unsignedType, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: RequestOptions,
): Promise<Refused<Fault> | AcceptedCallback> {
	const request = { headers: context.getHeaderData(), ...readBody(context) };
	let credentials: Promise<Credentials> | undefined;
	const readCredentials = async () =>
		await (credentials ??= readAsWebhook<Credentials>(context, CREDENTIAL));
	const callback = await verify(request, { signed, toleranceSeconds }, async ({ type }) => {
		if (unsignedType !== undefined && type === unsignedType) return 'off';
		const keys = readSigningKeys(await readCredentials());
		if (!signed) return 'off';
		return keys ?? (signed === 'ifKey' ? 'off' : undefined);
	});
	if ('reason' in callback) return callback;
	if (callback.signedBy === 'previous')
		warnOwner(
			context,
			'previousKey',
			"got a callback that is signed with 'Previous Webhook HMAC Key' of the credential. Clear that key once the service signs with the new one, so that nobody else can use it.",
		);
	return { ...callback, body: request.body, readCredentials };
}
