const { createHmac } = require('node:crypto');
const { createTask, details, start, startReceiver } = require('./support');

/**
 * @param {import('./support').Service} service
 * @param {string} callBackUrl
 * @param {string} [prompt]
 */
async function endedTask(service, callBackUrl, prompt) {
	const taskId = await createTask(service, { callBackUrl, prompt });
	return service.waitForTask(taskId);
}

/** @param {any} received */
const stamp = ({ headers }) => Number(headers['x-webhook-timestamp']);

describe('the signature', () => {
	const taskId = '0123456789abcdef0123456789abcdef';

	test('is the one that OpenSSL computes', async () => {
		// printf %s <taskId>.1700000000 | openssl dgst -sha256 -hmac dev-webhook-key -binary | base64
		const service = await start();
		expect(service.sign(taskId, 1700000000)).toBe('spmiifS8bv2PgAuRK/QrfexqpumDn/wIpdkECRbDt4c=');
	});

	test('changes with task, time and key', async () => {
		const service = await start();
		const signatures = [
			service.sign(taskId, 1700000000),
			service.sign(`${taskId}0`, 1700000000),
			service.sign(taskId, 1700000001),
			service.sign(taskId, 1700000000, 'other'),
		];
		expect(new Set(signatures).size).toBe(4);
	});
});

describe('a callback', () => {
	test('has the body and the headers of the contract', async () => {
		const service = await start();
		const { url, received } = await startReceiver();
		const { taskId, callbacks } = await endedTask(service, url);
		expect(received).toHaveLength(1);
		const [callback] = /** @type {[import('./support').Received]} */ (received);
		expect(callback.body).toEqual({
			taskId,
			code: 200,
			msg: 'success',
			data: { task_id: taskId, callbackType: 'task_completed' },
		});
		expect(Math.abs(stamp(callback) - Date.now() / 1000)).toBeLessThan(3);
		const expected = createHmac('sha256', 'dev-webhook-key').update(`${taskId}.${stamp(callback)}`);
		expect(callback.headers['x-webhook-signature']).toBe(expected.digest('base64'));
		expect(callback.headers['content-type']).toBe('application/json');
		expect(callbacks).toEqual([
			{
				at: expect.any(Number),
				attempt: 1,
				status: 200,
				body: callback.body,
				headers: expect.objectContaining({ 'x-webhook-timestamp': String(stamp(callback)) }),
				answer: 'noted',
			},
		]);
	});

	test('is sent after the task has ended, and of a failed task says so', async () => {
		const service = await start();
		const { url, received } = await startReceiver();
		const { taskId, completeTime } = await endedTask(service, url, '#fail');
		expect(received[0]?.at).toBeGreaterThanOrEqual(completeTime ?? Infinity);
		expect(received[0]?.body).toEqual({
			taskId,
			code: 501,
			msg: 'The generation failed: the prompt was refused.',
			data: { task_id: taskId, callbackType: 'task_failed' },
		});
	});

	test('is not sent without callBackUrl', async () => {
		const service = await start();
		const taskId = await createTask(service);
		expect((await service.waitForTask(taskId)).callbacks).toEqual([]);
		await expect(service.callback(taskId)).rejects.toThrow('has no callBackUrl');
	});

	test('carries no signature when no key is set', async () => {
		const service = await start({ webhookSecret: '' });
		const { url, received } = await startReceiver();
		await endedTask(service, url);
		expect(received[0]?.headers).not.toHaveProperty('x-webhook-signature');
		expect(received[0]?.headers).not.toHaveProperty('x-webhook-timestamp');
	});

	test('carries state and result in the variant withResult', async () => {
		const service = await start({ callbackVariant: 'withResult' });
		const { url, received } = await startReceiver();
		const { taskId, resultJson } = await endedTask(service, url);
		const data = { task_id: taskId, callbackType: 'task_completed', state: 'success', resultJson };
		expect(received[0]?.body.data).toEqual(data);
		expect(resultJson).toContain('result.mp4');
	});

	test('carries the whole record in the variant record, and code 501 on failure', async () => {
		const service = await start({ callbackVariant: 'record' });
		const { url, received } = await startReceiver();
		const { taskId } = await endedTask(service, url, '#fail');
		expect(received[0]?.body).toMatchObject({
			taskId,
			code: 501,
			data: { task_id: taskId, ...(await details(service, taskId)) },
		});
		expect(received[0]?.body.data).toMatchObject({ state: 'fail', failCode: '501' });
	});
});

