const { request } = require('node:http');
const { startService } = require('../../dev/service');
const { call, create, createTask, details, get, post, start } = require('./support');

const creditPath = '/api/v1/chat/credit';
const createPath = '/api/v1/jobs/createTask';

describe('access', () => {
	test.each([
		['no token', undefined, 'The Authorization header is missing'],
		['a wrong token', 'Bearer other', 'The access token is not valid'],
		['the token without its scheme', 'dev-token', 'The access token is not valid'],
	])('refuses %s with HTTP 200 and code 401', async (_what, authorization, msg) => {
		const service = await start();
		const headers = authorization ? { Authorization: authorization } : undefined;
		for (const path of [creditPath, createPath, '/api/file-stream-upload']) {
			const method = path === creditPath ? 'GET' : 'POST';
			const response = await fetch(service.url + path, { method, headers });
			expect(response.status).toBe(200);
			expect(await response.json()).toEqual({ code: 401, msg, data: null });
		}
	});

	test.each([[undefined], ['  ']])('refuses the User-Agent %j with an HTML page', async (agent) => {
		const { url } = await start();
		const headers = { Authorization: 'Bearer dev-token', ...(agent && { 'User-Agent': agent }) };
		const response = await new Promise((resolve, reject) => {
			request(url + creditPath, { headers }, resolve)
				.on('error', reject)
				.end();
		});
		expect(response.statusCode).toBe(403);
		expect(response.headers['content-type']).toMatch('text/html');
		response.resume();
	});

	test.each([
		['text/plain', '{}', 'Content-Type must be application/json'],
		['application/jsonx', '{}', 'Content-Type must be application/json'],
		['application/json', '{"model":', 'body is not JSON'],
		['application/json', '', 'body is not JSON'],
	])('refuses a %s body %j', async (type, body, msg) => {
		const init = { method: 'POST', headers: { 'Content-Type': type }, body };
		const response = await call(await start(), createPath, init);
		expect(await response.json()).toEqual({ code: 422, msg, data: null });
	});

	test('answers 404 for what is not there', async () => {
		const response = await call(await start(), '/api/v2/jobs');
		expect(response.status).toBe(404);
		expect(await response.json()).toEqual({ code: 404, msg: 'There is no GET /api/v2/jobs' });
	});

	test('listens on the loopback address only, and serves results from another origin', async () => {
		const { url, resultsUrl } = await start();
		expect([url, resultsUrl]).toEqual(
			Array(2).fill(expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)),
		);
		expect(url).not.toBe(resultsUrl);
	});
});

