import type { ICredentialDataDecryptedObject, IExecuteFunctions } from 'n8n-workflow';

/**
 * Reads a credential as the webhook of the parked execution will: without the run's data, which its
 * expressions may need. n8n takes it from a field of the context (`base-execute-context.js`,
 * 2.14.2, 2.41.1). `e2e/accounts` fails first: it charges each item to its own account.
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
