import {
	NodeOperationError,
	type IDataObject,
	type IHookFunctions,
	type IHttpRequestOptions,
} from 'n8n-workflow';
import { checkCredential } from '../../../nodes/MediaGeneration/trigger/activate';
import { fake } from '../n8n';

const answered = (code: number) => () => ({ statusCode: 200, body: JSON.stringify({ code }) });

type Activation = Parameters<typeof activate>[0];

/** Checks a trigger's credential, and shows what that asked for and logged. */
async function activate({
	parameters = {} as IDataObject,
	webhookSecret = 'a-key-of-16-char',
	baseUrl = 'https://api.example.com' as string | null,
	/** More fields of the credential. */
	paths = {},
	/** Answers the request for a task that can't exist. */
	answer = answered(422),
	mode = 'activate',
}) {
	const requests: unknown[] = [];
	const warnings: string[] = [];
	const context = fake<IHookFunctions>({
		getNode: () => ({ name: 'Trigger' }),
		getWorkflow: () => ({ id: 'workflow' }),
		getActivationMode: () => mode,
		getNodeParameter: (name: string, fallback: unknown) => parameters[name] ?? fallback,
		getCredentials: async () => ({ baseUrl, accessToken: 'a-secret', webhookSecret, ...paths }),
		helpers: {
			async httpRequestWithAuthentication(_type: string, { url, timeout }: IHttpRequestOptions) {
				requests.push([url, timeout]);
				return answer();
			},
		},
		logger: {
			warn(line: string, where: object) {
				expect(where).toEqual({ workflowId: 'workflow', nodeName: 'Trigger' });
				warnings.push(line);
			},
		},
	});
	const error = await checkCredential(context).catch((thrown: NodeOperationError) => thrown);
	if (error) expect(error).toBeInstanceOf(NodeOperationError);
	return { error: error?.message, description: error?.description, requests, warnings };
}

const lost = () => {
	throw Object.assign(new Error('lost'), { code: 'ECONNREFUSED' });
};
const page = () => ({ statusCode: 404, body: '<!DOCTYPE html>' });

it('a service that does not know the task is asked once, and that is enough', async () => {
	const url =
		'https://api.example.com/api/v1/jobs/recordInfo?taskId=n8n-asks-for-a-task-that-does-not-exist';
	expect(await activate({})).toEqual({ requests: [[url, 5_000]], warnings: [] });
});

const unverified = { webhookSecret: '', parameters: { verifySignature: false } };
const unfetched = { answer: lost, parameters: { options: { fetchDetails: false } } };
it('no key is needed to accept anything, and no service to output claims', async () => {
	for (const activation of [unverified, unfetched])
		expect(await activate(activation)).toMatchObject({ error: undefined, warnings: [] });
});

const token = { answer: answered(401) };
const isRefused = /does not accept the access token.*paste a valid/;
const path = { paths: { advancedSettings: true, taskDetailsPath: '/details' } };
it.each<[string, Activation, RegExp, number]>([
	['no key', { webhookSecret: ' ' }, /no 'Webhook HMAC Key'.*paste it .* or turn off 'Verify/, 0],
	['a token that the service refuses', token, isRefused, 1],
	['a malformed address', { baseUrl: 'api.example.com' }, /'Base URL' in the credential/, 0],
	['a details path without an ID', path, /'Task Details Path' in the credential must contain/, 0],
])('%s stops the trigger', async (_, activation, words, count) => {
	const { error, description, warnings, requests } = await activate(activation);
	expect(`${error} ${description}`).toMatch(words);
	expect([requests.length, warnings]).toEqual([count, []]);
});

it.each<[string, Activation, string[]]>([
	['15 characters', { webhookSecret: 'a-key-of-15-cha' }, ["'Webhook HMAC Key'"]],
	['16 characters', {}, []],
	['no previous one', { paths: { previousWebhookSecret: ' ' } }, []],
	[
		'a short previous one',
		{ paths: { previousWebhookSecret: 'old' } },
		["'Previous Webhook HMAC Key'"],
	],
	[
		'two short ones',
		{ webhookSecret: 'new', paths: { previousWebhookSecret: 'old' } },
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

it.each<[string, Activation, RegExp]>([
	['a refused token when n8n starts', { ...token, mode: 'init' }, isRefused],
	['one when another main takes over', { ...token, mode: 'leadershipChange' }, isRefused],
	['a service that is down', { answer: lost }, /can't be reached.*Check 'Base URL'/],
	['a fault of the service', { answer: answered(500) }, /internal fault.*later/],
	['a path that is none', { answer: page }, /can't be read: .*Check .*paths? in/],
	['a fault of our own', { baseUrl: null }, /null/],
])('%s is only logged', async (_, activation, words) => {
	expect(await activate(activation)).toMatchObject({
		error: undefined,
		warnings: [expect.stringMatching(words)],
	});
});
