import { isRateLimited, ServiceError } from '../../../nodes/MediaGeneration/api/errors';
import { RateLimiter } from '../../../nodes/MediaGeneration/lib/rateLimiter';

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

const PATIENCE = 60_000;

const refusal = new ServiceError({ message: 'too many requests', hint: '', isRateLimited: true });
const buildLimiter = (requests: number, signal?: AbortSignal) =>
	new RateLimiter(
		{ requests, period: 10_000, patience: PATIENCE, isTooFast: isRateLimited },
		signal,
	);

describe('RateLimiter', () => {
	it.each([0, -1, NaN])('refuses %d requests', (requests) => {
		expect(() => buildLimiter(requests)).toThrow(RangeError);
	});

	/** Sends this number of requests at once; returns when each try of one started, and how they ended. */
	async function send(limiter: RateLimiter, count = 1, isRefused = () => false) {
		const starts: number[] = [];
		const sent = Array.from({ length: count }, async () => {
			const request = async () => {
				starts.push(Date.now());
				if (isRefused()) throw refusal;
				return 'task';
			};
			return await limiter.run(request).catch((error: Error) => error);
		});
		await jest.advanceTimersByTimeAsync(2 * PATIENCE);
		return { starts, results: await Promise.all(sent) };
	}

	/** Refuses this number of requests. */
	const refuse = (count: number) => () => count-- > 0;

	it('starts no more in any ten seconds than it is set to', async () => {
		const { starts } = await send(buildLimiter(18), 60);
		for (const [index, start] of starts.slice(18).entries())
			expect(start - (starts[index] ?? 0)).toBeGreaterThanOrEqual(10_000);
		expect(starts.at(-1)).toBe(30_000);
	});

	it('starts all at once when there is no limit', async () => {
		const { starts } = await send(buildLimiter(Infinity), 1000);
		expect(new Set(starts)).toEqual(new Set([0]));
	});

	it('sends again after a refusal, later each time, until patience runs out', async () => {
		const { starts, results } = await send(buildLimiter(Infinity), 1, () => true);
		expect(results).toEqual([refusal]);
		const pauses = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
		expect(pauses[0]).toBeGreaterThanOrEqual(2_000);
		expect(pauses[0]).toBeLessThanOrEqual(2_500);
		expect(pauses[1]).toBeGreaterThanOrEqual(3_000);
		expect(Math.max(...pauses)).toBeLessThanOrEqual(12_500);
		expect(starts.at(-1)).toBeLessThanOrEqual(PATIENCE + 12_500);
		expect(starts.at(-1)).toBeGreaterThan(PATIENCE / 2);
	});

	it('holds all back while one is refused, and counts refusals that come together as one', async () => {
		const { starts, results } = await send(buildLimiter(Infinity), 3, refuse(3));
		expect(results).toEqual(['task', 'task', 'task']);
		for (const start of starts.slice(3)) {
			expect(start).toBeGreaterThanOrEqual(2_000);
			expect(start).toBeLessThanOrEqual(2_500);
		}
	});

	it('is as patient as before once a request has passed', async () => {
		const limiter = buildLimiter(Infinity);
		await send(limiter, 1, () => true);
		expect((await send(limiter, 1, refuse(1))).results).toEqual([refusal]);
		await send(limiter);
		expect((await send(limiter, 1, refuse(2))).results).toEqual(['task']);
	});

	it('sends nothing again that was not refused for its rate', async () => {
		const request = jest.fn().mockRejectedValue(new Error('unknown outcome'));
		await expect(buildLimiter(Infinity).run(request)).rejects.toThrow('unknown outcome');
		expect(request).toHaveBeenCalledTimes(1);
	});

	it('starts nothing more when the execution is stopped, also not what was refused', async () => {
		const controller = new AbortController();
		const request = jest.fn().mockRejectedValue(refusal);
		const stopped = expect(buildLimiter(Infinity, controller.signal).run(request)).rejects.toThrow(
			'stopped',
		);
		await jest.advanceTimersByTimeAsync(1);
		controller.abort(new Error('stopped'));
		await jest.advanceTimersByTimeAsync(10_000);
		await stopped;
		expect(request).toHaveBeenCalledTimes(1);
	});
});
