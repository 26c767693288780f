import { fastify, type FastifyRequest } from 'fastify';
import type { SettingsInput } from '../../dev/service/index.cts';
import { signHeaders, TIMESTAMP } from '../../dev/service/signHeaders.cts';
import { create, readAnswer, readDetails, send, start } from './support.cts';

/** Holds the emulator to the contract, and to what is known of such services. The tests that rely on anything else of the emulator show it themselves. */
const KEY = 'dev-webhook-hmac-key';
const CREATE = '/api/v1/jobs/createTask';
const url = 'https://media.example/a.png';

test.each<[object, string]>([
	[{ input: {} }, 'model: Required'],
	[{ model: 'custom/x', input: {}, callBackUrl: '' }, 'callBackUrl: Invalid url'],
	[{ model: 'custom/x', input: {}, callbackUrl: url }, "Unrecognized key(s) in object: 'callback"],
])('the body %j is rejected: %s', async (body, msg) => {
	const answer = { code: 422, msg: expect.stringContaining(msg) as string, data: null };
	expect(await create(await start(), body)).toEqual(answer);
});

test.each(['', 'Bearer other'])(
	'the authorization "%s" is rejected by HTTP 200 and code 401',
	async (Authorization) => {
		const init = { method: 'POST', headers: { Authorization } };
		const response = await send(await start(), CREATE, init);
		expect(response.status).toBe(200);
		const answer = { code: 401, msg: expect.any(String) as string, data: null };
		expect(await readAnswer(response)).toEqual(answer);
	},
);

/** Runs a task, and returns its callbacks. The receiver answers them with these statuses, one after the other. */
async function receive(prompt: string, statuses = [200], settings: SettingsInput = {}) {
	const received: Array<Pick<FastifyRequest, 'headers' | 'body'>> = [];
	const receiver = fastify({ forceCloseConnections: true });
	receiver.post('/', async ({ headers, body }, reply) => {
		received.push({ headers, body });
		return reply.code(statuses[received.length - 1] ?? 200).send();
	});
	const service = await start({ callbackRetrySeconds: [1.05, 0.01, 0.01], ...settings });
	const callBackUrl = await receiver.listen({ host: '127.0.0.1', port: 0 });
	const { data } = await create(service, { model: 'custom/x', callBackUrl, input: { prompt } });
	const { taskId } = data as { taskId: string };
	await service.waitForTask(taskId);
	await receiver.close();
	return { received, taskId, callBackUrl, details: await readDetails(service, taskId) };
}

test.each([
	['', { code: 200, msg: 'success' }, 'task_completed'],
	['#fail', { code: 501, msg: 'The generation failed: the prompt was refused.' }, 'task_failed'],
])('a callback says no more than the contract: "%s"', async (prompt, result, callbackType) => {
	const { received, taskId } = await receive(prompt);
	const data = { task_id: taskId, callbackType };
	expect(received.map(({ body }) => body)).toEqual([{ taskId, ...result, data }]);
	expect(received[0]?.headers['content-type']).toBe('application/json');
});

