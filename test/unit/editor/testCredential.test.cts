import { sleep, type ICredentialTestFunctions } from 'n8n-workflow';
import { Readable } from 'node:stream';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import { fake } from '../n8n';

const { credentialTest } = new MediaGeneration().methods;

const ok = (body: unknown) => ({
	statusCode: 200,
	body: Readable.from([Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))]),
});
const CREDITS = () => ok({ code: 200, data: 12.5 });

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
	const data = { baseUrl: 'https://api.example.com', accessToken: 'secret-token\n', ...changes };
	const credential = { id: '1', name: 'A service', type: 'mediaGenerationApi', data };
	const { status, message } = await credentialTest.testCredential.call(context, credential);
	return { status, message, requests };
}

it('asks for the credits, and follows no redirect with the token', async () => {
	const { status, requests } = await test(CREDITS, { webhookSecret: 'a-key-of-16-char' });
	expect(status).toBe('OK');
	expect(requests).toMatchObject([
		{
			uri: 'https://api.example.com/api/v1/chat/credit',
			headers: { Authorization: 'Bearer secret-token' },
			followRedirect: false,
		},
	]);
});

const refused = (code: number) => () => ok({ code, msg: 'No path' });
const closed = () => {
	throw Object.assign(new Error('thrown'), { code: 'ECONNREFUSED' });
};
const below = { baseUrl: 'https://api.example.com/api/v1/' };
const SAVE = "If only the credits can't be read, save anyway\\.$";
const NO_MORE = '^(?!.*(save anyway|appends its own|\\.\\.))';
it.each<[string, () => unknown, object, string]>([
	[
		'nobody there',
		closed,
		{},
		`${NO_MORE}.*can't be reached \\(ECONNREFUSED\\)\\. Check 'Base URL'`,
	],
	['a refused token', refused(401), {}, `${NO_MORE}.*access token \\(401.*\\)\\. .*valid 'Access`],
	[
		'a refused token and a base URL with a path, which comes first',
		refused(401),
		below,
		"^Remove /api/v1/ from 'Base URL'.*access token \\(401.*valid 'Access(?!.*save anyway)",
	],
	[
		'a token that something else refuses',
		() => ({ ...ok('<html>'), statusCode: 401 }),
		{},
		"access token \\(401\\)\\. Check 'Base URL'.*valid 'Access(?!.*save anyway)",
	],
	['a path that the service lacks', refused(404), {}, `No path.*'Credits Path'.*${SAVE}`],
	[
		'a base URL with a path, first',
		refused(404),
		below,
		`^Remove /api/v1/ from 'Base URL'.*appends its own paths\\. .*No path.*${SAVE}`,
	],
	['a page', () => ok('<html>'), {}, `isn't JSON from the task service.*'Base URL'.*${SAVE}`],
	['no number', () => ok({ code: 200, data: {} }), {}, `no number of credits.*paths.*${SAVE}`],
])('says of %s what to do', async (_, answer, changes, words) => {
	const message = expect.stringMatching(new RegExp(words)) as string;
	expect(await test(answer, changes)).toMatchObject({ status: 'Error', message });
});

it.each([
	[{ accessToken: ' bearer\tsecret-token' }, /begins with "Bearer". Paste the token alone$/],
	[{ webhookSecret: 'a-key-of-15-cha' }, /^A webhook HMAC key has fewer than 16/],
	[
		{ webhookSecret: 'a-key-of-16-char', previousWebhookSecret: 'old' },
		/^A webhook HMAC key has fewer than 16/,
	],
	[{ baseUrl: 'api.example.com' }, /^'Base URL' .* begin with https:/],
	[{ baseUrl: 'http://api.example.com' }, /^'Base URL' .* begins with http:/],
])('finds the fault of %j, and sends nothing', async (changes, words) => {
	const { status, message, requests } = await test(CREDITS, changes);
	expect(status).toBe('Error');
	expect(message).toMatch(words);
	expect(message).not.toContain('secret-token');
	expect(requests).toEqual([]);
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
