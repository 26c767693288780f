import { NodeOperationError, type IDataObject, type IHookFunctions } from 'n8n-workflow';
import { checkCredential } from '../../../nodes/MediaGeneration/trigger/activate';
import { fake } from '../n8n';

/** Checks a trigger's credential. */
async function activate(webhookSecret: string, parameters: IDataObject = {}) {
	const context = fake<IHookFunctions>({
		getNode: () => ({ name: 'Trigger' }),
		getNodeParameter: (name: string, fallback: unknown) => parameters[name] ?? fallback,
		getCredentials: async () => ({ webhookSecret }),
	});
	await checkCredential(context);
}

it('a missing key stops the trigger', async () => {
	await expect(activate(' ')).rejects.toThrow(NodeOperationError);
	await expect(activate(' ')).rejects.toThrow(
		/no 'Webhook HMAC Key'.*paste it .* or turn off 'Verify/,
	);
});

it.each<[string, string, IDataObject]>([
	['there is one', 'a-key-of-16-char', {}],
	['none is needed to accept anything', '', { verifySignature: false }],
])('nothing stops it where %s', async (_, key, parameters) => {
	await expect(activate(key, parameters)).resolves.toBeUndefined();
});
