import {
	NodeOperationError,
	type IDataObject,
	type IHookFunctions,
	type INodeProperties,
	type IWebhookFunctions,
} from 'n8n-workflow';
import type { Credentials } from '../api/credential';
import { ABOUT_BODY, DEFAULT_TOLERANCE_SECONDS, GET_KEY } from '../callback/scheme';
import { readSigningKeys } from '../callback/signature';
import { CREDENTIAL } from '../lib/brand';

/** The trigger's Options, in the order of their names. */
export const triggerOptions: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: [
		{
			displayName: 'Fetch Details',
			name: 'fetchDetails',
			type: 'boolean',
			default: true,
			description: `Whether to ask the service for the task before outputting it. If off, the item has only what the callback claims. ${ABOUT_BODY}`,
		},
		{
			displayName: 'Tolerance (Seconds)',
			name: 'toleranceSeconds',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: DEFAULT_TOLERANCE_SECONDS,
			description:
				"How many seconds a callback's timestamp may differ from n8n's clock; 0 accepts any",
		},
	],
};

/**
 * Reads the trigger's fields. Each switch protects. So only a literal false turns a switch off: an
 * expression may return blank text, 0 or nothing. An unusable tolerance becomes the default.
 */
export function readSettings(context: IWebhookFunctions | IHookFunctions) {
	const options = context.getNodeParameter('options', {}) as IDataObject;
	const { fetchDetails, toleranceSeconds: seconds } = options;
	const isTolerance = typeof seconds === 'number' && seconds >= 0 && isFinite(seconds);
	return {
		/** The events that the user wants. */
		events: context.getNodeParameter('events', []) as string[],
		/** Whether callbacks must be signed. */
		signed: context.getNodeParameter('verifySignature', true) !== false,
		fetchDetails: fetchDetails !== false,
		/** How far a callback's timestamp may be off, in seconds either way; 0: any age. */
		toleranceSeconds: isTolerance ? seconds : DEFAULT_TOLERANCE_SECONDS,
	};
}

/**
 * Checks before the trigger becomes active that it can verify callbacks. The token isn't tried: the
 * credential's own test does that, and n8n waits for each trigger when it starts.
 * @throws {NodeOperationError} if the key is missing
 */
export async function checkCredential(context: IHookFunctions): Promise<void> {
	if (!readSettings(context).signed) return;
	if (readSigningKeys(await context.getCredentials<Credentials>(CREDENTIAL))) return;
	throw new NodeOperationError(
		context.getNode(),
		// n8n shows no description when a workflow is published.
		`The credential has no 'Webhook HMAC Key', so callbacks can't be verified. ${GET_KEY}, or turn off 'Verify Signature' if you accept callbacks from anyone.`,
	);
}
