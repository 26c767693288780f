import { sleep, type ICredentialTestFunctions } from 'n8n-workflow';
import { Readable } from 'node:stream';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import { fake } from '../n8n';

const { credentialTest } = new MediaGeneration().methods;

const credentials = { baseUrl: 'https://api.example.com', accessToken: 'secret-token\n' };

describe('the test of the credential', () => {
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
		const context = fake<ICredentialTestFunctions>({
			helpers: {
				request: async (request: unknown) => {
					requests.push(request);
					return await answer();
				},
			},
		});
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

	const path = { advancedSettings: true, creditsPath: '/nowhere' };
	const closed = fails({ code: 'ECONNREFUSED' });
	const noPath = () => refused(404, 'No path');
	it.each<[string, () => unknown, object, RegExp]>([
		['no https://', fails({}), { baseUrl: 'api.example.com' }, /^'Base URL' .* begin with https:/],
		['nobody there', closed, {}, /can't be reached \(ECONNREFUSED\)\. Check 'Base URL'/],
		['a refused token', () => refused(401), {}, /access token \(401\)\. .*valid 'Access/],
		['a path that the service lacks', noPath, path, /No path.*'Credits Path'/],
		[
			'a page',
			() => ok('<html>'),
			{},
			/isn't JSON from the task service.*'Base URL'.*'Credits Path'/,
		],
		['a fault', () => refused(500), {}, /internal fault \(500\)\. .*later/],
		['no number', () => ok({ code: 200, data: {} }), {}, /no number of credits.*endpoint paths/],
	])('says of %s what to do', async (_, answer, changes, words) => {
		const message = expect.stringMatching(words) as string;
		expect(await test(answer, changes)).toMatchObject({ status: 'Error', message });
	});

	it.each<[string, () => unknown, boolean]>([
		['a path that the service lacks', noPath, true],
		['a page', () => ok('<html>'), true],
		['no number', () => ok({ code: 200, data: {} }), true],
		['a refused token', () => refused(401), false],
		['nobody there', closed, false],
		['a fault', () => refused(500), false],
	])('says of %s whether to save all the same', async (_, answer, isSaved) => {
		const { message } = await test(answer);
		expect(message).not.toContain('..');
		expect(message.includes("If only the credits can't be read, save anyway.")).toBe(isSaved);
	});

	const below = { baseUrl: 'https://api.example.com/api/v1/' };
	it.each<[string, () => unknown, object, boolean]>([
		['a path that leads nowhere', noPath, below, true],
		['a path, and a refused token', () => refused(401), below, false],
		['no path', noPath, {}, false],
	])('tells first of a base URL with %s', async (_, answer, changes, isTold) => {
		const { message } = await test(answer, changes);
		expect(message.startsWith("Remove /api/v1/ from 'Base URL'")).toBe(isTold);
		expect(message.includes('appends its own paths')).toBe(isTold);
	});

	it.each(['Bearer secret-token', ' bearer\tsecret-token'])(
		'tells a token with the word that the node adds itself, and sends nothing: %j',
		async (accessToken) => {
			const { requests, ...result } = await test(fails({}), { accessToken });
			expect(requests).toEqual([]);
			expect(result.status).toBe('Error');
			expect(result.message).toMatch(/^'Access Token' begins with "Bearer".*Paste the token alone/);
			expect(result.message).not.toContain('secret-token');
		},
	);

	it.each<[string, object, string | undefined]>([
		['of 15 characters', { webhookSecret: 'a-key-of-15-cha' }, "'Webhook HMAC Key'"],
		['of 16 characters', { webhookSecret: 'a-key-of-16-char' }, undefined],
		[
			'beside a short one of before',
			{ webhookSecret: 'a-key-of-16-char', previousWebhookSecret: 'old' },
			"'Previous Webhook HMAC Key'",
		],
	])('a key that is %s', async (_, changes, refused) => {
		const { status, message } = await test(() => ok({ code: 200, data: 12.5 }), changes);
		expect(status).toBe(refused ? 'Error' : 'OK');
		if (refused) expect(message).toMatch(`${refused} has fewer than 16`);
	});

	it('sends nothing to an address that it refuses', async () => {
		const unencrypted = { baseUrl: 'http://api.example.com' };
		expect((await test(fails({}), unencrypted)).requests).toEqual([]);
	});

	it('ends when the answer stops in the middle', async () => {
		const limit = new AbortController();
		const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
		const body = new Readable({ read: () => undefined });
		body.push('{"code":');
		const tested = test(() => ({ statusCode: 200, body }));
		await sleep(10);
		limit.abort();
		expect((await tested).message).toContain('gave no answer within 10 s');
		expect(body.destroyed).toBe(true);
		expect(timeout).toHaveBeenCalledWith(10_000);
		timeout.mockRestore();
	});
});
