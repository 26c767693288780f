import { hmac } from '../../../../dev/fixtures/callbackCases.cts';
import {
	createFetchService,
	sendLook,
} from '../../../../nodes/MediaGeneration/operations/wait/lookRequests';

const URL = 'https://n8n.example/webhook-waiting/7?signature=resume-token';
const SECRET = 'a-key';

/** Answers what is fetched, and keeps it. */
function mockFetch(answer: () => Response): Array<[string, RequestInit]> {
	const asked: Array<[string, RequestInit]> = [];
	jest.spyOn(globalThis, 'fetch').mockImplementation(async (url, init = {}) => {
		asked.push([url as string, init]);
		return answer();
	});
	return asked;
}
afterEach(() => jest.restoreAllMocks());

const json = (status: number, body: unknown) => () =>
	new Response(JSON.stringify(body), { status });

it("the service is asked without n8n's helpers, by the token, which goes nowhere else", async () => {
	const record = { taskId: 'task', state: 'success' };
	const asked = mockFetch(json(200, { code: 200, data: record }));
	const credentials = { baseUrl: 'https://api.example', accessToken: 'token' };
	const service = createFetchService(credentials);
	const task = await service.getTask('task', { timeoutSeconds: 7 });
	expect(task).toMatchObject({ taskId: 'task', status: 'completed' });
	const [[url, { headers, method, redirect }]] = asked as [(typeof asked)[number]];
	expect(url).toMatch(/^https:\/\/api\.example\/.*taskId=task$/);
	expect({ method, redirect }).toEqual({ method: 'GET', redirect: 'manual' });
	expect(headers).toMatchObject({ Authorization: 'Bearer token' });
});

it.each([
	['redirects', () => new Response('', { status: 302, headers: { location: 'https://x' } })],
	['has no body', () => new Response(null, { status: 204 })],
	[
		'is not there',
		() => {
			throw new TypeError('fetch failed');
		},
	],
])('a service that %s is a failed look', async (_, answer) => {
	mockFetch(answer);
	const service = createFetchService({
		baseUrl: 'https://api.example',
		accessToken: 'token',
	});
	const look = service.getTask('task', { timeoutSeconds: 7 });
	await expect(look).rejects.toMatchObject({
		message: expect.not.stringContaining('token') as string,
	});
});

it.each<[string, () => Response, object]>([
	[
		'that the execution continues',
		json(200, { accepted: true, resumed: true }),
		{ status: 200, resumed: true },
	],
	[
		'that it sleeps on',
		json(200, { accepted: true, resumed: false }),
		{ status: 200, resumed: false },
	],
	['that it is gone', json(409, {}), { status: 409, resumed: false }],
	[
		'a page',
		() => new Response('<p>'),
		{ status: 200, failure: "the resume URL at n8n.example answered 200 without n8n's JSON" },
	],
	[
		'nothing',
		() => {
			throw new TypeError('fetch failed');
		},
		{ status: undefined, failure: "the resume URL at n8n.example can't be reached (fetch failed)" },
	],
])('a look is answered %s', async (_, answer, expected) => {
	mockFetch(answer);
	expect(await sendLook(URL, 'task')).toEqual(expected);
});

it.each([SECRET, undefined])(
	'a look is signed like a callback if there is a key: %s',
	async (secret) => {
		const asked = mockFetch(json(200, {}));
		jest.spyOn(Date, 'now').mockReturnValue(1_700_000_000_500);
		await sendLook(URL, 'task', secret);
		const [[url, { headers, body, redirect }]] = asked as [(typeof asked)[number]];
		expect([url, redirect]).toEqual([URL, 'manual']);
		expect(JSON.parse(body as string)).toEqual({ data: { task_id: 'task', callbackType: 'look' } });
		expect(headers).toEqual({
			'Content-Type': 'application/json',
			...(secret && {
				'X-Webhook-Timestamp': '1700000000',
				'X-Webhook-Signature': hmac('task', '1700000000', secret).toString('base64'),
			}),
		});
	},
);
