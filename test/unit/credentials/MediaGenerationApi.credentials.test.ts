import { NodeHelpers, type IHttpRequestOptions } from 'n8n-workflow';
import { MediaGenerationApi } from '../../../credentials/MediaGenerationApi.credentials';

const credentials = {
	baseUrl: 'https://api.example.com',
	uploadBaseUrl: 'https://upload.example.com/v1',
	accessToken: 'secret-token',
};

const authenticate = async (request: IHttpRequestOptions, changes: object = {}) => {
	const { authenticate: add } = new MediaGenerationApi();
	if (typeof add !== 'function') throw new Error('authenticate is no function');
	return await add({ ...credentials, ...changes }, request);
};

/** A request as n8n's HTTP Request node makes it: its address stands in `uri`. */
const httpRequestNode = (uri: string, more: object = {}) =>
	({ uri, ...more }) as unknown as IHttpRequestOptions;

describe('authenticate', () => {
	it.each<IHttpRequestOptions>([
		{ url: 'https://api.example.com/api/v1/jobs/createTask' },
		{ url: '/api/v1/chat/credit', baseURL: 'https://api.example.com' },
		{ url: 'https://upload.example.com/api/file-stream-upload', headers: { Accept: 'text/plain' } },
		httpRequestNode('https://api.example.com/api/v1/chat/credit'),
	])('adds the token to the headers of %j', async (request) => {
		const headers = { ...request.headers, Authorization: 'Bearer secret-token' };
		expect((await authenticate(request)).headers).toEqual(headers);
	});

	it.each<IHttpRequestOptions>([
		{ url: 'https://cdn.example.com/result.mp4' },
		{ url: 'http://api.example.com/' },
		{ url: 'https://api.example.com:8443/' },
		{ url: 'https://api.example.com@evil.example/' },
		{ url: '//evil.example/', baseURL: 'https://api.example.com' },
		{ url: '/api/v1/chat/credit' },
		httpRequestNode('https://evil.example/'),
		httpRequestNode('https://evil.example/', { url: 'https://api.example.com/' }),
	])('keeps the token from %j', async (request) => {
		await expect(authenticate(request)).rejects.toThrow("only sent to 'Base URL'");
	});
});

const credits = 'https://api.example.com/api/v1/chat/credit';
it.each([
	httpRequestNode(credits, { proxy: 'http://evil.example:8080' }),
	httpRequestNode(credits, { rejectUnauthorized: false }),
	{ url: credits, skipSslCertificateValidation: true },
])('authenticate keeps the token from who could read it on its way: %j', async (request) => {
	const reason = "Remove 'Proxy' and 'Ignore SSL Issues'";
	await expect(authenticate(request)).rejects.toThrow(reason);
});

it.each([
	{ Host: 'evil.example' },
	{ Accept: '*/*', host: 'api.example.com' },
	{ ' hOST\u00a0': 'evil.example' },
	// axios takes such groups for headers too.
	{ common: { Host: 'evil.example' } },
	{ get: { 'Host ': ['evil.example'] } },
])(
	'authenticate keeps the token from another host behind the same address: %j',
	async (headers) => {
		const sent = authenticate(httpRequestNode(credits, { headers }));
		await expect(sent).rejects.toThrow("Remove the header 'Host'");
	},
);

it.each(['TRACE', 'trace', 'TRACE ', 'OPTIONS', 'CONNECT', 'TRACK'])(
	'authenticate keeps the token from answers that may repeat it: method "%s"',
	async (method) => {
		const reason = 'only sent with the methods GET, HEAD, POST, PUT, PATCH, DELETE';
		await expect(authenticate(httpRequestNode(credits, { method }))).rejects.toThrow(reason);
	},
);

it.each([undefined, '', 'get', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])(
	'authenticate adds the token to requests with the method %s, and to their headers',
	async (method) => {
		const headers = { 'X-Forwarded-For': '1', Hosts: 'a' };
		const sent = await authenticate(httpRequestNode(credits, { method, headers }));
		expect(sent.headers).toEqual({ ...headers, Authorization: 'Bearer secret-token' });
	},
);

it("authenticate keeps the token from an address that 'Base URL' must not be", async () => {
	const sent = authenticate({ url: 'http://media.example' }, { baseUrl: 'http://media.example' });
	await expect(sent).rejects.toThrow("'Base URL' in the credential begins with http://");
});

it.each([{}, { advancedSettings: true }])(
	'the fields that few need count where they are filled in, with %j',
	(switched) => {
		const { properties } = new MediaGenerationApi();
		const filled = { previousWebhookSecret: 'old', uploadBaseUrl: 'https://upload.example.com' };
		const data = { ...switched, ...filled };
		const read = NodeHelpers.getNodeParameters(properties, data, true, false, null, null);
		expect(read).toMatchObject(filled);
	},
);
