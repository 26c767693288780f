import { createTask, postOrder, readCredits, start, startReceiver } from './support.cts';

test.each([
	['#winter #Fail fail', 20],
	['a fox #slow.', 200],
	['#slow=0.1', 100],
])('a task with the prompt "%s" succeeds after %i ms at least', async (prompt, ms) => {
	const service = await start();
	const task = await service.waitForTask(await createTask(service, prompt));
	expect(task.state).toBe('success');
	expect((task.completeTime ?? 0) - task.createTime).toBeGreaterThanOrEqual(ms - 5);
});

test.each([
	['', ['success']],
	['#noCallback', []],
	['#callbackTwice', ['success', 'success']],
	['#callbackEarly', ['generating']],
])('callbacks of "%s" come while the task is %j', async (prompt, states) => {
	const service = await start({ taskSeconds: 0.2 });
	const seen: unknown[] = [];
	const { url } = await startReceiver(() => {
		seen.push(...[...service.tasks.values()].map(({ state }) => state));
		return 200;
	});
	const { state } = await service.waitForTask(await createTask(service, prompt, url));
	expect({ state, seen }).toEqual({ state: 'success', seen: states });
});

describe.each([
	['#status', 500, '"code":500'],
	['#status=429', 429, '"code":429'],
	['#garbage', 200, 'upstream is warming up'],
	['#noTaskId', 200, '{"code":200,"msg":"success","data":{}}'],
	['#html403', 403, '<!DOCTYPE html>'],
])('creating with %s', (fault, status, text) => {
	test.each([
		['', 0, 1000],
		[' #created', 1, 987.5],
	])('and "%s" makes %i task', async (created, tasks, credits) => {
		const service = await start();
		const order = { model: 'custom/x', input: { prompt: fault + created } };
		const response = await postOrder(service, order);
		expect(response.status).toBe(status);
		expect(await response.text()).toContain(text);
		expect(service.tasks.size).toBe(tasks);
		expect(await readCredits(service)).toBe(credits);
	});
});

test('delaySeconds answers later, and rightly', async () => {
	const service = await start();
	service.faultNext({ delaySeconds: 0.1 });
	const began = performance.now();
	expect(await readCredits(service)).toBe(1000);
	expect(performance.now() - began).toBeGreaterThan(95);
});
