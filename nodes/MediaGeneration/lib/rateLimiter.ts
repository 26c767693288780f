import { BoundedMap } from './boundedMap';
import { pause } from './timers';

/** How fast requests of an account are sent. Times are in milliseconds. */
export interface RateLimits {
	/** The period that a run's number of requests refers to. */
	period: number;
	/** How long a run keeps retrying rate-limited requests, counted from its first refusal. */
	patience: number;
	/** Whether an error means that the request came too soon and did nothing. */
	isTooFast: (error: unknown) => boolean;
}

const FIRST_HOLD = 2_000;
const LONGEST_HOLD = 10_000;

/** How many accounts are remembered, and rates per account: an expression may change it every run. */
const ACCOUNTS = 1_000;
const RATES = 100;

/** The requests that share a rate. */
interface Lane {
	/** The tickets of waiting requests. */
	waiting: Set<number>;
	/** How many are under way. */
	underway: number;
	/**
	 * When those of the last period were answered. The period starts then, because a request may
	 * arrive late.
	 */
	ends: number[];
}

/** A clock in milliseconds that never goes back. */
const now = (): number => performance.now();

/**
 * Limits the rate of an account's requests over all runs, and pauses all of them while the service
 * refuses any for its rate. Runs with the same rate share it, first come, first served.
 */
export class RateLimiter {
	private readonly lanes = new BoundedMap<number, Lane>(RATES);
	private tickets = 0;
	private heldUntil = 0;
	private pause = FIRST_HOLD;

	constructor(private readonly limits: RateLimits) {}

	/**
	 * Makes a function that sends a run's requests, each in its turn, and again after refusals for the
	 * rate.
	 * @param requests the most per period; Infinity: no limit
	 * @param signal when aborted, the run's waiting requests are rejected
	 * @throws {RangeError} if the number of requests isn't above 0
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

	/** Waits for a ticket's turn. A ticket that waits again keeps its place. */
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

	/** The shortest time that a ticket still has to wait. After it, others may still come first. */
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

	/** Pauses all requests, once for refusals that arrive together. */
	private holdBack(): void {
		const time = now();
		if (this.heldUntil > time) return;
		this.heldUntil = time + this.pause * (1 + Math.random() / 4);
		this.pause = Math.min(this.pause * 1.5, LONGEST_HOLD);
	}
}

/** A limiter per account, shared by all runs in this process. */
export class RateLimiters {
	private readonly limiters = new BoundedMap<string, RateLimiter>(ACCOUNTS);

	constructor(private readonly limits: RateLimits) {}

	of(account: string): RateLimiter {
		const limiter = this.limiters.get(account) ?? new RateLimiter(this.limits);
		this.limiters.set(account, limiter);
		return limiter;
	}
}
