import fc from 'fast-check';
import { sleep } from 'n8n-workflow';
import { isTooFast } from '../../../nodes/MediaGeneration/api/failure';
import { RateLimiter } from '../../../nodes/MediaGeneration/lib/rateLimiter';
import { fail } from '../fail';

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

const PATIENCE = 60_000;

const rejection = fail('rate');
const newLimiter = () => new RateLimiter({ period: 10_000, patience: PATIENCE, isTooFast });

type Send = ReturnType<RateLimiter['join']>;

/** Begins to send this number of requests at once, and notes when each try of one starts. */
function begin(send: Send, count = 1, isRejected = () => false) {
	const starts: number[] = [];
	const results = Array.from({ length: count }, async () => {
		const request = async () => {
			starts.push(Date.now());
			if (isRejected()) throw rejection;
			return 'task';
		};
		return await send(request).catch((error: Error) => error);
	});
	return { starts, end: async () => await Promise.all(results) };
}

const pass = async (milliseconds: number) => await jest.advanceTimersByTimeAsync(milliseconds);

/** Sends them, and returns when each try started, and how they ended. */
async function send(...request: Parameters<typeof begin>) {
	const { starts, end } = begin(...request);
	await pass(2 * PATIENCE);
	return { starts, results: await end() };
}

/** Rejects this number of requests. */
const reject = (count: number) => () => count-- > 0;

const expectWithin = (starts: number[], least: number, most: number) => {
	expect(Math.min(...starts)).toBeGreaterThanOrEqual(least);
	expect(Math.max(...starts)).toBeLessThanOrEqual(most);
};

/** Asserts that no ten seconds have more starts than this. */
function expectRate(starts: number[], requests: number) {
	const sorted = [...starts].sort((one, other) => one - other);
	for (const [index, start] of sorted.slice(requests).entries())
		expect(start - (sorted[index] ?? 0)).toBeGreaterThanOrEqual(10_000);
}

describe('one sender', () => {
	it('counts a request until ten seconds after its answer, because it may be slow to arrive', async () => {
		const starts: number[] = [];
		const inTurn = newLimiter().join(2);
		const sent = [3_000, 1_000, 0, 0].map(
			async (milliseconds) =>
				await inTurn(async () => {
					starts.push(Date.now());
					await sleep(milliseconds);
				}),
		);
		await pass(14_000);
		await Promise.all(sent);
		expect(starts).toEqual([0, 0, 11_000, 13_000]);
	});

	it('sends again after a rejection, later each time, until patience runs out', async () => {
		const { starts, results } = await send(newLimiter().join(Infinity), 1, () => true);
		expect(results).toEqual([rejection]);
		const pauses = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
		expectWithin(pauses.slice(0, 1), 1_500, 2_500);
		expectWithin(pauses.slice(1), 2_250, 12_500);
		expectWithin(starts.slice(-1), PATIENCE / 2, PATIENCE + 12_500);
	});

	it('holds all back while one is rejected, and counts rejections that come together as one', async () => {
		const { starts, results } = await send(newLimiter().join(Infinity), 3, reject(3));
		expect(results).toEqual(['task', 'task', 'task']);
		expectWithin(starts.slice(3), 1_500, 2_500);
	});

	it('sends nothing again that was not rejected for its rate', async () => {
		const request = jest.fn().mockRejectedValue(new Error('unknown outcome'));
		await expect(newLimiter().join(Infinity)(request)).rejects.toThrow('unknown outcome');
		expect(request).toHaveBeenCalledTimes(1);
	});

	it('leaves no listener at its signal, which others may share', async () => {
		const { signal } = new AbortController();
		const added = jest.spyOn(signal, 'addEventListener');
		const removed = jest.spyOn(signal, 'removeEventListener');
		await send(newLimiter().join(2, signal), 5, reject(1));
		const [listening, gone] = [added, removed].map(({ mock }) =>
			mock.calls.map(([, leave]) => leave),
		);
		expect(listening).not.toHaveLength(0);
		expect(new Set(gone)).toEqual(new Set(listening));
	});

	it('starts nothing more when it is stopped, also not what was rejected', async () => {
		const stop = new AbortController();
		const { starts, end } = begin(newLimiter().join(1, stop.signal), 2, () => true);
		await pass(1);
		stop.abort(new Error('stopped'));
		expect(await end()).toEqual([new Error('stopped'), new Error('stopped')]);
		await pass(30_000);
		expect(starts).toEqual([0]);
	});
});

describe('senders of one account', () => {
	it('share their rate, and their requests start in the order they came', async () => {
		const limiter = newLimiter();
		const order: number[] = [];
		const starts: number[] = [];
		const sent = Array.from({ length: 60 }, async (_, run) => {
			await limiter.join(18)(async () => {
				order.push(run);
				starts.push(Date.now());
			});
		});
		await pass(30_000);
		await Promise.all(sent);
		expectRate(starts, 18);
		expect(starts.at(-1)).toBe(30_000);
		expect(order).toEqual([...order.keys()]);
	});

	it('are all held back by a rejection of one', async () => {
		const limiter = newLimiter();
		const rejected = begin(limiter.join(18), 1, reject(1));
		await pass(0);
		const others = [begin(limiter.join(18)), begin(limiter.join(Infinity))];
		await pass(1_499);
		expect([rejected, ...others].map(({ starts }) => starts)).toEqual([[0], [], []]);
		await pass(1_002);
		expectWithin(
			[rejected.starts.slice(1), ...others.map(({ starts }) => starts)].flat(),
			1_500,
			2_500,
		);
		await Promise.all([rejected, ...others].map(async ({ end }) => await end()));
	});

	it('are each as patient as the first, and as before once a request has passed', async () => {
		const limiter = newLimiter();
		await send(limiter.join(18), 1, () => true);
		const run = limiter.join(18);
		expect((await send(run, 1, reject(2))).results).toEqual(['task']);
		expect((await send(run, 1, reject(2))).results).toEqual(['task']);
	});

	it('go on sooner when one that is before them is stopped', async () => {
		const limiter = newLimiter();
		const first = begin(limiter.join(2), 2);
		const stop = new AbortController();
		const stopped = begin(limiter.join(2, stop.signal), 4);
		const last = begin(limiter.join(2), 2);
		await pass(5_000);
		stop.abort(new Error('stopped'));
		expect(await stopped.end()).toEqual(Array(4).fill(new Error('stopped')));
		await pass(5_000);
		expect([first, stopped, last].map(({ starts }) => starts)).toEqual([[0, 0], [], [1e4, 1e4]]);
	});

	it('wait no longer because the clock was set back', async () => {
		const limiter = newLimiter();
		const { starts } = begin(limiter.join(1), 2);
		await pass(0);
		jest.setSystemTime(-3_600_000);
		await pass(10_000);
		expect(starts).toHaveLength(2);
	});
});

