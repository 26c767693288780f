const { create, createTask, details, get, post, start, startReceiver } = require('./support');

const createPath = '/api/v1/jobs/createTask';

describe('faults of a task', () => {
	/** @type {[string, object][]} */
	const prompts = [
		['a fox', {}],
		['#fail', { fail: true }],
		['a fox #slow, #noCallback.', { slow: true, noCallback: true }],
		['#slow=2.5 #status=429', { slow: 2.5 }],
		['#winter #Fail fail', {}],
		['#fail=3 #status=12', {}],
	];
	test.each(prompts)('are read from the prompt %j', async (prompt, faults) => {
		const service = await start();
		await post(service, createPath, { model: 'custom/x', input: { prompt: `${prompt} #created` } });
		expect([...service.tasks.values()][0]?.faults).toMatchObject({ ...faults, created: true });
	});

	test('come from faultsFor too, over those of the prompt, told which task it is', async () => {
		/** @type {any[]} */
		const asked = [];
		const service = await start({
			faultsFor: (task) => {
				asked.push(task);
				return task.index === 1 ? { fail: true, slow: 0.03 } : {};
			},
		});
		await createTask(service, { prompt: '#slow=0.01' });
		const taskId = await createTask(service, { prompt: '#slow=0.01' });
		const model = 'custom/any';
		expect(asked).toEqual(
			[0, 1].map((index) => ({ model, index, input: { prompt: '#slow=0.01' } })),
		);
		expect(service.tasks.get(taskId)?.faults).toEqual({ fail: true, slow: 0.03 });
	});

	test('that faultsFor misspells are answered with the reason', async () => {
		const service = await start({ faultsFor: () => /** @type {any} */ ({ fial: true }) });
		const { code, msg } = await create(service, { model: 'custom/x', input: {} });
		expect({ code, msg }).toEqual({ code: 500, msg: expect.stringContaining('fial') });
	});

	test('fail: the task ends failed, with code and message', async () => {
		const service = await start();
		const taskId = await createTask(service, { prompt: '#fail' });
		await service.waitForTask(taskId);
		expect(await details(service, taskId)).toMatchObject({
			state: 'fail',
			failCode: '501',
			failMsg: 'The generation failed: the prompt was refused.',
			resultJson: '',
		});
	});

	test.each([
		['#slow', 200],
		['#slow=0.1', 100],
	])('%s: the task takes longer', async (prompt, ms) => {
		const service = await start();
		const taskId = await createTask(service, { prompt });
		const { createTime, completeTime } = await service.waitForTask(taskId);
		expect((completeTime ?? 0) - createTime).toBeGreaterThanOrEqual(ms - 5);
	});

	test('neverEnds: the task stays generating, and idle() does not wait for it', async () => {
		const service = await start();
		const taskId = await createTask(service, { prompt: '#neverEnds' });
		await createTask(service, { prompt: '#slow' });
		await service.idle();
		expect((await details(service, taskId)).state).toBe('generating');
	});

	test('noCallback: the task ends and nobody is told', async () => {
		const service = await start();
		const { url, received } = await startReceiver();
		const taskId = await createTask(service, { prompt: '#noCallback', callBackUrl: url });
		expect((await service.waitForTask(taskId)).state).toBe('success');
		expect(received).toEqual([]);
	});

	test('callbackTwice: two equal callbacks are sent at once', async () => {
		const service = await start();
		const { url, received } = await startReceiver();
		const taskId = await createTask(service, { prompt: '#callbackTwice', callBackUrl: url });
		await service.waitForTask(taskId);
		expect(received).toHaveLength(2);
		expect(received[0]?.body).toEqual(received[1]?.body);
	});

	test('callbackEarly: the callback comes while details say generating, and only then', async () => {
		const service = await start({ taskSeconds: 0.2 });
		const { url, received } = await startReceiver();
		const taskId = await createTask(service, { prompt: '#callbackEarly', callBackUrl: url });
		const { callbacks } = await service.waitForTask(taskId, 'generating');
		while (received.length === 0) await new Promise(setImmediate);
		expect((await details(service, taskId)).state).toBe('generating');
		expect(received[0]?.body.data.callbackType).toBe('task_completed');
		await service.waitForTask(taskId);
		expect(callbacks).toHaveLength(1);
	});

	/** @type {[string, (service: any, taskId: string, sent: { timestamp: any, signature: any }) => void][]} */
	const signatures = [
		[
			'#forgedSignature',
			(service, taskId, { timestamp, signature }) => {
				expect(signature).toHaveLength(44);
				expect(signature).not.toBe(service.sign(taskId, timestamp));
			},
		],
		[
			'#staleTimestamp',
			(service, taskId, { timestamp, signature }) => {
				expect(Math.abs(Date.now() / 1000 - 3600 - timestamp)).toBeLessThan(3);
				expect(signature).toBe(service.sign(taskId, timestamp));
			},
		],
		[
			'#unsigned',
			(_service, _taskId, sent) =>
				expect(sent).toEqual({ timestamp: undefined, signature: undefined }),
		],
	];
	test.each(signatures)('%s: the callback is signed accordingly', async (prompt, assess) => {
		const service = await start();
		const { url, received } = await startReceiver();
		const taskId = await createTask(service, { prompt, callBackUrl: url });
		await service.waitForTask(taskId);
		const headers = received[0]?.headers ?? {};
		assess(service, taskId, {
			timestamp: headers['x-webhook-timestamp'],
			signature: headers['x-webhook-signature'],
		});
	});
});

describe('faults of creating', () => {
	const troubled = (/** @type {number} */ code) =>
		JSON.stringify({ code, msg: 'the service is troubled', data: null });
	/** @type {[string, number, string | RegExp][]} */
	const answers = [
		['#status', 500, troubled(500)],
		['#status=429', 429, troubled(429)],
		['#status=402', 402, troubled(402)],
		['#status=455', 455, troubled(455)],
		['#garbage', 200, 'upstream is warming up'],
		['#noTaskId', 200, '{"code":200,"msg":"success","data":{}}'],
		['#html403', 403, /^<!DOCTYPE html>/],
	];
	describe.each(answers)('%s', (prompt, status, body) => {
		test.each([
			['', 0, 1000],
			[' #created', 1, 987.5],
		])('answers so, and with %j makes %i task', async (created, tasks, credits) => {
			const service = await start();
			const order = { model: 'custom/x', input: { prompt: prompt + created } };
			const response = await post(service, createPath, order);
			expect(response.status).toBe(status);
			expect(await response.text()).toEqual(
				body instanceof RegExp ? expect.stringMatching(body) : body,
			);
			expect(service.tasks.size).toBe(tasks);
			expect((await get(service, '/api/v1/chat/credit')).data).toBe(credits);
		});
	});

	test('#hang never answers, and the task can be there all the same', async () => {
		const service = await start();
		const outcome = create(service, { model: 'custom/x', input: { prompt: '#hang #created' } });
		const first = await Promise.race([
			outcome.catch(() => 'connection ended'),
			new Promise((resolve) => setTimeout(resolve, 60, 'no answer yet')),
		]);
		expect(first).toBe('no answer yet');
		expect(service.tasks.size).toBe(1);
		await service.close();
		await expect(outcome).rejects.toThrow();
	});
});