describe('retries', () => {
	test('stop at the first 2xx, and each is stamped and signed anew', async () => {
		const service = await start({ callbackRetrySeconds: [1.05, 0.01, 0.01] });
		const { url, received } = await startReceiver((index) => [500, 302, 204][index]);
		const { taskId, callbacks } = await endedTask(service, url);
		expect(callbacks.map(({ attempt, status }) => [attempt, status])).toEqual([
			[1, 500],
			[2, 302],
			[3, 204],
		]);
		expect(received).toHaveLength(3);
		expect(stamp(received[1])).toBeGreaterThan(stamp(received[0]));
		for (const callback of received) {
			expect(callback.headers['x-webhook-signature']).toBe(service.sign(taskId, stamp(callback)));
		}
	});

	test('are three at most, after the pauses that are set', async () => {
		const service = await start({ callbackRetrySeconds: [0.02, 0.04, 0.06] });
		const { url, received } = await startReceiver(() => 409);
		const { callbacks } = await endedTask(service, url);
		expect(callbacks).toHaveLength(4);
		const pauses = received.slice(1).map(({ at }, index) => at - (received[index]?.at ?? 0));
		[20, 40, 60].forEach((ms, index) => expect(pauses[index]).toBeGreaterThanOrEqual(ms - 2));
	});

	test('follow a receiver that is slower than the time-out, or not there', async () => {
		const service = await start({ callbackTimeoutSeconds: 0.05, callbackRetrySeconds: [0.01] });
		const { url } = await startReceiver((index) => (index === 0 ? undefined : 200));
		const slow = await endedTask(service, url);
		expect(slow.callbacks.map(({ status, answer }) => [status, answer])).toEqual([
			[null, 'the receiver took too long'],
			[200, 'noted'],
		]);
		const absent = await endedTask(service, 'http://127.0.0.1:65000/callback');
		expect(absent.callbacks.map(({ status }) => status)).toEqual([null, null]);
		expect(absent.callbacks[0]?.answer).toMatch(/ECONNREFUSED/);
	});
});

describe('a callback by hand', () => {
	test("is sent again, recorded, and gives the receiver's answer", async () => {
		const service = await start();
		const { url, received } = await startReceiver((index) => (index === 0 ? 200 : 401));
		const { taskId, callbacks } = await endedTask(service, url);
		expect(await service.callback(taskId)).toEqual({ status: 401, body: 'noted' });
		expect(received[1]?.body).toEqual(received[0]?.body);
		expect(callbacks).toHaveLength(2);
	});

	test('takes url, timestamp, signature, secret, body and headers', async () => {
		const service = await start();
		const { url, received } = await startReceiver();
		const taskId = await createTask(service);
		const last = () => received.at(-1);

		await service.callback(taskId, { url, timestamp: 1700000000 });
		expect(last()?.headers['x-webhook-timestamp']).toBe('1700000000');
		expect(last()?.headers['x-webhook-signature']).toBe(service.sign(taskId, 1700000000));

		await service.callback(taskId, { url, timestamp: 1700000000, secret: 'old-key' });
		expect(last()?.headers['x-webhook-signature']).toBe(
			service.sign(taskId, 1700000000, 'old-key'),
		);

		await service.callback(taskId, { url, signature: 'AAAA' });
		expect(last()?.headers['x-webhook-signature']).toBe('AAAA');

		await service.callback(taskId, { url, secret: '' });
		expect(last()?.headers).not.toHaveProperty('x-webhook-signature');

		await service.callback(taskId, { url, body: { data: { task_id: 'other' } } });
		expect(last()?.body).toEqual({ data: { task_id: 'other' } });

		const headers = { 'X-Webhook-Timestamp': undefined, 'content-type': 'text/plain' };
		await service.callback(taskId, { url, body: 'no JSON', headers });
		expect(last()?.body).toBe('no JSON');
		expect(last()?.headers).not.toHaveProperty('x-webhook-timestamp');
		expect(last()?.headers).toHaveProperty('x-webhook-signature');
	});

	test('fails with the reason when nobody answers, or there is no such task', async () => {
		const service = await start();
		const taskId = await createTask(service);
		const url = 'http://127.0.0.1:65000/callback';
		await expect(service.callback(taskId, { url })).rejects.toThrow(
			/^The receiver did not answer: .*ECONNREFUSED/,
		);
		await expect(service.callback('nope', { url })).rejects.toThrow('There is no task nope');
	});
});