describe('task details', () => {
	test('tell the life of a task from waiting to success', async () => {
		const service = await start({ taskSeconds: 0.2 });
		const taskId = await createTask(service);
		const seen = [];
		for (const state of /** @type {const} */ (['waiting', 'queuing', 'generating', 'success'])) {
			await service.waitForTask(taskId, state);
			const told = await details(service, taskId);
			seen.push([told.state, told.progress, told.completeTime !== null, told.resultJson !== '']);
		}
		expect(seen).toEqual([
			['waiting', 0, false, false],
			['queuing', 10, false, false],
			['generating', 50, false, false],
			['success', 100, true, true],
		]);
	});

	test('hold the fields of the family, and the same by both paths', async () => {
		const service = await start();
		const taskId = await createTask(service);
		await service.waitForTask(taskId);
		const answer = await get(service, `/api/v1/jobs/recordInfo?taskId=${taskId}`);
		const base = `${service.resultsUrl}/results/${taskId}`;
		expect(answer).toEqual({
			code: 200,
			msg: 'success',
			data: {
				taskId,
				model: 'custom/any',
				state: 'success',
				param: JSON.stringify({ model: 'custom/any', input: { prompt: 'a fox' } }),
				resultJson: JSON.stringify({
					resultUrls: [`${base}/result.mp4`],
					firstFrameUrl: [`${base}/first-frame.png`],
					lastFrameUrl: [`${base}/last-frame.png`],
				}),
				failCode: '',
				failMsg: '',
				costTime: answer.data.completeTime - answer.data.createTime,
				createTime: expect.any(Number),
				updateTime: expect.any(Number),
				completeTime: expect.any(Number),
				creditsConsumed: 12.5,
				progress: 100,
			},
		});
		expect(Math.abs(answer.data.createTime - Date.now())).toBeLessThan(5000);
		expect(await get(service, `/api/v1/tasks/query/${taskId}`)).toEqual(answer);
	});

	test.each([
		['/api/v1/jobs/recordInfo?taskId=nope', 'recordInfo is null'],
		['/api/v1/tasks/query/nope', 'recordInfo is null'],
		['/api/v1/jobs/recordInfo', 'taskId is required'],
	])('refuse %s', async (path, msg) => {
		const response = await call(await start(), path);
		expect(response.status).toBe(200);
		expect(await response.json()).toEqual({ code: 422, msg, data: null });
	});

	test('waiting for a state that a task never reaches fails with the state it ended in', async () => {
		const service = await start();
		const taskId = await createTask(service, { prompt: '#fail' });
		await expect(service.waitForTask(taskId, 'success')).rejects.toThrow('ended in state fail');
		await expect(service.waitForTask('nope')).rejects.toThrow('There is no task nope');
	});
});

describe('the account', () => {
	test('pays for each task until its credits are too few', async () => {
		const service = await start({ credits: 30 });
		await createTask(service);
		expect(await get(service, creditPath)).toEqual({ code: 200, msg: 'success', data: 17.5 });
		await createTask(service);
		expect(await create(service, { model: 'custom/x', input: {} })).toEqual({
			code: 402,
			msg: 'The account has 5 credits: too few for a task',
			data: null,
		});
		service.set({ credits: 12.5 });
		expect(await createTask(service)).toBeDefined();
		expect(service.tasks.size).toBe(3);
	});

	test('creates no more than the rate limit in its window; the rest is rejected and not charged', async () => {
		const service = await start({ rateLimit: { requests: 2, seconds: 0.3 } });
		const order = { model: 'custom/x', input: {} };
		const answers = await Promise.all([1, 2, 3].map(() => create(service, order)));
		expect(answers.map(({ code }) => code).sort()).toEqual([200, 200, 429]);
		expect(service.tasks.size).toBe(2);
		expect((await get(service, creditPath)).data).toBe(975);
		await new Promise((resolve) => setTimeout(resolve, 310));
		expect((await create(service, order)).code).toBe(200);
	});
});

describe('the record of requests', () => {
	test('tells method, path, status and code in order, never the token', async () => {
		const service = await start();
		await createTask(service);
		await get(service, '/api/v1/jobs/recordInfo?taskId=nope');
		await call(service, '/nowhere');
		expect(service.requests).toEqual([
			{ at: expect.any(Number), method: 'POST', path: createPath, status: 200, code: 200 },
			{
				at: expect.any(Number),
				method: 'GET',
				path: '/api/v1/jobs/recordInfo',
				status: 200,
				code: 422,
			},
			{ at: expect.any(Number), method: 'GET', path: '/nowhere', status: 404, code: 404 },
		]);
		expect(JSON.stringify(service.requests)).not.toContain('dev-token');
	});
});

