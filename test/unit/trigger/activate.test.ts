import { NodeOperationError, type IDataObject, type IHookFunctions } from 'n8n-workflow';
import { checkCredential } from '../../../nodes/MediaGeneration/trigger/activate';
import { fake } from '../n8n';

type Activation = Parameters<typeof activate>[0];

/** Checks a trigger's credential, and shows what that logged. */
async function activate({
	parameters = {} as IDataObject,
	webhookSecret = 'a-key-of-16-char',
	/** More fields of the credential. */
	more = {},
}) {
	const warnings: string[] = [];
	const context = fake<IHookFunctions>({
		getNode: () => ({ name: 'Trigger' }),
		getWorkflow: () => ({ id: 'workflow' }),
		getNodeParameter: (name: string, fallback: unknown) => parameters[name] ?? fallback,
		getCredentials: async () => ({ webhookSecret, ...more }),
		logger: {
			warn(line: string, where: object) {
				expect(where).toEqual({ workflowId: 'workflow', nodeName: 'Trigger' });
				warnings.push(line);
			},
		},
	});
	const error = await checkCredential(context).catch((thrown: NodeOperationError) => thrown);
	if (error) expect(error).toBeInstanceOf(NodeOperationError);
	return { error: error?.message, warnings };
}

it('no key is needed to accept anything', async () => {
	const activation = { webhookSecret: '', parameters: { verifySignature: false } };
	expect(await activate(activation)).toEqual({ error: undefined, warnings: [] });
});

it('a missing key stops the trigger', async () => {
	expect(await activate({ webhookSecret: ' ' })).toEqual({
		error: expect.stringMatching(
			/no 'Webhook HMAC Key'.*paste it .* or turn off 'Verify/,
		) as string,
		warnings: [],
	});
});

it.each<[string, Activation, string[]]>([
	['15 characters', { webhookSecret: 'a-key-of-15-cha' }, ["'Webhook HMAC Key'"]],
	['16 characters', {}, []],
	['no previous one', { more: { previousWebhookSecret: ' ' } }, []],
	[
		'a short previous one',
		{ more: { previousWebhookSecret: 'old' } },
		["'Previous Webhook HMAC Key'"],
	],
	[
		'two short ones',
		{ webhookSecret: 'new', more: { previousWebhookSecret: 'old' } },
		["'Webhook HMAC Key' and 'Previous Webhook HMAC Key'"],
	],
	['no use', { webhookSecret: 'new', parameters: { verifySignature: false } }, []],
])('a key of %s activates, with a warning if it can be guessed', async (_, activation, names) => {
	const { error, warnings } = await activate(activation);
	expect(error).toBeUndefined();
	expect(warnings).toEqual(
		names.map(
			(name) => expect.stringMatching(`^${name} .* fewer than 16 characters.*Generate a`) as string,
		),
	);
});
