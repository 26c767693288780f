import { sleep, type IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL, type Credentials } from '../api/endpoints';
import { readJsonBody } from '../host/jsonBody';
import type { Refused } from './refusals';
import { getSigningSecrets } from './signature';
import { checkForm, checkSignature, DEFAULT_TOLERANCE_SECONDS, type Verified } from './verify';

/** A callback that counts, and the credential that it was verified with. */
export interface Callback extends Verified {
	body: unknown;
	credentials: Credentials;
}

/**
 * Reads a callback from n8n's request, and verifies it: first what needs no credential.
 * @param isSigned the signature is verified; by default if the credential has a key
 * @throws if n8n can't read the credential
 */
export async function readCallback(
	context: IWebhookFunctions,
	{
		isSigned,
		toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
	}: { isSigned?: boolean; toleranceSeconds?: number } = {},
): Promise<Refused | Callback> {
	const readSecrets = async () => getSigningSecrets(await readSharedCredentials(context));
	const mustBeSigned = isSigned ?? (await readSecrets()) !== undefined;
	const body = await readJsonBody(context);
	const form = checkForm(context.getHeaderData(), body, {
		isSigned: mustBeSigned,
		toleranceSeconds,
		now: Date.now(),
	});
	if ('reason' in form) return form;
	const credentials = await readSharedCredentials(context);
	const secrets = mustBeSigned ? getSigningSecrets(credentials) : undefined;
	if (mustBeSigned && !secrets) return { reason: 'keyMissing' };
	const verdict = checkSignature(form, secrets);
	return 'reason' in verdict ? verdict : { ...verdict, body, credentials };
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
