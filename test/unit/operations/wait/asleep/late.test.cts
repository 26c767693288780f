// Comes first: the mocks below are made of it.
import {
	aliveOnly,
	CREDENTIALS,
	FakeN8n,
	MapOfProcess,
	RESUME_URL,
	runInProcessAfter,
	type Conditions,
} from './fakeN8n.cts';
import { sleep, type IDataObject } from 'n8n-workflow';
import { executeOperation } from '../../../../../nodes/MediaGeneration/operations/execute';
import { wakeExecution } from '../../../../../nodes/MediaGeneration/run/wake';

jest.mock('../../../../../nodes/MediaGeneration/lib/boundedMap', () => ({
	BoundedMap: MapOfProcess,
}));
jest.mock('../../../../../nodes/MediaGeneration/lib/timers', () => ({
	...jest.requireActual<object>('../../../../../nodes/MediaGeneration/lib/timers'),
	runAfter: runInProcessAfter,
}));

const SECOND = 1_000;
const LIMIT = 60 * SECOND;
const pass = jest.advanceTimersByTimeAsync;
const film = { node: 'Film', count: 1 };

beforeEach(() => void jest.useFakeTimers({ now: 1e12 }));
afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

/** An execution that sleeps for the task of each of its steps, and the service, which answers after this time. */
async function park(latency: number, conditions: Partial<Conditions> = {}) {
	const ended = new Set<string>();
	let created = 0;
	const say = (data: object) => ({ statusCode: 200, body: JSON.stringify({ code: 200, data }) });
	const answer = async (path: string) => {
		await sleep(latency);
		if (path.endsWith('/jobs/createTask')) return say({ taskId: `task-${created++}` });
		const taskId = new URL(path, 'https://x').searchParams.get('taskId') ?? '';
		return say({ taskId, state: ended.has(taskId) ? 'success' : 'generating' });
	};
	const n8n = new FakeN8n(
		{ executeOperation, wakeExecution },
		{ answer, download: async () => await Promise.reject(new Error('no files')) },
		{
			steps: [film],
			tries: 1,
			responseMode: 'onReceived',
			trackerAt: 0,
			parkingFails: false,
			storeFailures: 0,
			slotWait: 0,
			...conditions,
		},
		{
			resource: 'task',
			operation: 'generate',
			model: 'any',
			anyModel: 'epsilon/any',
			inputMode: 'json',
			options: {
				howToWait: 'callback',
				waitLimit: LIMIT / 60_000,
				downloadResults: false,
				tasksPer10Seconds: 0,
			},
		},
	);
	const fetch = async (url: string, { body, headers }: RequestInit) => {
		const respond = (status: number, said: object) => Response.json(said, { status });
		if (url.startsWith(RESUME_URL)) {
			const sent = JSON.parse(body as string) as IDataObject;
			const given = Object.fromEntries(new Headers(headers));
			const { status, answer: said } = await n8n.deliver(sent, given, 0);
			return respond(status, said as object);
		}
		const { statusCode, body: text } = await answer(url.slice(CREDENTIALS.baseUrl.length));
		return respond(statusCode, JSON.parse(text) as object);
	};
	jest
		.spyOn(globalThis, 'fetch')
		.mockImplementation(async (url, init = {}) => await aliveOnly(fetch(url as string, init)));
	void n8n.run();
	while (n8n.status === 'running') await pass(100);
	expect(n8n.status).toBe('waiting');
	const callBack = async (taskId: string, process = 0) => await n8n.callBack(taskId, process);
	return { n8n, ended, callBack };
}

it('a callback in the last second before the limit brings its task, also where the service is slow', async () => {
	const { n8n, ended, callBack } = await park(2 * SECOND);
	await pass(LIMIT - 700);
	ended.add('task-0');
	const sent = callBack('task-0');
	await pass(30 * SECOND);
	expect((await sent).status).toBe(200);
	expect(n8n.ended[0]?.items).toMatchObject([{ json: { taskId: 'task-0', status: 'completed' } }]);
});

it('two processes with two clocks take the callbacks of each sleep', async () => {
	const { n8n, ended, callBack } = await park(100, { steps: [film, film] });
	// The second run sleeps in a process whose clock is behind.
	jest.setSystemTime(Date.now() - 10 * SECOND);
	ended.add('task-0');
	void callBack('task-0', 1);
	await pass(2 * SECOND);
	expect(n8n.ended).toHaveLength(1);
	expect(n8n.status).toBe('waiting');
	ended.add('task-1');
	const sent = callBack('task-1', 1);
	await pass(3 * SECOND);
	expect((await sent).answer).toEqual({ accepted: true, resumed: true });
	expect(n8n.ended[1]?.items).toMatchObject([{ json: { taskId: 'task-1', status: 'completed' } }]);
});

describe('a credential whose key is changed while the execution sleeps', () => {
	const { webhookSecret } = CREDENTIALS;
	afterEach(() => void Object.assign(CREDENTIALS, { webhookSecret }));

	it.each([
		['added', ''],
		['replaced', 'the key of before'],
	])('is no obstacle for the nudge of a look: it is %s', async (_, before) => {
		CREDENTIALS.webhookSecret = before;
		const { n8n, ended } = await park(100);
		CREDENTIALS.webhookSecret = webhookSecret;
		ended.add('task-0');
		await pass(LIMIT);
		expect(n8n.status).toBe('done');
		expect(n8n.ended[0]?.items).toMatchObject([
			{ json: { taskId: 'task-0', status: 'completed' } },
		]);
		expect(n8n.log.join()).not.toContain('signature');
	});
});
