import { NodeHelpers, type IHttpRequestOptions } from 'n8n-workflow';
import { MediaGenerationApi } from '../../../credentials/MediaGenerationApi.credentials';

/** n8n's HTTP Request node puts its address into `uri`. */
type Sent = Partial<IHttpRequestOptions> & { uri?: string };

const authenticate = async (request: object, changes: object = {}) => {
	const { authenticate: add } = new MediaGenerationApi();
	if (typeof add !== 'function') throw new Error('authenticate is no function');
	const credentials = {
		baseUrl: 'https://api.example.com',
		uploadBaseUrl: 'https://upload.example.com/v1',
		accessToken: 'secret-token',
	};
	return await add({ ...credentials, ...changes }, request as IHttpRequestOptions);
};

const uri = 'https://api.example.com/api/v1/chat/credit';

it.each<Sent>([
	{ url: 'https://api.example.com/api/v1/jobs/createTask' },
	{ url: '/api/v1/chat/credit', baseURL: 'https://api.example.com' },
	{ url: 'https://upload.example.com/api/file-stream-upload', headers: { Accept: 'text/plain' } },
	{ uri, headers: { 'X-Forwarded-For': '1', Hosts: 'a' } },
	...['', 'get', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].map(
		(method) => ({ uri, method }) as Sent,
	),
])('adds the token to the headers of %j', async (request) => {
	const headers = { ...request.headers, Authorization: 'Bearer secret-token' };
	expect((await authenticate(request)).headers).toEqual(headers);
});

it.each([
	{ url: 'https://cdn.example.com/result.mp4' },
	{ url: 'http://api.example.com/' },
	{ url: 'https://api.example.com:8443/' },
	{ url: 'https://api.example.com@evil.example/' },
	{ url: '//evil.example/', baseURL: 'https://api.example.com' },
	{ url: '/api/v1/chat/credit' },
	{},
	{ uri: 'https://evil.example/' },
	{ uri: 'https://evil.example/', url: 'https://api.example.com/' },
])('keeps the token from %j', async (request) => {
	await expect(authenticate(request)).rejects.toThrow("only sent to 'Base URL'");
});

const ON_ITS_WAY = "Remove 'Proxy' and 'Ignore SSL Issues'";
const OTHER_HOST = "Remove the header 'Host'";
const REPEATS = 'only sent with the methods GET, HEAD, POST, PUT, PATCH, DELETE';
it.each<[string, object]>([
	[ON_ITS_WAY, { proxy: 'http://evil.example:8080' }],
	[ON_ITS_WAY, { rejectUnauthorized: false }],
	[ON_ITS_WAY, { skipSslCertificateValidation: true }],
	[OTHER_HOST, { headers: { Accept: '*/*', host: 'api.example.com' } }],
	[OTHER_HOST, { headers: { ' hOST\u00a0': 'evil.example' } }],
	// axios takes such groups for headers too.
	[OTHER_HOST, { headers: { common: { Host: 'evil.example' } } }],
	[OTHER_HOST, { headers: { get: { 'Host ': ['evil.example'] } } }],
	...['TRACE', 'trace', 'TRACE ', 'OPTIONS'].map((method): [string, object] => [
		REPEATS,
		{ method },
	]),
])('keeps the token from who could read it, and says "%s": %j', async (reason, request) => {
	await expect(authenticate({ uri, ...request })).rejects.toThrow(reason);
});

it("keeps the token from an address that 'Base URL' must not be", async () => {
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

it('says what a path must keep: without it, a task that was paid for can not be looked at', () => {
	const paths = new MediaGenerationApi().properties.filter(({ default: path }) =>
		String(path).includes('{'),
	);
	const hints = ['Must contain {taskId}', 'Must contain {model}'];
	expect(paths.map(({ description }) => description)).toEqual(hints);
});
