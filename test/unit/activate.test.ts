import {
	NodeOperationError,
	type IDataObject,
	type IHookFunctions,
	type IHttpRequestOptions,
} from 'n8n-workflow';
import { checkCredential } from '../../nodes/MediaGeneration/trigger/activate';

const answered = (code: number, data?: unknown) => () => ({
	statusCode: 200,
	body: JSON.stringify({ code, data }),
});

type Activation = Parameters<typeof activate>[0];

/** Checks a trigger's credential, and shows what that asked for and logged. */
async function activate({
	parameters = {} as IDataObject,
	webhookSecret = 'a-key',
	baseUrl = 'https://api.example.com' as string | null,
	/** Answers the request for the account's credits. */
	answer = answered(200, 12.5),
	mode = 'activate',
}) {
	const requests: unknown[] = [];
	const warnings: string[] = [];
	const context = {
		getNode: () => ({ name: 'Trigger' }),
		getWorkflow: () => ({ id: 'workflow' }),
		getActivationMode: () => mode,
		getNodeParameter: (name: string, fallback: unknown) => parameters[name] ?? fallback,
		getCredentials: async () => ({ baseUrl, accessToken: 'a-secret', webhookSecret }),
		helpers: {
			async httpRequestWithAuthentication(_type: string, { url, timeout }: IHttpRequestOptions) {
				requests.push([url, timeout]);
				return answer();
			},
		},
		logger: { warn: (line: string) => warnings.push(line) },
	} as unknown as IHookFunctions;
	const error = await checkCredential(context).catch((thrown: NodeOperationError) => thrown);
	if (error) expect(error).toBeInstanceOf(NodeOperationError);
	return { error: error?.message, description: error?.description, requests, warnings };
}

const lost = () => {
	throw Object.assign(new Error('lost'), { code: 'ECONNREFUSED' });
};

describe('checkCredential', () => {
	it('asks for the credits, which needs a valid token', async () => {
		const requests = [['https://api.example.com/api/v1/chat/credit', 5_000]];
		expect(await activate({})).toEqual({ requests, warnings: [] });
	});

	it.each(['', ' '])('stops a trigger whose key is %j, before it asks', async (webhookSecret) => {
		expect(await activate({ webhookSecret })).toMatchObject({
			error: expect.stringContaining("no 'Webhook HMAC Key'"),
			description: expect.stringContaining('paste it into the credential'),
			requests: [],
		});
	});

	const unverified = { verifySignature: false };
	const unfetched = { options: { fetchDetails: false } };
	it.each<[string, Activation]>([
		['no key when signatures are not verified', { webhookSecret: '', parameters: unverified }],
		['no service when no details are fetched', { answer: lost, parameters: unfetched }],
	])('needs %s', async (_, activation) => {
		expect(await activate(activation)).toMatchObject({ error: undefined, warnings: [] });
	});

	const token = { answer: answered(401) };
	const isRefused = /does not accept the access token.*paste a valid/;
	const address = { baseUrl: 'api.example.com' };
	const isMalformed = /'Base URL' in the credential/;
	it.each<[string, Activation, RegExp]>([
		['a token that the service refuses', token, isRefused],
		['a malformed address', address, isMalformed],
	])('stops at %s', async (_, activation, words) => {
		const { error, description, warnings } = await activate(activation);
		expect(`${error} ${description}`).toMatch(words);
		expect(warnings).toEqual([]);
	});

	it.each<[string, Activation, RegExp]>([
		['a refused token when n8n starts', { ...token, mode: 'init' }, isRefused],
		['one when another main takes over', { ...token, mode: 'leadershipChange' }, isRefused],
		['a malformed address when n8n starts', { ...address, mode: 'init' }, isMalformed],
		['a service that is down', { answer: lost }, /can't be reached.*Check 'Base URL'/],
		['a fault of the service', { answer: answered(500) }, /internal fault.*later/],
		['a fault of our own', { baseUrl: null }, /null/],
	])('only logs %s', async (_, activation, words) => {
		expect(await activate(activation)).toMatchObject({
			error: undefined,
			warnings: [expect.stringMatching(words)],
		});
	});
});
