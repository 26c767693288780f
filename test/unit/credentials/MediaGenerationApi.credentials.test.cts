import { NodeHelpers, type ICredentialTestFunctions, type IHttpRequestOptions } from 'n8n-workflow';
import { Readable } from 'node:stream';
import { MediaGenerationApi } from '../../../credentials/MediaGenerationApi.credentials';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../../nodes/MediaGeneration/MediaGenerationTrigger.node';

const { credentialTest } = new MediaGeneration().methods;

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

it("authenticate keeps the token from an address that 'Base URL' must not be", async () => {
	const sent = authenticate({ url: 'http://media.example' }, { baseUrl: 'http://media.example' });
	await expect(sent).rejects.toThrow("'Base URL' in the credential begins with http://");
});

describe('the test', () => {
	const ok = (body: unknown, statusCode = 200) => ({
		statusCode,
		body: Readable.from([Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))]),
	});
	const refused = (code: number, msg = '') => ok({ code, msg });
	const fails = (error: object) => () => {
		throw Object.assign(new Error('thrown'), error);
	};

	/** Tests a credential whose service answers so. */
	async function test(answer: () => unknown, changes: object = {}) {
		const requests: unknown[] = [];
		const context = {
			helpers: {
				request: async (request: unknown) => {
					requests.push(request);
					return await answer();
				},
			},
		} as unknown as ICredentialTestFunctions;
		const data = { ...credentials, ...changes };
		const credential = { id: '1', name: 'A service', type: 'mediaGenerationApi', data };
		const result = await credentialTest.testCredential.call(context, credential);
		return { ...result, requests };
	}

	it('asks for the credits, and follows no redirect with the token', async () => {
		const { requests, ...result } = await test(() => ok({ code: 200, data: 12.5 }));
		expect(result).toEqual({ status: 'OK', message: expect.any(String) as string });
		expect(requests).toMatchObject([
			{
				uri: 'https://api.example.com/api/v1/chat/credit',
				headers: { Authorization: 'Bearer secret-token' },
				followRedirect: false,
			},
		]);
	});

	const path = { customEndpoints: true, creditsPath: '/nowhere' };
	const guard = { cause: { name: 'SsrfBlockedIpError' } };
	const noScheme = { baseUrl: 'api.example.com' };
	const unencrypted = { baseUrl: 'http://api.example.com' };
	const unknown = fails({ code: 'ENOTFOUND' });
	const closed = fails({ code: 'ECONNREFUSED' });
	const noPath = () => refused(404, 'No path');
	it.each<[string, () => unknown, object, RegExp]>([
		['no https://', fails({}), noScheme, /^'Base URL' .* begin with https:/],
		['http:// on the internet', fails({}), unencrypted, /to https:\/\/; /],
		['an unknown host', unknown, {}, /host name is not known\. Check 'Base URL'/],
		['nobody there', closed, {}, /nothing answers at that address\. Check/],
		["n8n's own guard", fails(guard), {}, /SSRF protection blocks.*N8N_SSRF_ALLOWED_HOSTNAMES/],
		['a refused token', () => refused(401), {}, /access token \(401\)\. .*valid 'Access/],
		['a token refused by a page', () => ok('<html>', 401), {}, /access token .*valid 'Access/],
		['a path that the service lacks', noPath, path, /No path.*'Credits Path'/],
		['a page', () => ok('<html>'), {}, /not from the task service.*'Base URL'.*'Credits Path'/],
		['a redirect', () => ok('', 302), {}, /sent the request on.*'Base URL'/],
		['a fault', () => refused(500), {}, /internal fault \(500\)\. .*later/],
		['no number', () => ok({ code: 200, data: {} }), {}, /no number of credits.*endpoint paths/],
		['a repeated secret', () => refused(422, 'not secret-token'), {}, /422: not \*\*\*\)/],
	])('says of %s what to do', async (_, answer, changes, words) => {
		expect(await test(answer, changes)).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(words) as string,
		});
	});

	it('is that of both nodes', () => {
		for (const { description, methods } of [new MediaGeneration(), new MediaGenerationTrigger()]) {
			expect(description.credentials).toMatchObject([{ testedBy: 'testCredential' }]);
			expect(methods.credentialTest).toBe(credentialTest);
		}
	});

	it('sends nothing to an address that it refuses', async () => {
		expect((await test(fails({}), unencrypted)).requests).toEqual([]);
	});

	it('ends when the answer stops in the middle', async () => {
		jest.useFakeTimers();
		const body = new Readable({ read: () => undefined });
		body.push('{"code":');
		const tested = test(() => ({ statusCode: 200, body }));
		await jest.advanceTimersByTimeAsync(10_000);
		expect((await tested).message).toContain('gave no answer within 10 s');
		expect(body.destroyed).toBe(true);
		jest.useRealTimers();
	});
});

describe('the fields that few need', () => {
	const { properties } = new MediaGenerationApi();
	const names = ['previousWebhookSecret', 'uploadBaseUrl'];
	const filled = { previousWebhookSecret: 'old', uploadBaseUrl: 'https://upload.example.com' };

	it.each([true, false])('are shown by the switch: %p', (customEndpoints) => {
		const shown = properties.filter(
			(property) =>
				property.type !== 'hidden' &&
				NodeHelpers.displayParameter({ customEndpoints }, property, null, null),
		);
		const few = shown.filter(({ name }) => names.includes(name));
		expect(few.map(({ name }) => name)).toEqual(customEndpoints ? names : []);
		expect(shown.some(({ name }) => name === 'taskDetailsPath')).toBe(customEndpoints);
	});

	it.each([{}, { customEndpoints: true }])(
		'count where they are filled in, with %j',
		(switched) => {
			const data = { ...switched, ...filled };
			const read = NodeHelpers.getNodeParameters(properties, data, true, false, null, null);
			expect(read).toMatchObject(filled);
		},
	);
});
