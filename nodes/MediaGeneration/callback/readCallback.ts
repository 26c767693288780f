import { sleep, type IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL, type Credentials } from '../api/endpoints';
import { readJsonBody } from '../host/jsonBody';
import type { Refused } from './refusals';
import { warn } from './respond';
import { findMatchingSecret, getSigningSecrets, type MatchingSecret } from './signature';
import { checkForm, DEFAULT_TOLERANCE_SECONDS, type Form, type VerifySettings } from './verify';

/** A callback that counts, and the credential that it was verified with. */
export interface Callback extends Form {
	/** The key that made the signature. */
	verifiedBy: MatchingSecret | 'off';
	body: unknown;
	credentials: Credentials;
}

/**
 * Reads a callback from n8n's request, and verifies it: first what needs no credential.
 * @param settings by default, the signature is verified if the credential has a key
 * @throws if n8n can't read the credential
 */
export async function readCallback(
	context: IWebhookFunctions,
	settings?: VerifySettings,
): Promise<Refused | Callback> {
	const readSecrets = async () => getSigningSecrets(await readSharedCredentials(context));
	const { verifySignature, toleranceSeconds } = settings ?? {
		verifySignature: (await readSecrets()) !== undefined,
		toleranceSeconds: DEFAULT_TOLERANCE_SECONDS,
	};
	const body = await readJsonBody(context);
	const form = checkForm(context.getHeaderData(), body, { verifySignature, toleranceSeconds });
	if ('reason' in form) return form;
	const credentials = await readSharedCredentials(context);
	if (!verifySignature) return { ...form, verifiedBy: 'off', body, credentials };
	const secrets = getSigningSecrets(credentials);
	if (!secrets) return { reason: 'keyMissing' };
	const verifiedBy = findMatchingSecret(form, secrets);
	if (!verifiedBy) return { reason: 'signatureWrong' };
	if (verifiedBy === 'previous')
		warn(
			context,
			'previousKey',
			"got a callback that is signed with 'Previous Webhook HMAC Key' of the credential. Clear that key once the service signs with the new one, so that nobody else can use it.",
		);
	return { ...form, verifiedBy, body, credentials };
}

/** How long callbacks share what was read of a credential, in milliseconds. */
const SHARED_FOR = 1_000;

/** Reads that are under way or just ended, by node and credential. */
const reads = new Map<string, Promise<Credentials>>();

/** Reads the node's credential. Callbacks share a read: each costs n8n a V8 isolate. */
async function readSharedCredentials(context: IWebhookFunctions): Promise<Credentials> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL]?.id} ${context.getMode()}`;
	const known = reads.get(key);
	if (known) return await known;
	const read = context.getCredentials<Credentials>(CREDENTIAL);
	reads.set(key, read);
	const forget = async () => {
		await sleep(SHARED_FOR);
		reads.delete(key);
	};
	void read.then(forget, forget);
	return await read;
}
