import type { Task } from '../../../nodes/MediaGeneration/api/task';
import type {
	Attempt,
	Entry,
	WaitSettings,
} from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { makeOutcomes } from '../../../nodes/MediaGeneration/run/output/output';
import { watch } from '../../../nodes/MediaGeneration/run/watch';
import { fail } from '../fail.ts';
import { buildFileHelpers, type Served } from './fileHost.cts';
import { buildEntry, buildWaiting } from './waitingRun';

/** The times of the requests. */
let asked: number[];
beforeEach(() => {
	jest.useFakeTimers({ now: 0 });
	asked = [];
});
afterEach(() => jest.useRealTimers());

/** Task N ends after N seconds; the others are as they are named. */
async function getTask(taskId: string): Promise<Task> {
	asked.push(Date.now());
	if (taskId === 'busy') throw fail('rate');
	if (taskId === 'refused' && Date.now() < 3_000) throw fail('rate');
	if (taskId === 'refused') return { taskId, status: 'completed' };
	if (taskId === '45' && Date.now() < 45_000) throw fail('unknownTask');
	if (taskId.startsWith('hanging')) await new Promise((resolve) => setTimeout(resolve, 3_600_000));
	const hasEnded = Date.now() >= Number(taskId) * 1000;
	return { taskId, status: hasEnded ? 'completed' : 'pending' };
}

const statusesOf = (run: ReturnType<typeof buildWaiting>) =>
	makeOutcomes(run).map((outcome) =>
		outcome && 'items' in outcome ? (outcome.items[0]?.json as Task).status : outcome,
	);

/** Waits for these tasks until the limit; returns how they ended, and when the wait was over. */
async function poll(
	taskIds: string[],
	limit: number,
	{ signal, deadline }: { signal?: AbortSignal; deadline?: number } = {},
) {
	const entries = taskIds.map((taskId) => buildEntry({ taskId }));
	const run = buildWaiting(entries, { settings: { limit }, begun: 0, getTask, signal, deadline });
	let endedAt: number | undefined;
	const waiting = watch(run).then(() => (endedAt = Date.now()));
	await jest.advanceTimersByTimeAsync(Math.max(limit, 0) + 60_000);
	await waiting;
	return { statuses: statusesOf(run), endedAt, hints: run.hints };
}

const pauses = () => asked.map((at, index) => at - (asked[index - 1] ?? 0));

it('a task that this run created is waited for, however long the service does not know it', async () => {
	const { statuses, endedAt } = await poll(['45'], 120_000);
	expect(statuses).toEqual(['completed']);
	expect(endedAt).toBeGreaterThan(45_000);
});

it('asks after 2 seconds first, then ever less often, at most every 30 seconds', async () => {
	expect((await poll(['1000'], 300_000)).statuses).toEqual(['timedOut']);
	const [first, ...next] = pauses();
	expect(first).toBeGreaterThanOrEqual(1_500);
	expect(first).toBeLessThanOrEqual(2_500);
	expect(Math.max(...next)).toBeLessThanOrEqual(37_500);
	expect(Math.max(...next)).toBeGreaterThan(20_000);
	expect(asked.length).toBeLessThan(25);
});

it('ends with the last task', async () => {
	const { statuses, endedAt } = await poll(['1', '40'], 600_000);
	expect(statuses).toEqual(['completed', 'completed']);
	expect(endedAt).toBeLessThan(90_000);
});

it('asks rarely while the service refuses requests for their rate', async () => {
	await poll(['busy'], 300_000);
	// At the end it has little time for another look.
	const last = asked.findIndex((at) => at >= 295_000);
	expect(Math.min(...pauses().slice(1, last))).toBeGreaterThan(20_000);
});

it.each([
	['54.9', 60_000, 'completed'],
	['55.1', 60_000, 'timedOut'],
	['2.3', 3_000, 'completed'],
	['2.5', 3_000, 'timedOut'],
])('asks a little before the limit: a task of %s s of %d ms is %s', async (id, until, status) => {
	expect((await poll([id], until)).statuses).toEqual([status]);
});

it('ends at the limit though 40 tasks do not answer', async () => {
	const hanging = Array.from({ length: 40 }, (_, index) => `hanging-${index}`);
	const { statuses, endedAt } = await poll([...hanging, '1'], 3_000);
	expect(statuses).toEqual(Array.from({ length: 41 }, () => 'timedOut'));
	expect(endedAt).toBe(3_000);
	expect(asked).toHaveLength(5);
});

it.each([
	['1000', -60_000, 0],
	['hanging', -60_000, 20_000],
	// A webhook wakes a run as early.
	['hanging', 1_000, 20_000],
])(
	'asks once, and at once, when the limit has passed before, beside a task of %s s of %d ms',
	async (id, until, endedAt) => {
		const polled = await poll(['0', id], until);
		expect(polled).toMatchObject({ statuses: ['completed', 'timedOut'], endedAt });
		expect(asked).toEqual([0, 0]);
	},
);

