import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { storeItems } from '../../../nodes/MediaGeneration/host/sleep';
import {
	beginLedger,
	readLedger,
	storeLedger,
	type Ledger,
} from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { wakeExecution } from '../../../nodes/MediaGeneration/run/sleep/wake';
import { planAsleep, planLastWake } from '../../../nodes/MediaGeneration/run/timetable';
import { buildContext, buildDetails, sendCallback, WAIT, type Callback } from '../n8n';

jest.mock('../../../nodes/MediaGeneration/lib/timers', () => ({
	...jest.requireActual<object>('../../../nodes/MediaGeneration/lib/timers'),
	runAfter: (milliseconds: number, run: () => void) => setTimeout(run, milliseconds),
}));

const SECOND = 1_000;
const LIMIT = 60 * SECOND;
const HOUR = 3_600 * SECOND;
/** Until when webhooks wake a run, after its limit. */
const LAST_WAKE = planLastWake(planAsleep(0, Infinity));
const RESUME_URL = 'https://n8n.example/webhook-waiting/7';
const pass = jest.advanceTimersByTimeAsync;

/** The requests that are sent without n8n's helpers. None is answered. */
let fetched: jest.SpyInstance<unknown, [URL | RequestInfo, RequestInit?]>;
beforeEach(() => {
	jest.useFakeTimers({ now: 1e12 });
	fetched = jest.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed'));
});
afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

/** The URLs of the nudges so far. */
const listNudges = () =>
	fetched.mock.calls.map(([url]) => url as string).filter((url) => url.startsWith(RESUME_URL));

/** Lists the tasks that have ended, in what n8n stores for the node. */
const listEnded = ({ entries }: Ledger) =>
	entries.flatMap(({ attempts }) => attempts.flatMap(({ end }) => end?.taskId ?? []));

let executions = 0;

/** An execution that sleeps for two tasks, by default for a minute. It has a third item. */
function newExecution({ limit = LIMIT, more = [] as string[] } = {}) {
	const id = `${executions++}`;
	const [one, two] = [`${id}-one`, `${id}-two`];
	const input = [0, 1, 2].map((item): INodeExecutionData => ({ json: { item } }));
	const stack = { main: [input] };
	storeItems(buildContext({}, { getExecuteData: () => ({ data: stack }) }), []);
	const kept: IDataObject = {};
	const ledger = beginLedger({
		entries: [one, two, ...more].map((taskId) => ({ attempts: [{ taskId }] })),
		settings: { ...WAIT, limit, downloads: { field: 'data', maxBytes: null } },
	});
	storeLedger(kept, ledger);
	/** Begins a sleep. n8n stores what the node keeps. */
	const sleep = () => {
		ledger.begun = Date.now();
		const { end } = planAsleep(ledger.begun + limit, Infinity);
		ledger.sleep = { number: ++ledger.sleeps, end, errors: {} };
		return structuredClone(kept);
	};
	const world = { kept: sleep(), details: 0, down: [] as string[] };
	const log: string[] = [];
	const ended = new Set<string>();
	const asked: string[] = [];
	const httpRequest = jest.fn();
	const note = (line: string) => void log.push(line);
	async function readDetails(taskId: string) {
		asked.push(taskId);
		if (world.details) await new Promise((resolve) => setTimeout(resolve, world.details));
		if (world.down.includes(taskId))
			return { statusCode: 200, body: JSON.stringify({ code: 500, msg: `fault of ${taskId}` }) };
		const resultJson = { resultUrls: [`https://files.example/${taskId}`] };
		const param = { input: { prompt: `prompt of ${taskId}` } };
		return buildDetails(taskId, ended.has(taskId) ? 'success' : 'generating', {
			resultJson,
			param,
		});
	}
	/** Brings a callback. n8n reads the execution from its database for each. */
	async function send(taskId: string, callback: Partial<Callback> = {}) {
		const node = { id: 'node', name: 'Node', type: 'mediaGeneration', executeOnce: true };
		const stored = structuredClone(world.kept);
		const entry = { node: { ...node, disabled: true }, data: structuredClone(stack) };
		const executionData = { contextData: { 'node:Node': stored }, nodeExecutionStack: [entry] };
		const sent = await sendCallback(wakeExecution, {
			taskId,
			readDetails,
			helpers: { httpRequest },
			...callback,
			more: {
				getNode: () => ({ ...node, id: `node-${id}` }),
				getExecutionId: () => id,
				evaluateExpression: () => `${RESUME_URL}?signature=key`,
				runExecutionData: { executionData },
				logger: { info: note, warn: note, error: note },
				...callback.more,
			} as Callback['more'],
		});
		const after = readLedger(stored) as Ledger;
		const isEnabled = !entry.node.disabled;
		return { ...sent, known: listEnded(after), isEnabled };
	}
	return { one, two, input, ended, asked, log, world, sleep, send, httpRequest };
}