describe('the recorded dialect', () => {
	const dialect = 'recorded';
	const IN_ALL = ['taskId', 'model', 'state', 'param', 'costTime', 'completeTime', 'createTime'];
	const FAILURE = ['failCode', 'failMsg'];
	const NEWER = ['operationType', 'paramJson', 'response', 'successFlag'];

	it.each([
		[
			'',
			['resultJson', 'updateTime', 'creditsConsumed'],
			{ code: 200 },
			{ failCode: null, successFlag: 1, creditsConsumed: 12.5 },
		],
		[
			'#fail',
			[...FAILURE, 'updateTime', 'creditsConsumed'],
			{ code: 501 },
			{ resultJson: '', successFlag: 3, creditsConsumed: 0 },
		],
	])(
		'has the ID in data.taskId, and its input as text, with the prompt "%s"',
		async (prompt, more, code, end) => {
			const { received, taskId, callBackUrl, details } = await receive(prompt, [200], { dialect });
			const [{ body, headers } = { body: undefined, headers: {} }] = received;
			const { data, ...rest } = body as { data: Record<string, unknown> };
			expect([Object.keys(rest), Object.keys(data).sort()]).toEqual([
				['code', 'msg'],
				[...IN_ALL, ...more].sort(),
			]);
			expect(rest).toMatchObject(code);
			const timestamp = String(headers[TIMESTAMP]);
			expect(headers).toMatchObject(signHeaders(body as object, KEY, timestamp));
			const keys = [...IN_ALL, 'resultJson', ...FAILURE, 'creditsConsumed', ...NEWER];
			expect(Object.keys(details).sort()).toEqual(keys.sort());
			const input = JSON.stringify({ prompt });
			const param = JSON.stringify({ input, callBackUrl, model: 'custom/x' });
			const same = { taskId, param, paramJson: param, operationType: 'custom/x', costTime: 0 };
			expect(details).toMatchObject({ ...end, ...same });
			const resultJson = details.resultJson as string;
			expect(details.response).toEqual(resultJson ? JSON.parse(resultJson) : null);
		},
	);

	it.each([
		[{}, 'image_url is required'],
		[{ image_url: url, nsfw_checker: true }, undefined],
	])('answers %j as the service did: %s', async (input, msg) => {
		const body = { model: 'beta2/image-edit', input: { prompt: '', ...input } };
		const { code, msg: text, data } = await create(await start({ dialect }), body);
		expect([code, text]).toEqual(msg ? [500, expect.stringContaining(msg)] : [200, 'success']);
		expect(Object.keys(data ?? {})).toEqual(msg ? [] : ['taskId', 'recordId']);
	});
});

test.each([
	['contract', undefined],
	['recorded', 12.5],
] as const)('while a task runs, the %s dialect says that it costs %d', async (dialect, credits) => {
	const service = await start({ dialect });
	const body = { model: 'custom/x', input: { prompt: '#neverEnds' } };
	const { data } = await create(service, body);
	const { taskId } = data as { taskId: string };
	const details = await readDetails(service, taskId);
	expect(details).toMatchObject({ taskId });
	expect(details.creditsConsumed).toBe(credits);
});

test('a callback is repeated until the first 2xx, and signed anew each time', async () => {
	const { received } = await receive('', [500, 302, 204]);
	const times = received.map(({ headers }) => Number(headers[TIMESTAMP]));
	expect(times).toHaveLength(3);
	expect(times[1]).toBeGreaterThan(times[0] ?? Infinity);
	expect(received.map(({ headers }) => headers)).toMatchObject(
		received.map(({ body }, time) => signHeaders(body as object, KEY, times[time])),
	);
});

/** Made with: printf '%s' 'task-8f3b.1763640000' | openssl dgst -sha256 -hmac 'whk_test_key' -binary | base64 */
test('a callback is signed as the contract says', () => {
	const body = { data: { task_id: 'task-8f3b' } };
	expect(signHeaders(body, 'whk_test_key', 1_763_640_000)).toEqual({
		'x-webhook-timestamp': '1763640000',
		'x-webhook-signature': 'aN+CwMkHbTQne8Za8G9tSIjsQvciU5vyjlIeMDx/Zio=',
	});
});

test('the host of files rejects and records each request that has the token', async () => {
	const { filesUrl, leaks } = await start();
	const headers = { Authorization: 'Bearer dev-token' };
	for (const path of ['/sample.png', '/results/x/result.mp4', '/uploads/x'])
		expect((await fetch(filesUrl + path, { headers })).status).toBe(400);
	expect(leaks).toHaveLength(3);
});

test('a task costs what the list says, and is rejected where the account has less', async () => {
	const buildBody = (duration: string) => ({
		model: 'epsilon-2/text-to-video',
		input: { prompt: 'A fox', duration },
	});
	const service = await start({ credits: 300 });
	expect(await create(service, buildBody('5'))).toMatchObject({ code: 200 });
	expect([...service.tasks.values()]).toMatchObject([{ creditsConsumed: 70 }]);
	const rest = { code: 200, data: 230 };
	expect(await readAnswer(await send(service, '/api/v1/chat/credit'))).toMatchObject(rest);
	const dear = { ...buildBody('10'), input: { ...buildBody('10').input, sound: true } };
	expect(await create(service, dear)).toMatchObject({ code: 402 });
});
