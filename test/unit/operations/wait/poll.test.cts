import { newTask, type Task } from '../../nodes/MediaGeneration/api/task';
import { Batch } from '../../nodes/MediaGeneration/operations/wait/batch';
import { pollUntilEnded } from '../../nodes/MediaGeneration/operations/wait/poll';

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

/** The times of the requests. */
let asked: number[];
beforeEach(() => (asked = []));

/** Task N ends after N seconds; one named "broken" can't be read, and "hanging" is not answered within an hour. */
async function ask(taskId: string): Promise<Task> {
	asked.push(Date.now());
	if (taskId === 'broken') throw new Error('The service had an internal fault');
	if (taskId.startsWith('hanging')) await new Promise((resolve) => setTimeout(resolve, 3_600_000));
	const hasEnded = Date.now() >= Number(taskId) * 1000;
	return { taskId, status: hasEnded ? 'completed' : 'pending' };
}

/** Polls for these tasks; returns their output, and when the wait was over. */
async function poll(
	taskIds: string[],
	until: number,
	{ stopped, endBy = Infinity }: { stopped?: AbortSignal; endBy?: number } = {},
) {
	const batch = new Batch(
		taskIds.map((taskId) => newTask(taskId, 'model')),
		false,
	);
	let endedAt: number | undefined;
	const settings = { timeoutSeconds: 60 };
	const wait = pollUntilEnded(batch, { ask, settings, concurrency: 5, until, endBy, stopped });
	void wait.then(() => (endedAt = Date.now()));
	await jest.advanceTimersByTimeAsync(Math.max(until, 0) + 60_000);
	const output = taskIds.map(
		(taskId) => batch.toOutput(taskId)[0]?.json as Task & { lookError?: string },
	);
	return { output, statuses: output.map(({ status }) => status), endedAt };
}

it('asks after 2 seconds first, then ever less often, at most every 30 seconds', async () => {
	expect((await poll(['1000'], 300_000)).statuses).toEqual(['timedOut']);
	const pauses = asked.map((at, index) => at - (asked[index - 1] ?? 0));
	expect(pauses[0]).toBeGreaterThanOrEqual(1_500);
	expect(pauses[0]).toBeLessThanOrEqual(2_500);
	expect(Math.max(...pauses)).toBeLessThanOrEqual(37_500);
	expect(Math.max(...pauses)).toBeGreaterThan(20_000);
	expect(asked.length).toBeLessThan(25);
});

it('does not ask for tasks that have ended, and ends with the last', async () => {
	const { statuses, endedAt } = await poll(['1', '40'], 600_000);
	expect(statuses).toEqual(['completed', 'completed']);
	expect(endedAt).toBeLessThan(90_000);
	expect(asked.filter((at) => at > 10_000).length).toBeLessThan(6);
});

it('waits beside a task that is not readable, and says why in the end', async () => {
	const { output } = await poll(['broken', '1'], 60_000);
	expect(output).toMatchObject([
		{ status: 'timedOut', lookError: 'The service had an internal fault' },
		{ status: 'completed' },
	]);
});

it.each([
	['56.9', 60_000, 'completed'],
	['57.1', 60_000, 'timedOut'],
	['2.3', 3_000, 'completed'],
	['2.5', 3_000, 'timedOut'],
])(
	'asks a little before the limit: a task that ends at %s s of %d ms is %s',
	async (id, until, status) => {
		expect((await poll([id], until)).statuses).toEqual([status]);
	},
);

it('ends soon after the limit though 40 tasks do not answer', async () => {
	const hanging = Array.from({ length: 40 }, (_, index) => `hanging-${index}`);
	const { output, statuses, endedAt } = await poll([...hanging, '1'], 3_000);
	expect(statuses).toEqual(Array.from({ length: 41 }, () => 'timedOut'));
	expect(output.filter(({ lookError }) => lookError?.includes('not answered'))).toHaveLength(5);
	expect(endedAt).toBeLessThanOrEqual(4_500);
	expect(asked).toHaveLength(5);
});

it('asks all the same when the limit has passed before', async () => {
	const { statuses, endedAt } = await poll(['0', '1000'], -60_000);
	expect(statuses).toEqual(['completed', 'timedOut']);
	expect(asked.length).toBeGreaterThanOrEqual(2);
	expect(endedAt).toBeLessThanOrEqual(7_500);
});

it('asks for nothing once the execution is stopped', async () => {
	const controller = new AbortController();
	const polled = poll(['1000'], 600_000, { stopped: controller.signal });
	controller.abort();
	expect((await polled).statuses).toEqual(['timedOut']);
	expect(asked).toEqual([]);
});

it.each([
	['2', 25_000, 'completed'],
	['1000', 25_000, 'timedOut'],
	['1.8', 3_000, 'completed'],
	['hanging', 3_000, 'timedOut'],
])(
	"ends by n8n's time-out, with a look before it: a task that ends at %s s, %d ms before the time-out, is %s",
	async (id, endBy, status) => {
		const { statuses, endedAt } = await poll([id], 600_000, { endBy });
		expect(statuses).toEqual([status]);
		expect(endedAt).toBeLessThanOrEqual(endBy);
		expect(asked.at(-1)).toBeGreaterThanOrEqual(status === 'timedOut' ? endBy - 5_000 : 0);
	},
);

it.each([
	[600_000, 0],
	[-60_000, 1_000],
])('ends by it also with the limit at %d ms, and %d ms left', async (until, endBy) => {
	const { statuses, endedAt } = await poll(['1000'], until, { endBy });
	expect(statuses).toEqual(['timedOut']);
	expect(endedAt).toBeLessThanOrEqual(endBy + 1);
	expect(asked).toHaveLength(endBy > 0 ? 1 : 0);
});
