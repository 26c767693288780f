import { ExpressionError, type ICredentialDataDecryptedObject } from 'n8n-workflow';

interface Reader {
	getCredentials: <T extends object = ICredentialDataDecryptedObject>(type: string) => Promise<T>;
}

/**
 * Reads a credential for the editor, which has no run. Expressions in it that need one throw, and
 * n8n's message then says only that a node without a name hasn't been executed
 * (`credentials-helper.js`, `workflow-data-proxy.js`; 2.14.2, 2.41.1). `e2e/accounts` fails first.
 * @returns undefined if the credential depends on the run
 */
export async function readForEditor<T extends object>(
	context: Reader,
	type: string,
): Promise<T | undefined> {
	return await context.getCredentials<T>(type).catch((error: Error) => {
		if (error instanceof ExpressionError) return undefined;
		throw error;
	});
}
