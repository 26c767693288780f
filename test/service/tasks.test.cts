import { fastify, type FastifyRequest } from 'fastify';
import type { SettingsInput } from '../../dev/service/index.cts';
import { call, create, createTask, get, start } from './support.cts';

/** Runs a task, and returns the callbacks that came for it, which were answered with these statuses. */
async function receive(prompt: string, settings?: SettingsInput, statuses = [200]) {
	const received: Array<Pick<FastifyRequest, 'headers' | 'body'>> = [];
	const receiver = fastify({ forceCloseConnections: true });
	receiver.post('/', async ({ headers, body }, reply) => {
		received.push({ headers, body });
		return reply.code(statuses[received.length - 1] ?? 200).send();
	});
	const service = await start(settings);
	const url = await receiver.listen({ host: '127.0.0.1', port: 0 });
	const taskId = await createTask(service, prompt, url);
	await service.waitForTask(taskId);
	await receiver.close();
	return { received, service, taskId };
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

test('#callbackTwice sends two callbacks', async () => {
	expect((await receive('#callbackTwice')).received).toHaveLength(2);
});

test('a callback is repeated until the first 2xx, and signed anew each time', async () => {
	const settings = { callbackRetrySeconds: [1.05, 0.01, 0.01] };
	const statuses = [500, 302, 204];
	const { received, service, taskId } = await receive('', settings, statuses);
	expect(service.tasks.get(taskId)?.callbacks.map(({ status }) => status)).toEqual(statuses);
	const times = received.map(({ headers }) => Number(headers['x-webhook-timestamp']));
	expect(times[1]).toBeGreaterThan(times[0] ?? Infinity);
	expect(received.map(({ headers }) => headers['x-webhook-signature'])).toEqual(
		times.map((time) => service.sign(taskId, time)),
	);
});

test.each([
	['#slow=0.1', 100],
	['#winter #Fail fail #slow', 20],
])('a task with the prompt "%s" succeeds after %i ms at least', async (prompt, ms) => {
	const service = await start();
	const task = await service.waitForTask(await createTask(service, prompt));
	expect(task.state).toBe('success');
	expect((task.completeTime ?? 0) - task.createTime).toBeGreaterThanOrEqual(ms - 5);
});

const DETAILS = '/api/v1/jobs/recordInfo?taskId=';
const RECORD = { data: { state: 'success' } };

test.each<[prompt: string, ...answers: object[]]>([
	['#end=done', { code: 200, data: { state: 'done', failCode: '' } }],
	['#fail #end=canceled', { code: 200, data: { state: 'canceled', failCode: '501' } }],
	['#detailsCode=501', { code: 501, data: null }],
	['#detailsCode=408 #detailsRecord', { code: 408, ...RECORD }],
	[
		'#detailsFail=2',
		{ code: 500, data: null },
		{ code: 500, data: null },
		{ code: 200, ...RECORD },
	],
	[
		'#links=blank',
		{ data: { resultJson: expect.stringContaining('"resultUrls":[""]') as string } },
	],
	[
		'#links=blankText',
		{ data: { resultJson: expect.stringContaining('"resultUrls":""') as string } },
	],
	[
		'#links=relative',
		{ data: { resultJson: expect.stringContaining('"resultUrls":["/results/') as string } },
	],
	[
		'#links=dead',
		{ data: { resultJson: expect.stringContaining('http://127.0.0.1:9/results/') as string } },
	],
])('details of a task with the prompt "%s"', async (prompt, ...answers) => {
	const service = await start();
	const taskId = await createTask(service, prompt);
	await service.waitForTask(taskId);
	for (const answer of answers) expect(await get(service, DETAILS + taskId)).toMatchObject(answer);
	expect(service.tasks.get(taskId)?.detailsRequests).toBe(answers.length);
});

test('details of a task that has not ended are given whatever comes at its end, and #detailsHang gives none', async () => {
	const service = await start();
	const taskId = await createTask(service, '#detailsCode=501 #neverEnds');
	await service.waitForTask(taskId, 'generating');
	expect(await get(service, DETAILS + taskId)).toMatchObject({ code: 200 });
	const hanging = await createTask(service, '#detailsHang');
	const signal = AbortSignal.timeout(200);
	await expect(call(service, DETAILS + hanging, { signal })).rejects.toThrow('timeout');
});

test('no task has a callback where the service sends none', async () => {
	expect((await receive('', { callbacks: false })).received).toEqual([]);
});

test('two services that count their tasks have equal IDs', async () => {
	const services = [await start({ countsIds: true }), await start({ countsIds: true })];
	for (const service of services)
		expect([await createTask(service), await createTask(service)]).toEqual(['task-1', 'task-2']);
});

test.each([
	['', 1],
	['#garbage', 0],
	['#garbage #created', 1],
])('the prompt "%s" makes and charges %i tasks', async (prompt, tasks) => {
	const service = await start();
	await create(service, { model: 'custom/x', input: { prompt } }).catch(() => undefined);
	expect(service.tasks.size).toBe(tasks);
	expect((await get(service, '/api/v1/chat/credit')).data).toBe(1000 - 12.5 * tasks);
});
