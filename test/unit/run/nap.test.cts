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
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import type { HeldResponse } from '../../../nodes/MediaGeneration/host/delivery';
import { Nap, type SleepState } from '../../../nodes/MediaGeneration/run/nap';
import { PAUSES_ASLEEP } from '../../../nodes/MediaGeneration/run/timetable';
import { wakeExecution } from '../../../nodes/MediaGeneration/run/wake';

jest.mock('../../../nodes/MediaGeneration/lib/boundedMap', () => ({
	BoundedMap: MapOfProcess,
}));
jest.mock('../../../nodes/MediaGeneration/lib/timers', () => ({
	...jest.requireActual<object>('../../../nodes/MediaGeneration/lib/timers'),
	runAfter: runInProcessAfter,
}));

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** A nudge spreads its pause by a quarter. */
const FIRST_NUDGE = 1.25 * PAUSES_ASLEEP.first;
const pass = jest.advanceTimersByTimeAsync;
const film = { node: 'Film', count: 1 };

beforeEach(() => void jest.useFakeTimers({ now: 1e12 }));
afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

interface Options extends Partial<Conditions> {
	/** How long the service takes to answer. */
	latency?: number;
	limit?: number;
	/** The process to which nudges come. */
	nudgesTo?: number;
	/** Happens while the node creates its tasks, which the service knows already. */
	meanwhile?: (begun: Pick<Begun, 'n8n' | 'ended' | 'callBack'>) => Promise<unknown>;
}

/** Begins an execution that sleeps for the task of each item of its steps. */
async function begin({ latency = 100, limit = MINUTE, nudgesTo = 0, ...options }: Options = {}) {
	const { meanwhile, ...conditions } = options;
	const ended = new Set<string>();
	const nudges: number[] = [];
	let created = 0;
	const say = (data: object) => ({ statusCode: 200, body: JSON.stringify({ code: 200, data }) });
	const answer = async (path: string) => {
		const isCreation = path.endsWith('/jobs/createTask');
		const taskId = isCreation ? `task-${created++}` : path.replace(/.*taskId=/, '');
		await sleep(latency);
		if (isCreation) return say({ taskId });
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
				waitLimit: limit / MINUTE,
				downloadResults: false,
				tasksPer10Seconds: 0,
			},
		},
	);
	const fetch = async (url: string, { body, headers }: RequestInit) => {
		// What tries the resume URL before the run sleeps has another execution ID.
		if (!url.startsWith(`${RESUME_URL}${n8n.id}`)) return new Response('', { status: 302 });
		nudges.push(Date.now());
		const sent = JSON.parse(body as string) as IDataObject;
		const given = Object.fromEntries(new Headers(headers));
		const { status, answer: said } = await n8n.deliver(sent, given, nudgesTo);
		return Response.json(said, { status });
	};
	jest
		.spyOn(globalThis, 'fetch')
		.mockImplementation(async (url, init = {}) => await aliveOnly(fetch(url as string, init)));
	void n8n.run();
	const callBack = async (taskId: string, process = 0) => await n8n.callBack(taskId, process);
	await pass(0);
	await meanwhile?.({ n8n, ended, callBack });
	while (n8n.status === 'running') await pass(100);
	expect(n8n.status).toBe('waiting');
	return { n8n, ended, callBack, nudges, sleptAt: Date.now() };
}

type Begun = Awaited<ReturnType<typeof begin>>;

const completed = (...taskIds: string[]) =>
	taskIds.map((taskId) => ({ json: { taskId, status: 'completed' } }));

it('a callback that comes before n8n has stored the sleep is made up for by the first nudge', async () => {
	const { n8n, nudges, sleptAt } = await begin({
		limit: HOUR,
		latency: 2 * SECOND,
		async meanwhile({ ended, callBack }) {
			ended.add('task-0');
			expect((await callBack('task-0')).status).toBe(409);
		},
	});
	await pass(FIRST_NUDGE + MINUTE);
	expect(n8n.ended).toMatchObject([{ items: completed('task-0') }]);
	expect(nudges).toHaveLength(1);
	expect(Number(nudges[0]) - sleptAt).toBeLessThanOrEqual(FIRST_NUDGE);
	expect(n8n.log.join()).toContain('no callback came');
});

it('nudges come ever less often', async () => {
	jest.spyOn(Math, 'random').mockReturnValue(0.5);
	const { nudges, sleptAt } = await begin({ limit: 2 * HOUR });
	await pass(2 * HOUR - MINUTE);
	const pauses = nudges.map((at, index) => at - (nudges[index - 1] ?? sleptAt));
	const rounded = pauses.map((length) => Math.round(length / SECOND));
	expect(rounded.length).toBeGreaterThan(6);
	const { first, growth, longest } = PAUSES_ASLEEP;
	const grown = rounded.map((_, index) => Math.min(first * growth ** index, longest) / SECOND);
	expect(rounded).toEqual(grown);
});