describe('senders of one account with different numbers', () => {
	const FIVE_MINUTES = 300_000;
	const inTotal = (runs: Array<{ starts: number[] }>) => runs.flatMap(({ starts }) => starts);

	it.each([1, 20])('%d with the number 2 leave one with 18 what they do not use', async (count) => {
		const limiter = newLimiter();
		const slow = Array.from({ length: count }, () => begin(limiter.join(2), 100));
		await pass(1_000);
		const fast = begin(limiter.join(18), 1_000);
		await pass(FIVE_MINUTES - 2_000);
		// Whatever is set, the account sends no more than the largest number.
		expectRate(inTotal([...slow, fast]), 18);
		expectRate(inTotal(slow), 2);
		expect(inTotal(slow)).toHaveLength(60);
		expect(fast.starts).toHaveLength(480);
		expect(fast.starts.slice(0, 16)).toEqual(Array(16).fill(1_000));
	});

	it('one without a limit starts all at once, and the others when fewer than theirs count', async () => {
		const limiter = newLimiter();
		const slow = begin(limiter.join(2), 4);
		await pass(0);
		const any = begin(limiter.join(Infinity), 100);
		const later = begin(limiter.join(18), 20);
		await pass(0);
		expect([slow, any, later].map(({ starts }) => starts.length)).toEqual([2, 100, 0]);
		await pass(20_000);
		expectRate(inTotal([slow, later]), 18);
		expect([slow, later].map(({ starts }) => starts.length)).toEqual([4, 20]);
	});
});

/** A sender: its number, when it is stopped, and each of its requests. */
interface Sender {
	most: number;
	stoppedAt: number;
	requests: Array<{ at: number; takes: number; rejections: number }>;
}

/** A try of a request. */
interface Try {
	run: number;
	begun: number;
	/** Whether its sender had been stopped. */
	isStopped: boolean;
	/** When it no longer counts. */
	until: number;
}

/** Sends the requests of such senders of one account, and notes each try. */
async function sendAll(senders: Sender[]) {
	const limiter = newLimiter();
	const tries: Try[] = [];
	const start = Date.now();
	const runs = senders.map(({ most, stoppedAt, requests }, run) => {
		const stop = new AbortController();
		void sleep(stoppedAt).then(() => stop.abort(new Error('stopped')));
		const inTurn = limiter.join(most, stop.signal);
		const sent = requests.map(async ({ at, takes, rejections }) => {
			await sleep(at);
			return await inTurn(async () => {
				const isStopped = stop.signal.aborted;
				const one = { run, begun: Date.now() - start, isStopped, until: Infinity };
				tries.push(one);
				await sleep(takes);
				one.until = Date.now() - start + 10_000;
				if (rejections-- > 0) throw rejection;
				return 'task';
			}).catch((error: Error) => error.message);
		});
		return Promise.all(sent);
	});
	const all = Promise.all(runs);
	await pass(2_000_000);
	return { tries, outcomes: await all };
}

const sender: fc.Arbitrary<Sender> = fc.record({
	most: fc.integer({ min: 1, max: 20 }),
	stoppedAt: fc.oneof(
		{ weight: 2, arbitrary: fc.constant(1_500_000) },
		fc.integer({ min: 1, max: 40_000 }),
	),
	requests: fc.array(
		fc.record({
			at: fc.oneof(fc.constant(0), fc.nat(30_000)),
			takes: fc.nat(3_000),
			rejections: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.nat(3)),
		}),
		{ maxLength: 30 },
	),
});

it('no account ever sends more than its number, none is forgotten, and a stopped sender sends nothing', async () => {
	const senderLists = fc.array(sender, { minLength: 1, maxLength: 5 });
	const property = fc.asyncProperty(senderLists, async (senders) => {
		const { tries, outcomes } = await sendAll(senders);
		const most = Math.max(...senders.map(({ most }) => most));
		for (const [index, { run, begun, isStopped }] of tries.entries()) {
			const counted = tries.slice(0, index + 1).filter(({ until }) => until > begun);
			expect(counted.length).toBeLessThanOrEqual(most);
			const own = counted.filter((one) => one.run === run);
			expect(own.length).toBeLessThanOrEqual(senders[run]?.most ?? 0);
			expect(isStopped).toBe(false);
		}
		for (const [run, { stoppedAt, requests }] of senders.entries()) {
			expect(outcomes[run]).toHaveLength(requests.length);
			const known = ['task', rejection.message, ...(stoppedAt > 1_000_000 ? [] : ['stopped'])];
			for (const outcome of outcomes[run] ?? []) expect(known).toContain(outcome);
		}
	});
	await fc.assert(property, { numRuns: 60 });
}, 120_000);
