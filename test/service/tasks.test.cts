import { fastify, type FastifyRequest } from 'fastify';
import type { SettingsInput } from '../../dev/service/index.cts';
import { create, createTask, get, start } from './support.cts';

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