it('at its limit, asks again for a task whose look fails, and for no other', async () => {
	const { statuses, endedAt } = await poll(['refused', '1000'], -60_000);
	expect(statuses).toEqual(['completed', 'timedOut']);
	expect(endedAt).toBeLessThan(20_000);
	expect(asked.slice(0, 2)).toEqual([0, 0]);
	expect(asked.filter((at) => at < 3_000)).toHaveLength(3);
});

it.each([true, false])(
	'asks for nothing once the execution is stopped, before the wait: %s',
	async (before) => {
		const controller = new AbortController();
		if (before) controller.abort();
		const polled = poll(['1000'], 600_000, { signal: controller.signal });
		controller.abort();
		expect((await polled).statuses).toEqual(['timedOut']);
		expect(asked).toEqual([]);
	},
);

it.each([
	['2', 30_000, 600_000, 'completed'],
	['1000', 30_000, 600_000, 'timedOut'],
	['1.8', 4_000, 600_000, 'completed'],
	['hanging', 4_000, 600_000, 'timedOut'],
	['1000', 1_000, -60_000, 'timedOut'],
])(
	"before n8n's deadline, a task of %s s, %d ms before it, with the limit at %d, is %s, with a look and a hint",
	async (id, deadline, until, status) => {
		const { statuses, endedAt, hints } = await poll([id], until, { deadline });
		const early = deadline - Math.min(5_000, deadline / 5);
		expect(statuses).toEqual([status]);
		expect(endedAt).toBeLessThanOrEqual(early);
		const isLate = status === 'timedOut';
		expect(asked.at(-1)).toBeGreaterThanOrEqual(isLate ? early - 5_000 : 0);
		const told = hints.filter((hint) => hint.includes("before 'Limit Wait Time'"));
		expect(told).toHaveLength(isLate && until > deadline ? 1 : 0);
	},
);

it('ends at once with the deadline now', async () => {
	const { statuses, endedAt } = await poll(['1000'], 600_000, { deadline: 0 });
	expect(statuses).toEqual(['timedOut']);
	expect(endedAt).toBeLessThanOrEqual(1);
	expect(asked).toEqual([]);
});

it('asks for each task by the account of its item, and once where several items of an account have it', async () => {
	const by: Array<[taskId: string, item: number]> = [];
	const entries = ['a', 'b', 'a', 'a'].map((taskId, item) => ({
		...buildEntry({ taskId }),
		account: item === 3 ? 'other' : 'one',
	}));
	const run = buildWaiting(entries, {
		async getTask(taskId, item) {
			by.push([taskId, item]);
			return { taskId, status: 'completed' };
		},
	});
	const waiting = watch({ ...run, decision: { reason: 'because somebody waits' } });
	await jest.advanceTimersByTimeAsync(3_000);
	await waiting;
	expect(by).toEqual([
		['a', 2],
		['b', 1],
		['a', 3],
	]);
	expect(run.hints).toEqual(['The run stayed awake because somebody waits.']);
	expect(statusesOf(run)).toEqual(Array(4).fill('completed'));
});

it('waits for no task of an item that has an error', async () => {
	const run = buildWaiting(
		['1000', '1'].map((taskId) => buildEntry({ taskId })),
		{ getTask },
	);
	run.errors.set(0, new Error('no credential'));
	const waiting = watch(run);
	await jest.advanceTimersByTimeAsync(10_000);
	await waiting;
	expect(asked).toHaveLength(1);
});

it('a later try goes on to the same limit', async () => {
	const run = buildWaiting([buildEntry({ taskId: '1000' })], { getTask });
	const first = watch(run);
	await jest.advanceTimersByTimeAsync(60_000);
	await first;
	let isOver = false;
	void watch(run).then(() => (isOver = true));
	await jest.advanceTimersByTimeAsync(20_000);
	expect(isOver).toBe(true);
});

