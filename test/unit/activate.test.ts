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
	/** Credential fields for the paths. */
	paths = {},
	/** Answers the request for a task that can't exist. */
	answer = answered(422),
	mode = 'activate',
}) {
	const requests: unknown[] = [];
	const warnings: string[] = [];
	const context = {
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
	} as unknown as IHookFunctions;
	const error = await checkCredential(context).catch((thrown: NodeOperationError) => thrown);
	if (error) expect(error).toBeInstanceOf(NodeOperationError);
	return { error: error?.message, description: error?.description, requests, warnings };
}

const inText =
	(statusCode: number, body = '<!DOCTYPE html>') =>
	() => ({ statusCode, body });

const lost = () => {
	throw Object.assign(new Error('lost'), { code: 'ECONNREFUSED' });
};

describe('checkCredential', () => {
	it("asks for a task that can't exist, which needs a valid token", async () => {
		const url =
			'https://api.example.com/api/v1/jobs/recordInfo?taskId=n8n-asks-for-a-task-that-does-not-exist';
		expect(await activate({})).toEqual({ requests: [[url, 5_000]], warnings: [] });
	});

	it.each<[string, Activation]>([
		['a code of 404', { answer: answered(404) }],
		['a code of 400', { answer: answered(400) }],
		['no data', { answer: answered(200, null) }],
	])('is content with a service that knows no such task by %s', async (_, activation) => {
		expect(await activate(activation)).toMatchObject({ error: undefined, warnings: [] });
	});

	it.each([
		['HTTP 404 without an envelope', inText(404)],
		['JSON of another form', inText(404, '{"status":404,"error":"Not Found"}')],
		['a page', inText(200)],
		['a redirect', inText(302)],
	])('says that the details path is none after %s', async (_, answer) => {
		const { error, warnings } = await activate({ answer });
		expect(error).toBeUndefined();
		expect(warnings).toEqual([
			expect.stringMatching(
				/^The trigger is active, but task details can't be read: .*own words.*Check 'Task Details Path' in the credential/,
			),
		]);
	});

	it.each(['', ' '])('stops a trigger whose key is %j, before it asks', async (webhookSecret) => {
		expect(await activate({ webhookSecret })).toMatchObject({
			error: expect.stringMatching(
				/no 'Webhook HMAC Key'.*paste it into the credential, or turn off 'Verify Signature'/,
			),
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
	const path = { paths: { customEndpoints: true, taskDetailsPath: '/details' } };
	it.each<[string, Activation, RegExp]>([
		['a token that the service refuses', token, isRefused],
		['a malformed address', address, isMalformed],
		['a details path without an ID', path, /'Task Details Path' in the credential must contain/],
		['a token that is refused without an envelope', { answer: inText(401) }, isRefused],
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
		['a front server that is down', { answer: inText(502) }, /can't be read now: .*later/],
		['too few credits', { answer: answered(402) }, /can't be read now: .*credits/],
		['a fault of our own', { baseUrl: null }, /null/],
	])('only logs %s', async (_, activation, words) => {
		expect(await activate(activation)).toMatchObject({
			error: undefined,
			warnings: [expect.stringMatching(words)],
		});
	});
});
