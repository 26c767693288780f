import type { IHttpRequestOptions } from 'n8n-workflow';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';

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
		{ url: 'https://api.example.com.evil.example/' },
		{ url: 'http://api.example.com/' },
		{ url: 'https://api.example.com:8443/' },
		{ url: 'https://api.example.com@evil.example/' },
		{ url: 'https://evil.example/', baseURL: 'https://api.example.com' },
		{ url: '//evil.example/', baseURL: 'https://api.example.com' },
		{ url: '/api/v1/chat/credit' },
		httpRequestNode('https://evil.example/'),
		httpRequestNode('https://evil.example/', { url: 'https://api.example.com/' }),
	])('keeps the token from %j', async (request) => {
		await expect(authenticate(request)).rejects.toThrow("only sent to 'Base URL'");
	});
});

describe('authenticate, where an address begins with http://', () => {
	const send = async (url: string, changes: object) =>
		await authenticate({ url: `${url}/api/v1/chat/credit` }, changes);

	it.each([
		['baseUrl', 'Base URL'],
		['uploadBaseUrl', 'Upload Base URL'],
	])('keeps the token from the internet (%s)', async (name, field) => {
		const url = 'http://media.example.com';
		const reason = `'${field}' in the credential begins with http://`;
		await expect(send(url, { [name]: url })).rejects.toThrow(reason);
	});

	it('sends it inside a network', async () => {
		const { headers } = await send('http://127.0.0.1:8787', { baseUrl: 'http://127.0.0.1:8787' });
		expect(headers).toHaveProperty('Authorization', 'Bearer secret-token');
	});
});

it('the test looks at the code in the body, for every code that has a meaning, and for none at all', () => {
	const values = new MediaGenerationApi().test?.rules?.map(({ properties }) => properties.value);
	const meaningful = [401, 402, 403, 404, 422, 429, 455, 500, undefined];
	expect(values).toEqual(expect.arrayContaining(meaningful));
	expect(values).not.toContain(200);
});
