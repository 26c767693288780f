import {
	NodeOperationError,
	type IDataObject,
	type IHookFunctions,
	type IHttpRequestOptions,
} from 'n8n-workflow';
import { checkCredential } from '../../../nodes/MediaGeneration/trigger/activate';

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

const inText = (statusCode: number) => () => ({ statusCode, body: '<!DOCTYPE html>' });

const lost = () => {
	throw Object.assign(new Error('lost'), { code: 'ECONNREFUSED' });
};

it.each([404, 422])('a service that does not know the task (%d) is asked once', async (code) => {
	const url =
		'https://api.example.com/api/v1/jobs/recordInfo?taskId=n8n-asks-for-a-task-that-does-not-exist';
	const answer = answered(code);
	expect(await activate({ answer })).toEqual({ requests: [[url, 5_000]], warnings: [] });
});

it.each(['', ' ', '\u200b'])('a key of %j stops the trigger before it asks', async (blank) => {
	expect(await activate({ webhookSecret: blank })).toMatchObject({
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
])('the trigger needs %s', async (_, activation) => {
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
])('%s stops the trigger', async (_, activation, words) => {
	const { error, description, warnings } = await activate(activation);
	expect(`${error} ${description}`).toMatch(words);
	expect(warnings).toEqual([]);
});

it.each<[string, Activation, RegExp]>([
	['a refused token when n8n starts', { ...token, mode: 'init' }, isRefused],
	['one when another main takes over', { ...token, mode: 'leadershipChange' }, isRefused],
	['a service that is down', { answer: lost }, /can't be reached.*Check 'Base URL'/],
	['a fault of the service', { answer: answered(500) }, /internal fault.*later/],
	['a path that is none', { answer: inText(404) }, /can't be read: .*Check .*paths? in/],
	['a fault of our own', { baseUrl: null }, /null/],
])('%s is only logged', async (_, activation, words) => {
	expect(await activate(activation)).toMatchObject({
		error: undefined,
		warnings: [expect.stringMatching(words)],
	});
});