type Execution = ReturnType<typeof newExecution>;
type Act = (execution: Execution) => void | Promise<unknown>;

const endBoth: Act = ({ ended, one, two }) => void ended.add(one).add(two);
const endOne: Act = ({ ended, one }) => void ended.add(one);
const breakDown: Act = ({ world, one, two }) => void world.down.push(one, two);
const awake: Act = ({ world: { kept } }) => void delete readLedger(kept)?.sleep;
const progress = { data: { callbackType: 'text' } };
const nudge = { data: { callbackType: 'nudge' } };
const unreadable = {
	more: { getCredentials: async () => await Promise.reject(new Error('no database')) },
};
const refusal = (reason: string) => ({ accepted: false, reason });
const ACCEPTED = { accepted: true, resumed: false };
/** The execution sleeps on, and n8n stores nothing. */
const ASLEEP = { output: undefined, isEnabled: false };
const TOO_LATE = { status: 410, answer: refusal('limitPassed'), ...ASLEEP };

it.each<[string, Act, Partial<Callback>, number, object]>([
	['progress', endBoth, progress, 200, ACCEPTED],
	['a wrong signature', endBoth, { secret: 'wrong' }, 401, refusal('signatureWrong')],
	['a task of another run', endBoth, { taskId: 'other' }, 404, refusal('taskNotInExecution')],
	['a task of a run that is awake', awake, {}, 404, refusal('taskNotInExecution')],
	['a task that goes on', () => {}, {}, 503, refusal('taskNotEnded')],
	['a nudge for a task that goes on', () => {}, nudge, 200, ACCEPTED],
	["a stranger's nudge", () => {}, { ...nudge, headers: {} }, 200, ACCEPTED],
	[
		"a stranger's nudge for a task of another run",
		endBoth,
		{ ...nudge, headers: {}, data: { ...nudge.data, task_id: 'other' } },
		404,
		refusal('taskNotInExecution'),
	],
	['a task before the other one', endOne, {}, 200, ACCEPTED],
	['a service that is down', breakDown, {}, 503, refusal('detailsUnavailable')],
	['a nudge and a service that is down', breakDown, nudge, 200, ACCEPTED],
	['an unreadable credential', endBoth, unreadable, 503, refusal('detailsUnavailable')],
	['a nudge and an unreadable credential', endBoth, { ...nudge, ...unreadable }, 200, ACCEPTED],
])('a callback with %s wakes nothing', async (_, prepare, callback, status, answer) => {
	const execution = newExecution();
	await prepare(execution);
	const sent = await execution.send(execution.one, callback);
	expect(sent).toMatchObject({ status, answer, ...ASLEEP });
});

it('the last callback has n8n run the node, with its input and what is known, and downloads nothing', async () => {
	const execution = newExecution();
	const { one, two, input, asked, send } = execution;
	await endBoth(execution);
	const { store, ...sent } = await send(two);
	expect(sent).toMatchObject({ output: input, known: [one, two], isEnabled: true });
	expect(asked).toEqual([two, one]);
	expect(execution.httpRequest).not.toHaveBeenCalled();
	expect(store()).toEqual({ accepted: true, resumed: true });
	// A copy that n8n let through before it stored that.
	expect(await send(two)).toMatchObject({ answer: ACCEPTED, ...ASLEEP });
});

