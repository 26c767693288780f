import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

/** The test of the credential, by the name that both nodes give in `testedBy`. */
export const credentialTest = {
	async testCredential(
		this: ICredentialTestFunctions,
		credential: ICredentialsDecrypted,
	): Promise<INodeCredentialTestResult> {
		const { testCredential } = await import('../api/testCredential');
		return await testCredential(this, credential);
	},
};
