import { hmac } from '../../../../dev/fixtures/callbackCases.cts';
import {
	createFetchService,
	sendLook,
} from '../../../../nodes/MediaGeneration/operations/wait/lookRequests';

const URL = 'https://n8n.example/webhook-waiting/7?signature=resume-token';

/** Answers what is fetched, or breaks off, and keeps it. */
function mockFetch(answer?: Response): Array<[string, RequestInit]> {
	const asked: Array<[string, RequestInit]> = [];
	jest.spyOn(globalThis, 'fetch').mockImplementation(async (url, init = {}) => {
		asked.push([url as string, init]);
		if (!answer) throw new TypeError('fetch failed');
		return answer;
	});
	return asked;
}
afterEach(() => jest.restoreAllMocks());

/** Asks the service for a task, as a look does. */
const look = async () =>
	await createFetchService({ baseUrl: 'https://api.example', accessToken: 'token' }).getTask(
		'task',
		{ timeoutSeconds: 7 },
	);

it("the service is asked without n8n's helpers, by the token, which goes nowhere else", async () => {
	const data = { taskId: 'task', state: 'success' };
	const asked = mockFetch(Response.json({ code: 200, data }));
	expect(await look()).toMatchObject({ taskId: 'task', status: 'completed' });
	const [[url, { headers, method, redirect }]] = asked as [(typeof asked)[number]];
	expect(url).toMatch(/^https:\/\/api\.example\/.*taskId=task$/);
	expect({ method, redirect }).toEqual({ method: 'GET', redirect: 'manual' });
	expect(headers).toMatchObject({ Authorization: 'Bearer token' });
});

it.each([
	['redirects', new Response('', { status: 302, headers: { location: 'https://x' } })],
	['has no body', new Response(null, { status: 204 })],
	['is not there', undefined],
])('a service that %s is a failed look', async (_, answer) => {
	mockFetch(answer);
	const message = expect.not.stringContaining('token') as string;
	await expect(look()).rejects.toMatchObject({ message });
});

const AT = 'the resume URL at n8n.example';

it.each<[string, Response | undefined, object]>([
	['that it continues', Response.json({ resumed: true }), { status: 200, resumed: true }],
	['that it is gone', Response.json({}, { status: 409 }), { status: 409, resumed: false }],
	[
		'a page',
		new Response('<p>'),
		{ status: 200, failure: `${AT} answered 200 without n8n's JSON` },
	],
	['nothing', undefined, { failure: `${AT} can't be reached (fetch failed)` }],
])('a look is answered %s', async (_, answer, expected) => {
	mockFetch(answer);
	expect(await sendLook(URL, 'task')).toEqual(expected);
});

it.each(['a-key', undefined])(
	'a look is signed like a callback if there is a key: %s',
	async (key) => {
		const asked = mockFetch(Response.json({}));
		jest.spyOn(Date, 'now').mockReturnValue(1_700_000_000_500);
		await sendLook(URL, 'task', key);
		const [[url, { headers, body, redirect }]] = asked as [(typeof asked)[number]];
		expect([url, redirect]).toEqual([URL, 'manual']);
		expect(JSON.parse(body as string)).toEqual({ data: { task_id: 'task', callbackType: 'look' } });
		expect(headers).toEqual({
			'Content-Type': 'application/json',
			...(key && {
				'X-Webhook-Timestamp': '1700000000',
				'X-Webhook-Signature': hmac('task', '1700000000', key).toString('base64'),
			}),
		});
	},
);
