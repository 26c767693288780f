import { sleep } from 'n8n-workflow';
import { inParallel } from '../../nodes/MediaGeneration/operations/parallel';
import { Pace, REFUSAL_BUDGET } from '../../nodes/MediaGeneration/operations/task/pace';
import { pollUntilEnded } from '../../nodes/MediaGeneration/operations/task/wait';
import type { TaskService } from '../../nodes/MediaGeneration/service/client';
import { createdTaskOf, type Task } from '../../nodes/MediaGeneration/service/task';

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

/** When each of so many requests may start, in milliseconds. */
async function startsOf(pace: Pace, count: number): Promise<number[]> {
	const starts: number[] = [];
	const all = (async () => {
		for (let request = 0; request < count; request++) {
			await pace.turn();
			starts.push(Date.now());
		}
	})();
	await jest.advanceTimersByTimeAsync(120_000);
	await all;
	return starts;
}

describe('Pace', () => {
	it('lets no more start in any ten seconds than it is set to', async () => {
		const starts = await startsOf(new Pace(18), 60);
		for (const [index, start] of starts.entries())
			if (index >= 18) expect(start - (starts[index - 18] ?? 0)).toBeGreaterThanOrEqual(10_000);
		expect(starts.at(-1)).toBe(30_000);
	});

	it('lets all start at once when there is no limit', async () => {
		expect(new Set(await startsOf(new Pace(0), 1000))).toEqual(new Set([0]));
	});

	it('holds all back after a refusal, longer each time, until the budget is used up', async () => {
		const pace = new Pace(0);
		const pauses: number[] = [];
		let last = 0;
		while (pace.refused()) {
			const [start = 0] = await nextStart(pace);
			pauses.push(start - last);
			last = start;
		}
		expect(pauses[0]).toBeGreaterThanOrEqual(2_000);
		expect(pauses[0]).toBeLessThanOrEqual(2_500);
		expect(pauses[1]).toBeGreaterThanOrEqual(3_000);
		expect(Math.max(...pauses)).toBeLessThanOrEqual(12_600);
		expect(last).toBeLessThanOrEqual(REFUSAL_BUDGET + 12_600);
		expect(last).toBeGreaterThan(REFUSAL_BUDGET / 2);
	});

	it('counts refusals that come together as one', async () => {
		const pace = new Pace(0);
		expect([pace.refused(), pace.refused(), pace.refused()]).toEqual([true, true, true]);
		const [start = 0] = await nextStart(pace);
		expect(start).toBeLessThanOrEqual(2_500);
	});

	it('has its whole budget again once a request has passed', async () => {
		const pace = new Pace(0);
		while (pace.refused()) await nextStart(pace);
		pace.passed();
		expect(pace.refused()).toBe(true);
	});
});

/** When the next request may start; time goes on no further than that. */
async function nextStart(pace: Pace): Promise<number[]> {
	let start: number | undefined;
	void pace.turn().then(() => (start = Date.now()));
	while (start === undefined) await jest.advanceTimersByTimeAsync(50);
	return [start];
}

describe('inParallel', () => {
	it('runs so many at once, and keeps the order', async () => {
		let running = 0;
		let most = 0;
		const run = async (entry: number) => {
			most = Math.max(most, ++running);
			await sleep(1);
			running--;
			return entry * 2;
		};
		jest.useRealTimers();
		const entries = Array.from({ length: 20 }, (_, index) => index);
		expect(await inParallel(entries, run, { atOnce: 3 })).toEqual(
			entries.map((entry) => entry * 2),
		);
		expect(most).toBe(3);
	});

	it('begins nothing more after a result that ends it', async () => {
		const run = async (entry: number) => entry;
		const results = await inParallel([1, 2, 3, 4], run, {
			atOnce: 1,
			goesOn: (result) => result !== 2,
		});
		expect(results).toEqual([1, 2, undefined, undefined]);
	});
});

describe('pollUntilEnded', () => {
	/** A service on which task N ends after N seconds. */
	const looks: number[] = [];
	const service = {
		async getTask(taskId: string): Promise<Task> {
			looks.push(Date.now());
			if (taskId === 'broken') throw new Error('503');
			const ended = Date.now() >= Number(taskId) * 1000;
			return { taskId, status: ended ? 'completed' : 'pending' };
		},
	} as unknown as TaskService;

	const poll = async (ids: string[], limit: number, signal?: AbortSignal) => {
		looks.length = 0;
		const tasks = ids.map((id) => createdTaskOf(id, 'model'));
		const ended = pollUntilEnded(tasks, service, {
			limit,
			settings: { timeoutSeconds: 1 },
			signal,
		});
		await jest.advanceTimersByTimeAsync(limit + 1_000);
		return (await ended).map(({ status }) => status);
	};

	it('looks after 2 seconds first, then ever less often, at most every 30', async () => {
		expect(await poll(['1000'], 300_000)).toEqual(['timedOut']);
		const pauses = looks.map((look, index) => look - (looks[index - 1] ?? 0));
		expect(pauses[0]).toBeGreaterThanOrEqual(1_500);
		expect(pauses[0]).toBeLessThanOrEqual(2_500);
		expect(Math.max(...pauses)).toBeLessThanOrEqual(37_500);
		expect(Math.max(...pauses)).toBeGreaterThan(20_000);
		expect(looks.length).toBeLessThan(25);
	});

	it('asks no more for tasks that have ended, and ends with the last', async () => {
		expect(await poll(['1', '40'], 600_000)).toEqual(['completed', 'completed']);
		expect(looks.at(-1)).toBeLessThan(90_000);
	});

	it('is not ended by what can not be looked at, and gives it out in the end', async () => {
		expect(await poll(['broken', '1'], 60_000)).toEqual(['timedOut', 'completed']);
	});

	it('ends at once when the execution is cancelled', async () => {
		const controller = new AbortController();
		const polled = poll(['1000'], 600_000, controller.signal);
		controller.abort();
		expect(await polled).toEqual(['timedOut']);
		expect(looks.length).toBeLessThanOrEqual(1);
	});
});