it('a nudge opens no further nudging in the process that takes it', async () => {
	const { n8n, nudges } = await begin({ limit: 3 * HOUR, nudgesTo: 1 });
	await pass(HOUR);
	const { length } = nudges;
	expect(length).toBeGreaterThan(1);
	n8n.kill(0);
	await pass(HOUR);
	expect(nudges).toHaveLength(length);
});

it('a callback that comes after a restart does', async () => {
	const { n8n, ended, callBack, nudges } = await begin({
		steps: [{ node: 'Film', count: 2 }],
		limit: 3 * HOUR,
	});
	n8n.kill(0);
	await pass(HOUR);
	expect(nudges).toEqual([]);
	ended.add('task-0');
	const sent = callBack('task-0');
	await pass(SECOND);
	expect((await sent).answer).toEqual({ accepted: true, resumed: false });
	// Its callback gets lost.
	ended.add('task-1');
	await pass(FIRST_NUDGE + MINUTE);
	expect(n8n.ended).toMatchObject([{ items: completed('task-0', 'task-1') }]);
});

it('nobody is woken twice: copies of a callback, and nudges, while n8n waits for a slot', async () => {
	const { n8n, ended, callBack, nudges } = await begin({
		// What wakes the first node once more ends the wait of the next one.
		steps: [film, { node: 'Wait', count: 1 }],
		limit: HOUR,
		slotWait: 2 * FIRST_NUDGE,
	});
	ended.add('task-0');
	const first = callBack('task-0');
	await pass(SECOND);
	const second = callBack('task-0');
	await pass(SECOND);
	expect((await second).answer).toEqual({ accepted: true, resumed: false });
	await pass(2 * FIRST_NUDGE + MINUTE);
	expect((await first).answer).toEqual({ accepted: true, resumed: true });
	expect(n8n.ended).toMatchObject([{ items: completed('task-0') }, {}]);
	expect([n8n.overwritten, nudges]).toEqual([0, []]);
});

it('a callback in the last second before the limit brings its task, also where the service is slow', async () => {
	const { n8n, ended, callBack } = await begin({ latency: 2 * SECOND });
	await pass(MINUTE - 700);
	ended.add('task-0');
	const sent = callBack('task-0');
	await pass(30 * SECOND);
	expect((await sent).status).toBe(200);
	expect(n8n.ended).toMatchObject([{ items: completed('task-0') }]);
});

it('two processes with two clocks take the callbacks of each sleep', async () => {
	const { n8n, ended, callBack } = await begin({ steps: [film, film] });
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
	expect(n8n.ended[1]?.items).toMatchObject(completed('task-1'));
});

describe('a credential whose key is changed while the execution sleeps', () => {
	const { webhookSecret } = CREDENTIALS;
	afterEach(() => void Object.assign(CREDENTIALS, { webhookSecret }));

	it.each([
		['added', ''],
		['replaced', 'the key of before'],
	])('is no obstacle for a nudge: it is %s', async (_, before) => {
		CREDENTIALS.webhookSecret = before;
		const { n8n, ended } = await begin({ limit: HOUR });
		CREDENTIALS.webhookSecret = webhookSecret;
		ended.add('task-0');
		await pass(FIRST_NUDGE + MINUTE);
		expect(n8n.status).toBe('done');
		expect(n8n.ended).toMatchObject([{ items: completed('task-0') }]);
		expect(n8n.log.join()).not.toContain('signature');
	});
});

describe('a sleep that a webhook has handed to n8n', () => {
	const tools = { url: '', taskIds: [], logger: { info() {}, warn() {} }, name: '' };

	it.each<[string, Partial<HeldResponse>, SleepState['is']]>([
		['has not answered yet', {}, 'delivering'],
		['has stored that it goes on', { writableEnded: true }, 'over'],
		['could not store that', { writableEnded: true, statusCode: 500 }, 'waiting'],
		['has found it running', { writableEnded: true, statusCode: 409 }, 'waiting'],
	])('where n8n %s by its answer %j, is %s', (_, answered, is) => {
		const nap = new Nap(1, { ...tools, until: 0, lastWake: 0 });
		const response = { writableEnded: false, statusCode: 200 };
		const another = { ...response };
		expect(nap.beginDelivery(response)).toBe(true);
		expect(nap.beginDelivery(another)).toBe(false);
		Object.assign(response, answered);
		expect(nap.getState()).toBe(is);
		expect(nap.beginDelivery(another)).toBe(is === 'waiting');
	});

	it('that is over stays so', () => {
		const nap = new Nap(1, { ...tools, until: 0, lastWake: 0 });
		nap.end();
		expect(nap.beginDelivery({ writableEnded: false, statusCode: 200 })).toBe(false);
	});
});
