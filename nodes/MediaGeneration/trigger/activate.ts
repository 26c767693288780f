import { NodeOperationError, type IHookFunctions } from 'n8n-workflow';
import type { Credentials } from '../api/endpoints';
import { GET_KEY } from '../callback/scheme';
import { readSigningKeys } from '../callback/signature';
import { CREDENTIAL } from '../lib/brand';
import { readSettings } from './options';

/**
 * Checks before the trigger becomes active that it can verify callbacks. The token isn't tried: the
 * credential's own test does that, and n8n waits for each trigger when it starts.
 * @throws {NodeOperationError} if the key is missing
 */
export async function checkCredential(context: IHookFunctions): Promise<void> {
	if (!readSettings(context).verifySignature) return;
	const credentials = await context.getCredentials<Credentials>(CREDENTIAL);
	if (!readSigningKeys(credentials))
		throw new NodeOperationError(
			context.getNode(),
			// n8n shows no description when a workflow is published.
			`The credential has no 'Webhook HMAC Key', so callbacks can't be verified. ${GET_KEY}, or turn off 'Verify Signature' if you accept callbacks from anyone.`,
		);
}
