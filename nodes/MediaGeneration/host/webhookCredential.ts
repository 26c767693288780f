import type { ICredentialDataDecryptedObject, IExecuteFunctions } from 'n8n-workflow';

/**
 * Reads a credential as the webhook of the parked execution will read it. n8n resolves a credential's
 * expressions for a webhook without the run's data, so those that depend on an item or another node
 * fail then. It is read here without input data, which n8n takes from a field of the context
 * (`getCredentials` in `base-execute-context.js` of n8n-core, 2.14.2 and 2.41.1). `e2e/runs` fails
 * first: it charges each item to its own account.
 * @returns undefined if it can't be read
 */
export async function readAsWebhook(
	context: IExecuteFunctions,
	type: string,
): Promise<ICredentialDataDecryptedObject | undefined> {
	const asWebhook = Object.create(context, {
		connectionInputData: { value: undefined },
	}) as IExecuteFunctions;
	return await asWebhook.getCredentials(type).catch(() => undefined);
}