describe('files', () => {
	const downloads: WaitSettings['downloads'] = { field: 'data', maxBytes: null };
	const url = (taskId: string) => `https://files.example/${taskId}`;
	const completed = (taskId: string): Task => ({
		...{ taskId, status: 'completed', resultUrls: [url(taskId)] },
	});
	const file: Served = { headers: { 'content-type': 'image/png' }, chunks: [Buffer.from('file')] };

	interface Given {
		attempts: Attempt[];
		/** By default, one for each attempt. */
		entries?: Entry[];
		/** What the service says of each look, in turn; then that the task has completed. */
		says?: Array<Partial<Task>>;
		settings?: Partial<WaitSettings>;
		goesOn?: boolean;
		serve?: () => Served;
	}

	/** Builds a run that downloads the files of its tasks. */
	function build({ attempts, entries, says = [], settings, goesOn, serve = () => file }: Given) {
		const { helpers, asked: files } = buildFileHelpers(serve);
		const looked: string[] = [];
		const run = buildWaiting(entries ?? attempts.map(buildEntry), {
			settings: { downloads, ...settings },
			goesOn,
			async getTask(taskId) {
				looked.push(taskId);
				return { ...completed(taskId), ...says.shift() };
			},
			more: { helpers },
		});
		const wait = async () => {
			const waiting = watch(run);
			await jest.advanceTimersByTimeAsync(120_000);
			await waiting;
			return makeOutcomes(run);
		};
		return { run, wait, looked, files };
	}

	it('of completed tasks are downloaded, under a name of their prompt', async () => {
		const { run, wait } = build({ attempts: [{ taskId: 'a', end: completed('a') }] });
		const [entry] = run.ledger.entries;
		Object.assign(entry?.request ?? {}, { words: 'a-cat' });
		const data = { fileName: 'a-cat-ridqruyn.png', data: 'file' };
		expect(await wait()).toMatchObject([{ items: [{ json: completed('a'), binary: { data } }] }]);
	});

	it('are not downloaded twice in a later try, which asks for nothing that has ended', async () => {
		const { wait, looked, files } = build({
			attempts: [{ taskId: 'a' }, { taskId: 'b' }],
			says: [{}, ...Array.from({ length: 30 }, () => ({ status: 'pending' as const }))],
		});
		await wait();
		const { length } = looked;
		expect(looked.filter((taskId) => taskId === 'a')).toHaveLength(1);
		const [first] = await wait();
		expect(first).toMatchObject({ items: [{ binary: { data: { data: 'file' } } }] });
		expect(looked.slice(length)).not.toContain('a');
		expect(files.filter(({ url: asked }) => asked === url('a'))).toHaveLength(1);
	});

	it("are the run's alone: the next one in a loop downloads its own", async () => {
		const { run, wait, files } = build({ attempts: [{ taskId: 'a', end: completed('a') }] });
		await wait();
		run.ledger.run++;
		await wait();
		await wait();
		run.ledger.run--;
		await wait();
		expect(files).toHaveLength(3);
	});

	it('of an item for which two processes have created a task, are those of one', async () => {
		const attempts: Attempt[] = [{ taskId: 'a' }, { taskId: 'b' }];
		const entries: Entry[] = [{ attempts }];
		const { wait, files } = build({ attempts, entries, says: [{ status: 'failed' }] });
		expect(await wait()).toMatchObject([{ items: [{ json: completed('b'), binary: {} }] }]);
		expect(files.map((one) => one.url)).toEqual([url('b')]);
	});

	it('are not downloaded if nobody wishes for them', async () => {
		const settings = { downloads: undefined };
		const { wait, files } = build({ attempts: [{ taskId: 'a' }], settings });
		expect(await wait()).toMatchObject([{ items: [{ json: completed('a') }] }]);
		expect(files).toEqual([]);
	});

	it('that are refused are tried again: their host may not have them yet', async () => {
		const serve = () => ({ statusCode: 404 });
		const { wait, files } = build({ attempts: [{ taskId: 'a', elsewhere: true }], serve });
		const downloadError = expect.stringContaining('has expired or is refused') as string;
		expect(await wait()).toMatchObject([{ items: [{ json: { downloadError } }] }]);
		expect(files).toHaveLength(4);
	});

	it.each<[string, Partial<Given>, number]>([
		['ends with its error', { settings: { failedTasks: 'error' } }, 0],
		['continues', { settings: { failedTasks: 'error' }, goesOn: true }, 1],
		['outputs failed tasks', { settings: { failedTasks: 'output' } }, 1],
	])(
		'are downloaded beside a task without a result as far as the run %s',
		async (_, more, count) => {
			const ended: Attempt = { taskId: 'a', end: completed('a') };
			const failed: Attempt = { taskId: 'f', end: { taskId: 'f', status: 'failed' } };
			const beside = build({ attempts: [failed, ended], ...more });
			await beside.wait();
			expect(beside.files).toHaveLength(count);
			const says = Array.from({ length: 30 }, () => ({ status: 'pending' as const }));
			const besideOpen = build({ attempts: [{ taskId: 'o' }, ended], says, ...more });
			await besideOpen.wait();
			expect(besideOpen.files).toHaveLength(count);
		},
	);

	it('may take as long as Request Timeout says, which the run keeps', async () => {
		const { wait, files } = build({
			attempts: [{ taskId: 'a' }],
			settings: { timeoutSeconds: 300 },
		});
		await wait();
		expect(files.map(({ timeout }) => timeout)).toEqual([300_000]);
	});
});
