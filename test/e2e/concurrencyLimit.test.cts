import fastify from 'fastify';
import { createEndedTask, parseAnswer, postJson } from '../../dev/fixtures/callbacks.cts';
import {
	connect,
	generate,
	buildHttpRequest,
	SPLIT_ITEMS,
	buildWebhook,
} from '../../dev/fixtures/workflows.cts';
import { evaluate, INSPECTABLE } from '../../dev/n8n/inspect.cts';
import { WITHOUT_CODE } from '../../dev/n8n/process.cts';
import { poll } from '../../dev/n8n/wait.cts';
import { usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 0.05, callbackTimeoutSeconds: 120 },
	env: { ...INSPECTABLE, ...WITHOUT_CODE, N8N_CONCURRENCY_PRODUCTION_LIMIT: '1' },
	keeps: true,
});

/** A server whose callers wait at `/` until they are released. It counts those of `/note`. */
const busy = fastify({ forceCloseConnections: true });
let busyUrl: string;
let isBusy = false;
let noted = 0;
let released: Promise<void>;
let release = () => {};

beforeAll(async () => {
	busy.get('/', async () => {
		isBusy = true;
		await released;
		return {};
	});
	busy.get('/note', () => ({ noted: ++noted }));
	busyUrl = await busy.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(() => release());
afterAll(async () => await busy.close());

/** Starts an execution that has n8n's only slot until it is released. */
async function takeSlot() {
	isBusy = false;
	released = new Promise<void>((resolve) => (release = resolve));
	const started = await pair.activate(
		connect('Busy', [buildWebhook(), buildHttpRequest({ url: busyUrl })]),
	);
	await postJson(started.url, {});
	await poll(() => isBusy, { what: 'an execution that has the slot' });
}

/** By how many seconds n8n's clock is ahead. */
let ahead = 0;

async function passMinute() {
	ahead += 61;
	const setForward =
		'{ const { now } = Date; Date.now = () => now() + 61_000; return Date.now(); }';
	const seconds = ((await evaluate<number>(pair.n8n, setForward)) - Date.now()) / 1000;
	expect(seconds).toBeCloseTo(ahead, -1);
}

const readTimestamp = () => Math.floor(Date.now() / 1000) + ahead;

const count = async (workflowId: string, ...status: string[]) =>
	(await pair.n8n.listExecutions({ workflowId, status })).length;

it('while n8n waits for a slot, for longer than a minute and after a hang-up, copies of a callback start nothing', async () => {
	const { service } = pair;
	const { id, url } = await pair.activateTrigger();
	const [waiting = '', hungUp = ''] = await Promise.all([1, 2].map(() => createEndedTask(service)));
	await takeSlot();

	const sender = new AbortController();
	const first = service.sendCallback(waiting, { url });
	const cutOff = service.sendCallback(hungUp, { url, signal: sender.signal });
	await poll(async () => (await count(id, 'new')) === 2, {
		what: 'executions that wait for a slot',
	});
	sender.abort();
	await expect(cutOff).rejects.toThrow('aborted');
	await passMinute();

	const send = async (taskId: string) => {
		const { status, body } = await service.sendCallback(taskId, {
			url,
			timestamp: readTimestamp(),
		});
		return { status, ...parseAnswer(body) };
	};
	for (const copy of await Promise.all([waiting, hungUp].map(send)))
		expect(copy).toMatchObject({ status: 503, reason: 'underway' });
	expect(await count(id, 'new')).toBe(2);

	release();
	expect(parseAnswer((await first).body)).toMatchObject({ emitted: true });
	const tasks = await pair.waitForTriggered(id, 2);
	expect(tasks.map(({ taskId }) => taskId).sort()).toEqual([waiting, hungUp].sort());
	for (const copy of await Promise.all([waiting, hungUp].map(send)))
		expect(copy).toMatchObject({ status: 200, reason: 'duplicate' });
	expect(await count(id)).toBe(2);
});

it('while n8n waits for a slot, for longer than a minute and after hang-ups, copies of a callback and a nudge wake an execution once', async () => {
	const { service, n8n } = pair;
	const [first, second] = ['first #neverEnds', 'second'];
	const { id, url } = await pair.activate(
		connect('Two in a row', [
			buildWebhook(),
			SPLIT_ITEMS,
			generate({}, { name: 'Generate one' }),
			generate({ anyInput: { prompt: second } }, { name: 'Generate two' }),
			buildHttpRequest({ url: `${busyUrl}/note` }),
		]),
	);
	await postJson(url, { items: [{ prompt: first }] });
	const [{ id: executionId = '' } = {}] = await n8n.waitForExecutions({
		workflowId: id,
		count: 1,
		status: ['waiting'],
	});
	await takeSlot();

	const task = await pair.endTask(pair.findTask(first));
	/** Sends a callback, and gives up after some seconds. A busy n8n takes a while to answer a copy. */
	const send = async (callbackType?: string, seconds = 30) => {
		const body = callbackType && {
			data: { task_id: task.taskId, callbackType },
		};
		const sent = service.sendCallback(task.taskId, {
			timestamp: readTimestamp(),
			signal: AbortSignal.timeout(seconds * 1_000),
			...(body && { body }),
		});
		return await sent.then(({ body }) => parseAnswer(body)).catch(({ message }: Error) => message);
	};
	// n8n answers the callback that wakes the execution when it has a slot for the execution.
	expect(await send(undefined, 1)).toContain('did not answer');
	const sendCopies = async () => await Promise.all([send(), send(), send('nudge')]);
	const answers = await sendCopies();
	await passMinute();
	answers.push(...(await sendCopies()));
	const { status } = await n8n.getExecution(executionId);
	expect([status, pair.listPrompts().includes(second), noted]).toEqual(['waiting', false, 0]);

	release();
	const execution = await n8n.waitForExecution(executionId);
	expect(execution.status).toBe('success');
	expect(execution.getItems('Generate one')).toMatchObject(pair.listCompleted(first));
	expect(pair.listPrompts().filter((prompt) => prompt === second)).toHaveLength(1);
	expect(execution.getItems('Generate two')).toMatchObject(pair.listCompleted(second));
	expect(noted).toBe(1);
	expect(await count(id)).toBe(1);
	expect(answers).toEqual(answers.map(() => ({ accepted: true, resumed: false })));
});
