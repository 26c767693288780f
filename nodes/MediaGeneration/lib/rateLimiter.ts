import { BoundedMap } from './boundedMap';
import { limitConcurrency } from './mapConcurrent';
import { pause, untilAborted } from './timers';

/** How fast requests of an account are sent. Times are in milliseconds. */
export interface RateLimits {
	/** The period that the number of requests refers to. */
	period: number;
	/** How long a run keeps retrying rate-limited requests, counted from its first refusal. */
	patience: number;
	/** Whether an error means that the request came too soon and did nothing. */
	isTooFast: (error: unknown) => boolean;
}

const FIRST_HOLD = 2_000;
const LONGEST_HOLD = 10_000;

/** How many accounts are remembered. */
const ACCOUNTS = 1_000;

/**
 * The place of a request in the window. It is free again a period after the answer, because a request
 * may arrive late.
 */
interface Place {
	until: number;
}

/** A clock in milliseconds that never goes back. */
const now = (): number => performance.now();

/**
 * Limits the rate of an account's requests over all runs, and pauses all of them while the service
 * refuses any for its rate. First come, first served.
 */
export class RateLimiter {
	private places: Place[] = [];
	private heldUntil = 0;
	private pause = FIRST_HOLD;
	private readonly oneByOne = limitConcurrency(1);

	constructor(private readonly limits: RateLimits) {}

	/**
	 * Makes a function that sends a run's requests, each in its turn, and again after refusals for the
	 * rate.
	 * @param most a request starts where fewer than this have places; Infinity: no limit
	 * @param signal when aborted, the run's waiting requests are rejected
	 * @throws {RangeError} if the number of requests isn't above 0
	 */
	join(
		most: number,
		signal?: AbortSignal,
	): <Answer>(request: () => Promise<Answer>) => Promise<Answer> {
		if (!(most > 0)) throw new RangeError(`requests must be above 0, not ${most}`);
		const { period, patience, isTooFast } = this.limits;
		let refusedSince = Infinity;
		return async (request) => {
			for (let wasRefused = false; ; wasRefused = true) {
				signal?.throwIfAborted();
				const taken = this.takePlace(most, wasRefused, signal);
				const place = await untilAborted(taken, signal);
				place.until = Infinity;
				const [answer] = await Promise.allSettled([request()]);
				place.until = now() + period;
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

	/**
	 * Waits for a place. One that a stopped run takes in vain becomes free by itself. What was refused
	 * has stood in line before.
	 */
	private async takePlace(most: number, wasRefused: boolean, signal?: AbortSignal): Promise<Place> {
		const take = async () => {
			for (;;) {
				signal?.throwIfAborted();
				const time = now();
				if (this.heldUntil > time) {
					await pause(this.heldUntil - time, signal);
					continue;
				}
				this.places = this.places.filter(({ until }) => until > time);
				const place = { until: time + this.limits.period };
				if (this.places.length < most) {
					this.places.push(place);
					return place;
				}
				// What is under way is free a period from now at the soonest.
				const free = Math.min(place.until, ...this.places.map(({ until }) => until));
				await pause(free - time, signal);
			}
		};
		return await this.oneByOne(take, wasRefused);
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
