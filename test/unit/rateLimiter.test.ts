import { sleep } from 'n8n-workflow';
import { ServiceError, type TaskService } from '../../nodes/MediaGeneration/api/client';
import { RateLimiter } from '../../nodes/MediaGeneration/api/rateLimiter';
import { newTask, type Task } from '../../nodes/MediaGeneration/api/task';
import { mapConcurrent } from '../../nodes/MediaGeneration/operations/mapConcurrent';
import type { Item } from '../../nodes/MediaGeneration/operations/operation';
import {
	checkUntilPending,
	pollUntilEnded,
} from '../../nodes/MediaGeneration/operations/task/wait';

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

const PATIENCE = 60_000;

const refusal = new ServiceError({ message: 'too many requests', hint: '', isRateLimited: true });
const limiterOf = (requests: number, signal?: AbortSignal) =>
	new RateLimiter({ requests, period: 10_000, patience: PATIENCE }, signal);

describe('RateLimiter', () => {
	/** When each of so many requests starts, in milliseconds. */
	async function findStarts(limiter: RateLimiter, count: number): Promise<number[]> {
		const starts: number[] = [];
		const all = Promise.all(
			Array.from({ length: count }, async () => {
				await limiter.run(async () => starts.push(Date.now()));
			}),
		);
		await jest.advanceTimersByTimeAsync(120_000);
		await all;
		return starts;
	}

	it('starts no more in any ten seconds than it is set to', async () => {
		const starts = await findStarts(limiterOf(18), 60);
		for (const [index, start] of starts.entries())
			if (index >= 18) expect(start - (starts[index - 18] ?? 0)).toBeGreaterThanOrEqual(10_000);
		expect(starts.at(-1)).toBe(30_000);
	});

	it('starts all at once when there is no limit', async () => {
		expect(new Set(await findStarts(limiterOf(0), 1000))).toEqual(new Set([0]));
	});

	/** Sends a request that is refused at these times, and is answered when it is not. */
	async function send(limiter: RateLimiter, isRefused: () => boolean) {
		const starts: number[] = [];
		const sent = limiter
			.run(async () => {
				starts.push(Date.now());
				if (isRefused()) throw refusal;
				return 'task';
			})
			.catch((error: Error) => error);
		await jest.advanceTimersByTimeAsync(2 * PATIENCE);
		return { starts, result: await sent };
	}

	it('sends again after a refusal, later each time, until patience runs out', async () => {
		const { starts, result } = await send(limiterOf(0), () => true);
		expect(result).toBe(refusal);
		const pauses = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
		expect(pauses[0]).toBeGreaterThanOrEqual(2_000);
		expect(pauses[0]).toBeLessThanOrEqual(2_500);
		expect(pauses[1]).toBeGreaterThanOrEqual(3_000);
		expect(Math.max(...pauses)).toBeLessThanOrEqual(12_500);
		expect(starts.at(-1)).toBeLessThanOrEqual(PATIENCE + 12_500);
		expect(starts.at(-1)).toBeGreaterThan(PATIENCE / 2);
	});

	it('returns the answer that comes after refusals', async () => {
		let refusals = 2;
		const { starts, result } = await send(limiterOf(0), () => refusals-- > 0);
		expect(result).toBe('task');
		expect(starts).toHaveLength(3);
	});

	it('sends nothing again that was not refused for its rate', async () => {
		const request = jest.fn().mockRejectedValue(new Error('unknown outcome'));
		await expect(limiterOf(0).run(request)).rejects.toThrow('unknown outcome');
		expect(request).toHaveBeenCalledTimes(1);
	});

	it('holds all back while one is refused, and counts refusals that come together as one', async () => {
		const limiter = limiterOf(0);
		let refusals = 3;
		const requests = Array.from({ length: 3 }, async () => {
			await limiter.run(async () => {
				if (refusals-- > 0) throw refusal;
			});
			return Date.now();
		});
		await jest.advanceTimersByTimeAsync(10_000);
		for (const end of await Promise.all(requests)) {
			expect(end).toBeGreaterThanOrEqual(2_000);
			expect(end).toBeLessThanOrEqual(2_500);
		}
	});

	it('is as patient as before once a request has passed', async () => {
		const limiter = limiterOf(0);
		await send(limiter, () => true);
		let refusals = 1;
		expect((await send(limiter, () => refusals-- > 0)).result).toBe(refusal);
		await send(limiter, () => false);
		refusals = 1;
		expect((await send(limiter, () => refusals-- > 0)).result).toBe('task');
	});

	it('starts nothing more when the execution is stopped, also not what was refused', async () => {
		const controller = new AbortController();
		const request = jest.fn().mockRejectedValue(refusal);
		const sent = limiterOf(0, controller.signal)
			.run(request)
			.catch((error: Error) => error);
		await jest.advanceTimersByTimeAsync(1);
		controller.abort(new Error('stopped'));
		await jest.advanceTimersByTimeAsync(10_000);
		expect(await sent).toMatchObject({ message: 'stopped' });
		expect(request).toHaveBeenCalledTimes(1);
	});
});

describe('mapConcurrent', () => {
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
		expect(await mapConcurrent(entries, run, { concurrency: 3 })).toEqual(
			entries.map((entry) => entry * 2),
		);
		expect(most).toBe(3);
	});

	it('begins nothing more after a result that ends it', async () => {
		const run = async (entry: number) => entry;
		const results = await mapConcurrent([1, 2, 3, 4], run, {
			concurrency: 1,
			isLast: (result: number) => result === 2,
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

	const created = (ids: string[]) =>
		ids.map((id) => ({
			item: { service, settings: { timeoutSeconds: 1 } } as Item,
			task: newTask(id, 'model'),
		}));

	const poll = async (ids: string[], limit: number, signal?: AbortSignal) => {
		looks.length = 0;
		const ended = pollUntilEnded(created(ids), { limit, signal });
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

	it('goes on when a task is not readable, and returns it in the end', async () => {
		expect(await poll(['broken', '1'], 60_000)).toEqual(['timedOut', 'completed']);
	});

	it('ends at once when the execution is cancelled', async () => {
		const controller = new AbortController();
		const polled = poll(['1000'], 600_000, controller.signal);
		controller.abort();
		expect(await polled).toEqual(['timedOut']);
		expect(looks.length).toBeLessThanOrEqual(1);
	});

	it('checks a batch that is about to park no further than the first tasks that have not ended', async () => {
		looks.length = 0;
		const ids = Array.from({ length: 50 }, (_, index) => (index < 10 ? '0' : '1000'));
		const tasks = await checkUntilPending(created(ids));
		expect(
			tasks.map(({ status }) => status).filter((status) => status === 'completed'),
		).toHaveLength(10);
		expect(looks.length).toBeLessThanOrEqual(15);
	});

	it('asks again for no task that has ended', async () => {
		looks.length = 0;
		const [one] = created(['1000']);
		if (one) one.task = { ...one.task, status: 'completed' };
		expect(await checkUntilPending(one ? [one] : [])).toMatchObject([{ status: 'completed' }]);
		expect(looks).toEqual([]);
	});
});