describe('faults of the next requests', () => {
	/** @type {[object, { status: number, body: string }][]} */
	const answered = [
		[
			{ status: 500 },
			{ status: 500, body: '{"code":500,"msg":"the service is troubled","data":null}' },
		],
		[
			{ code: 455, msg: 'maintenance' },
			{ status: 200, body: '{"code":455,"msg":"maintenance","data":null}' },
		],
		[
			{ status: 404, code: 422, message: 'gone' },
			{ status: 404, body: '{"code":422,"message":"gone","data":null}' },
		],
		[{ garbage: true }, { status: 200, body: 'upstream is warming up' }],
		[
			{ garbage: true, status: 502 },
			{ status: 502, body: 'upstream is warming up' },
		],
		[{ html403: true }, { status: 403, body: expect.stringMatching(/^<!DOCTYPE html>/) }],
	];
	test.each(answered)('%j answers one request so, and no further one', async (fault, expected) => {
		const service = await start();
		service.faultNext(fault);
		const response = await call(service, creditPath);
		expect({ status: response.status, body: await response.text() }).toEqual(expected);
		expect((await get(service, creditPath)).code).toBe(200);
	});

	test('hang never answers, and dropConnection ends the connection', async () => {
		const service = await start();
		service.faultNext({ hang: true });
		const signal = AbortSignal.timeout(60);
		await expect(call(service, creditPath, { signal })).rejects.toThrow(/timeout/);
		service.faultNext({ dropConnection: true });
		await expect(call(service, creditPath)).rejects.toMatchObject({
			cause: { code: 'UND_ERR_SOCKET' },
		});
		expect(service.requests.map(({ status }) => status)).toEqual([null, null]);
	});

	test('delaySeconds answers later, and rightly', async () => {
		const service = await start();
		service.faultNext({ delaySeconds: 0.1 });
		const began = performance.now();
		expect((await get(service, creditPath)).code).toBe(200);
		expect(performance.now() - began).toBeGreaterThan(95);
	});

	test('strike as often as said, and only what matches method and path', async () => {
		const service = await start();
		service.faultNext({ code: 500, times: 2, method: 'GET', path: '/api/v1/jobs' });
		const seen = [(await get(service, creditPath)).code];
		seen.push((await create(service, { model: 'custom/x', input: {} })).code);
		for (let n = 0; n < 3; n++)
			seen.push((await get(service, '/api/v1/jobs/recordInfo?taskId=x')).code);
		expect(seen).toEqual([200, 200, 500, 500, 422]);
	});

	test('a misspelt fault or setting is refused at once', async () => {
		const service = await start();
		const misspelt = /** @type {any} */ ({ statsu: 500 });
		expect(() => service.faultNext(misspelt)).toThrow('statsu');
		expect(() => service.set(misspelt)).toThrow('statsu');
		await expect(startService(misspelt)).rejects.toThrow('statsu');
	});
});

describe('the log', () => {
	test('has one line per task made, request refused and callback sent', async () => {
		/** @type {string[]} */
		const lines = [];
		const service = await start({ log: (line) => lines.push(line), callbackRetrySeconds: [] });
		const taskId = await createTask(service, { callBackUrl: 'http://127.0.0.1:65000/' });
		await service.waitForTask(taskId);
		await create(service, { model: 'omega/x', input: {} });
		expect(lines).toEqual([
			`create custom/any: ${taskId}`,
			expect.stringMatching(`^callback ${taskId}, attempt 1: none \\(.*ECONNREFUSED`),
			`refuse POST ${createPath}: 422 model "omega/x" is not known`,
		]);
	});
});

describe('closing', () => {
	test('ends requests, tasks and callbacks that are under way', async () => {
		const service = await startService({ taskSeconds: 0 });
		const hanging = post(service, createPath, { model: 'custom/x', input: { prompt: '#hang' } });
		const callBackUrl = 'http://127.0.0.1:65000/callback';
		service.set({ callbackRetrySeconds: [60] });
		await service.waitForTask(await createTask(service, { callBackUrl }), 'success');
		await createTask(service, { prompt: '#neverEnds #callbackEarly', callBackUrl });
		const ended = expect(hanging).rejects.toThrow();
		await service.close();
		await ended;
		await service.idle();
	});

	test('a port that is taken is told, and nothing is left behind', async () => {
		const { url } = await start();
		const port = Number(new URL(url).port);
		await expect(startService({ port })).rejects.toThrow('EADDRINUSE');
	});
});
