import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import { newTask, type Task } from '../../../../nodes/MediaGeneration/api/task';
import { Looker } from '../../../../nodes/MediaGeneration/run/look';
import { planWait, waitAwake } from '../../../../nodes/MediaGeneration/run/watch';
import { buildContext } from '../../n8n';
import { fail } from '../../fail.ts';

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
	if (taskId === 'busy') throw fail('rate', { code: 429, certain: true });
	if (taskId === '45' && Date.now() < 45_000) throw fail('unknownTask');
	if (taskId.startsWith('hanging')) await new Promise((resolve) => setTimeout(resolve, 3_600_000));
	const hasEnded = Date.now() >= Number(taskId) * 1000;
	return { taskId, status: hasEnded ? 'completed' : 'pending' };
}

/** Polls for these tasks; returns how they ended, and when the wait was over. */
async function poll(
	taskIds: string[],
	until: number,
	{ stopped, deadline }: { stopped?: AbortSignal; deadline?: number } = {},
) {
	const hints: string[] = [];
	const context = buildContext(
		{ signal: stopped },
		{
			getWorkflowSettings: () => ({}),
			addExecutionHints: ({ message }: { message: string }) => hints.push(message),
		},
	);
	Object.assign(context, { additionalData: { executionTimeoutTimestamp: deadline } });
	const service = { getTask } as unknown as TaskService;
	const works = taskIds.map((taskId, index) => ({
		index,
		getService: async () => service,
		task: newTask(taskId, 'model'),
	}));
	const looker = new Looker({ limit: 0, timeoutSeconds: 60, failedTasks: 'output' });
	looker.known.setTasks(works.map(({ task }) => task));
	let endedAt: number | undefined;
	const wait = waitAwake(context, works, {
		looker,
		times: planWait(context, until),
	});
	void wait.then(() => (endedAt = Date.now()));
	await jest.advanceTimersByTimeAsync(Math.max(until, 0) + 60_000);
	const output = (await wait) as Array<{ items: [{ json: Task }] }>;
	return { statuses: output.map(({ items: [{ json }] }) => json.status), endedAt, hints };
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
	expect(Math.min(...pauses().slice(1, -1))).toBeGreaterThan(20_000);
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

it.each([true, false])(
	'asks for nothing once the execution is stopped, before the wait: %s',
	async (before) => {
		const controller = new AbortController();
		if (before) controller.abort();
		const polled = poll(['1000'], 600_000, { stopped: controller.signal });
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