it('what one callback has seen end is not asked for by the next one, and is stored with the last', async () => {
	const execution = newExecution();
	const { one, two, asked, ended, send } = execution;
	await endOne(execution);
	expect(await send(one)).toMatchObject({ answer: ACCEPTED });
	ended.add(two);
	expect(await send(two)).toMatchObject({ known: [one, two], isEnabled: true });
	expect(asked).toEqual([one, two, two]);
});

describe('a refusal because the details are unavailable', () => {
	it('has its cause in the log', async () => {
		const execution = newExecution();
		await breakDown(execution);
		const answer = refusal('detailsUnavailable');
		expect(await execution.send(execution.one)).toMatchObject({ status: 503, answer });
		const [refused = '', ...others] = execution.log.filter((line) => line.includes('refused'));
		expect(refused).toMatch(new RegExp(`detailsUnavailable; .*fault of ${execution.one}`));
		expect(others).toEqual([]);
	});

	it('is not for the failed look at another task, which is in no line of it', async () => {
		const { one, two, asked, world, ended, log, send } = newExecution();
		world.down.push(two);
		ended.add(one);
		expect(await send(one)).toMatchObject({ status: 200, answer: ACCEPTED, ...ASLEEP });
		expect(asked).toEqual([one, two]);
		expect(log).toEqual([]);
	});
});

it.each<[string, (sent: Awaited<ReturnType<Execution['send']>>) => unknown, boolean]>([
	['works on it, for hours', () => {}, false],
	['works on it, though its sender has hung up', (sent) => void sent.hangUp(), false],
	['has stored it', (sent) => sent.store(), false],
	['could not store it', (sent) => sent.fail(500), true],
	['has found the execution running', (sent) => sent.fail(409), true],
])('after a callback that wakes, where n8n %s, the next one wakes: %s', async (_, end, wakes) => {
	const execution = newExecution({ limit: 9 * HOUR });
	await endBoth(execution);
	const first = await execution.send(execution.one);
	expect(first.isEnabled).toBe(true);
	await end(first);
	if (!wakes) await pass(8 * HOUR);
	const next = await execution.send(execution.one);
	if (!wakes) expect(next).toMatchObject({ status: 200, answer: ACCEPTED, ...ASLEEP });
	else expect(next).toMatchObject({ output: execution.input, isEnabled: true });
	// Nor does a nudge of our own have n8n work on it once more.
	if (!wakes) expect(listNudges()).toEqual([]);
});

it('nudges rest while n8n works on it, and go on once n8n could not store it', async () => {
	const execution = newExecution({ limit: 9 * HOUR });
	await endBoth(execution);
	const sent = await execution.send(execution.one);
	sent.hangUp();
	await pass(HOUR);
	expect(listNudges()).toEqual([]);
	sent.fail();
	await pass(3 * HOUR);
	expect(listNudges()).not.toEqual([]);
});

it('a callback that still looks when another one has woken the execution wakes nothing', async () => {
	const execution = newExecution();
	execution.world.details = HOUR;
	await pass(LIMIT - 3 * SECOND);
	const slow = execution.send(execution.one);
	await pass(2.5 * SECOND);
	const next = await execution.send(execution.two);
	expect(next.isEnabled).toBe(true);
	next.store();
	await pass(5 * SECOND);
	expect(await slow).toMatchObject({ status: 200, answer: ACCEPTED, ...ASLEEP });
});

it('from a second before the limit on, the execution wakes with what is known, and nothing is asked', async () => {
	const execution = newExecution();
	await endOne(execution);
	await execution.send(execution.one);
	await endBoth(execution);
	await pass(LIMIT - SECOND);
	execution.asked.length = 0;
	const sent = await execution.send(execution.two, nudge);
	const known = [execution.one];
	expect(sent).toMatchObject({ output: execution.input, known, isEnabled: true });
	expect(execution.asked).toEqual([]);
});

it('at the limit, a nudge wakes it though the credential is gone', async () => {
	const execution = newExecution();
	await pass(LIMIT);
	const sent = await execution.send(execution.one, { ...nudge, ...unreadable });
	expect(sent).toMatchObject({ output: execution.input, isEnabled: true });
});

