import fastify from 'fastify';
import { createEndedTask, parseAnswer, postJson } from '../../dev/fixtures/callbacks.cts';
import { connect, httpRequest, webhook } from '../../dev/fixtures/workflows.cts';
import { evaluate, INSPECTABLE } from '../../dev/n8n/inspect.cts';
import { poll } from '../../dev/n8n/wait.cts';
import { usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 0.05, callbackTimeoutSeconds: 120 },
	n8n: { env: { ...INSPECTABLE, N8N_CONCURRENCY_PRODUCTION_LIMIT: '1' } },
	keeps: true,
});

/** Lets its callers wait until they are released. */
const busy = fastify({ forceCloseConnections: true });
let isBusy = false;
let release = () => {};

/** Starts an execution that has n8n's only slot until it is released. */
async function takeSlot() {
	const released = new Promise<void>((resolve) => (release = resolve));
	busy.get('/', async () => {
		isBusy = true;
		await released;
		return {};
	});
	const url = await busy.listen({ host: '127.0.0.1', port: 0 });
	const started = await pair.activate(connect('Busy', [webhook(), httpRequest({ url })]));
	await postJson(started.url, {});
	await poll(() => isBusy, { what: 'an execution that has the slot' });
}

afterAll(async () => {
	release();
	await busy.close();
});

it('while n8n waits for a slot, for longer than a minute and after a hang-up, copies of a callback start nothing', async () => {
	const { service, n8n } = pair;
	const { id, url } = await pair.activateTrigger();
	const [kept = '', hungUp = ''] = await Promise.all([1, 2].map(() => createEndedTask(service)));
	const count = async (...status: string[]) =>
		(await n8n.listExecutions({ workflowId: id, status })).length;
	await takeSlot();

	const sender = new AbortController();
	const first = service.callback(kept, { url });
	const cutOff = service.callback(hungUp, { url, signal: sender.signal });
	await poll(async () => (await count('new')) === 2, { what: 'executions that wait for a slot' });
	sender.abort();
	await expect(cutOff).rejects.toThrow('aborted');
	await evaluate(n8n, '{ const { now } = Date; Date.now = () => now() + 61_000; }');

	const send = async (taskId: string) => {
		const timestamp = Math.floor(Date.now() / 1000) + 61;
		const { status, body } = await service.callback(taskId, { url, timestamp });
		return { status, ...parseAnswer(body) };
	};
	for (const copy of await Promise.all([kept, hungUp].map(send)))
		expect(copy).toMatchObject({ status: 503, reason: 'underway' });
	expect(await count('new')).toBe(2);

	release();
	expect(parseAnswer((await first).body)).toMatchObject({ emitted: true });
	const tasks = await pair.waitForTriggered(id, 2);
	expect(tasks.map(({ taskId }) => taskId).sort()).toEqual([kept, hungUp].sort());
	for (const copy of await Promise.all([kept, hungUp].map(send)))
		expect(copy).toMatchObject({ status: 200, reason: 'duplicate' });
	expect(await count()).toBe(2);
});
