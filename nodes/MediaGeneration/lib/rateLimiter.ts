import { BoundedMap } from './boundedMap';
import { pause } from './timers';

/** Limits of how fast an account's service is asked. Times are in milliseconds. */
export interface RateLimits {
	/** The time in which a run's number of requests may arrive at the service. */
	period: number;
	/** How long a run waits out refusals for the rate, from its first on. */
	patience: number;
	/** Recognizes the error of a request that came too fast and did nothing. */
	isTooFast: (error: unknown) => boolean;
}

const FIRST_HOLD = 2_000;
const LONGEST_HOLD = 10_000;

/** How many accounts are remembered, and rates of one: an expression may give each run another. */
const ACCOUNTS = 1_000;
const RATES = 100;

/** The requests of one rate. */
interface Lane {
	/** The tickets of those that wait. */
	waiting: Set<number>;
	/** The number of those under way. */
	underway: number;
	/**
	 * When those of the last period were answered. They count from then on, because a request may
	 * be slow to arrive.
	 */
	ends: number[];
}

/** The time in milliseconds, which nobody can set back. */
const now = (): number => performance.now();

/**
 * Holds the requests of an account to a rate, over all runs, and holds all back while the service
 * refuses them for it. Runs that set the same rate share it, and start in the order they come.
 */
export class RateLimiter {
	private readonly lanes = new BoundedMap<number, Lane>(RATES);
	private tickets = 0;
	private heldUntil = 0;
	private pause = FIRST_HOLD;

	constructor(private readonly limits: RateLimits) {}

	/**
	 * Makes the function by which a run sends its requests, each when its turn comes, and again after
	 * refusals for the rate.
	 * @param requests the number that may arrive within a period; Infinity: any number
	 * @param signal ends the run's own waiting when it is aborted; nothing of it starts any more
	 * @throws {RangeError} when the number of requests is not above 0
	 */
	join(
		requests: number,
		signal?: AbortSignal,
	): <Answer>(request: () => Promise<Answer>) => Promise<Answer> {
		if (!(requests > 0)) throw new RangeError(`requests must be above 0, not ${requests}`);
		const { patience, isTooFast } = this.limits;
		const lane = this.lanes.get(requests) ?? { waiting: new Set(), underway: 0, ends: [] };
		this.lanes.set(requests, lane);
		let refusedSince = Infinity;
		return async (request) => {
			const ticket = this.tickets++;
			for (;;) {
				await this.takeTurn(lane, requests, ticket, signal);
				const [answer] = await Promise.allSettled([request()]);
				lane.underway--;
				lane.ends.push(now());
				if (answer.status === 'fulfilled') {
					refusedSince = Infinity;
					this.pause = FIRST_HOLD;
					return answer.value;
				}
				if (!isTooFast(answer.reason)) throw answer.reason;
				this.holdBack();
				refusedSince = Math.min(refusedSince, now());
				if (this.heldUntil - refusedSince > patience) throw answer.reason;
			}
		};
	}

	/** Waits for the turn of a ticket. One that waits again has its old place. */
	private async takeTurn(
		lane: Lane,
		requests: number,
		ticket: number,
		signal?: AbortSignal,
	): Promise<void> {
		lane.waiting.add(ticket);
		try {
			for (;;) {
				signal?.throwIfAborted();
				const length = this.measurePause(lane, requests, ticket);
				if (length <= 0) return void lane.underway++;
				await pause(length, signal);
			}
		} finally {
			lane.waiting.delete(ticket);
		}
	}

	/** Measures how long a ticket waits at least. Afterwards others may still be before it. */
	private measurePause(
		{ waiting, underway, ends }: Lane,
		requests: number,
		ticket: number,
	): number {
		const time = now();
		const { period } = this.limits;
		while (ends[0] !== undefined && ends[0] <= time - period) ends.shift();
		const before = [...waiting].filter((other) => other < ticket).length;
		const free = requests - underway - ends.length - before;
		const next = free > 0 ? time : (ends[-free] ?? time) + period;
		return Math.max(next, this.heldUntil) - time;
	}

	/** Refusals that come together are one. */
	private holdBack(): void {
		const time = now();
		if (this.heldUntil > time) return;
		this.heldUntil = time + this.pause * (1 + Math.random() / 4);
		this.pause = Math.min(this.pause * 1.5, LONGEST_HOLD);
	}
}

/** A limiter for each account, which all runs in this process share. */
export class RateLimiters {
	private readonly limiters = new BoundedMap<string, RateLimiter>(ACCOUNTS);

	constructor(private readonly limits: RateLimits) {}

	of(account: string): RateLimiter {
		const limiter = this.limiters.get(account) ?? new RateLimiter(this.limits);
		this.limiters.set(account, limiter);
		return limiter;
	}
}