it('at the limit, it wakes though the service has not answered yet', async () => {
	const execution = newExecution();
	execution.world.details = HOUR;
	await pass(LIMIT - 3 * SECOND);
	const sent = execution.send(execution.one);
	await pass(5 * SECOND);
	expect(await sent).toMatchObject({ output: execution.input, known: [], isEnabled: true });
});

it.each<[string, number, boolean, object]>([
	['just before', LAST_WAKE - 1, true, { isEnabled: true }],
	['just before, which this process did not know', LAST_WAKE - 1, false, { isEnabled: true }],
	['at', LAST_WAKE, true, TOO_LATE],
	['at, which this process did not know', LAST_WAKE, false, TOO_LATE],
])('what a callback does %s the last moment to wake', async (_, late, isKnown, expected) => {
	const { send, one } = newExecution();
	if (isKnown) await send(one);
	await pass(LIMIT + late);
	expect(await send(one)).toMatchObject(expected);
});

it('a callback does not wake where that moment passes while it looks', async () => {
	const execution = newExecution();
	const { send, one, world } = execution;
	await endBoth(execution);
	world.details = 2 * SECOND;
	const sent = send(one);
	await pass(SECOND);
	// The process stands still.
	jest.setSystemTime(Date.now() + LIMIT + LAST_WAKE);
	await pass(4 * SECOND);
	expect(await sent).toMatchObject(TOO_LATE);
});

it.each<[string, Act, string[]]>([
	['all have ended', endBoth, [`${RESUME_URL}/media-generation?signature=key`]],
	['one goes on', endOne, []],
])(
	'who waits for 5 seconds is sent away and wakes nothing; a nudge does if, by the answer, %s',
	async (_, end, nudges) => {
		const execution = newExecution();
		await end(execution);
		execution.world.details = 6 * SECOND;
		let isAnswered = false;
		const sent = execution.send(execution.one);
		void sent.then(() => (isAnswered = true));
		await pass(5 * SECOND - 1);
		expect(isAnswered).toBe(false);
		await pass(1);
		const answer = refusal('detailsUnavailable');
		expect(await sent).toMatchObject({ status: 503, answer, ...ASLEEP });
		expect(listNudges()).toEqual([]);
		await pass(8 * SECOND);
		expect(listNudges()).toEqual(nudges);
		expect(execution.asked).toEqual([execution.one, execution.two]);
	},
);

describe('where the run sleeps again, as this process knows,', () => {
	/** Wakes the first sleep, and sleeps again. */
	async function sleepAgain() {
		const execution = newExecution();
		const { world, one } = execution;
		const before = world.kept;
		await endOne(execution);
		await execution.send(one);
		await pass(LIMIT - 10 * SECOND);
		world.kept = execution.sleep();
		execution.ended.clear();
		await execution.send(one);
		execution.asked.length = 0;
		return { ...execution, before };
	}

	it('a callback of now asks anew, and the nudges of then have ended', async () => {
		const { send, asked, one } = await sleepAgain();
		expect(await send(one)).toMatchObject({ answer: refusal('taskNotEnded') });
		expect(asked).toEqual([one]);
		fetched.mockClear();
		await pass(20 * SECOND);
		expect(listNudges()).toEqual([]);
		await pass(LIMIT);
		expect(listNudges().length).toBeGreaterThan(0);
	});

	it('one that n8n has read before changes nothing', async () => {
		const execution = await sleepAgain();
		const { send, asked, one, world, before } = execution;
		await endBoth(execution);
		const now = world.kept;
		world.kept = before;
		expect(await send(one)).toMatchObject({ status: 200, answer: ACCEPTED, ...ASLEEP });
		expect(asked).toEqual([]);
		world.kept = now;
		expect(await send(one)).toMatchObject({ isEnabled: true });
	});
});

it('asks for many tasks at once only if the next one has ended', async () => {
	const more = Array.from({ length: 100 }, (_, index) => `many-${index}`);
	const { one, two, asked, ended, send } = newExecution({ more });
	ended.add('many-99');
	await send('many-99');
	expect(asked).toEqual(['many-99', one]);
	for (const taskId of [one, two, ...more]) ended.add(taskId);
	expect((await send('many-5')).known).toHaveLength(102);
});
