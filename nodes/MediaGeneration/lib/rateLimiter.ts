import { sleep } from 'n8n-workflow';
import { Memory } from './memory';
import { growPauses, untilAborted } from './timers';

/** How fast requests of an account are sent. Times are in milliseconds. */
interface RateLimits {
	/** The period that the number of requests refers to. */
	period: number;
	/** How long a run keeps retrying rate-limited requests, counted from its first refusal. */
	patience: number;
	/** Whether an error means that the request came too soon and did nothing. */
	isTooFast: (error: unknown) => boolean;
}

const HOLDS = { first: 2_000, growth: 1.5, longest: 10_000 };

/** A request in the window, or one that waits to come into it. */
interface Place {
	/** The number of its run. */
	most: number;
	/** The place is free again a period after the answer, because a request may arrive late. */
	until: number;
}

interface Turn extends Place {
	signal?: AbortSignal;
	begin: () => void;
}

/** A clock in milliseconds that never goes back. */
const now = (): number => performance.now();

/**
 * Limits the rate of an account's requests over all runs, and pauses all of them while the service
 * refuses any for its rate. Runs may have different numbers: a run with a small one must not hold up
 * the others, and together they send no more than the largest number allows.
 */
export class RateLimiter {
	private places: Place[] = [];
	/** In the order in which they begin, if all have the same number. */
	private waiting: Turn[] = [];
	private heldUntil = 0;
	/** When `beginWaiting` runs next. */
	private alarm = Infinity;
	private holds = growPauses(HOLDS);

	constructor(private readonly limits: RateLimits) {}

	/**
	 * Makes a function that sends a run's requests, each in its turn, and again after refusals for the
	 * rate.
	 * @param most a request starts where requests of this or a smaller number hold fewer places than
	 * this; Infinity: no limit
	 * @param signal when aborted, the run's waiting requests are rejected
	 */
	join(
		most: number,
		signal?: AbortSignal,
	): <Answer>(request: () => Promise<Answer>) => Promise<Answer> {
		const { period, patience, isTooFast } = this.limits;
		let refusedSince = Infinity;
		return async (request) => {
			for (let wasRefused = false; ; wasRefused = true) {
				const place = await this.takePlace(most, wasRefused, signal);
				const [answer] = await Promise.allSettled([request()]);
				place.until = now() + period;
				this.beginWaiting();
				if (answer.status === 'fulfilled') {
					refusedSince = Infinity;
					this.holds = growPauses(HOLDS);
					return answer.value;
				}
				if (!isTooFast(answer.reason)) throw answer.reason;
				// All are held back, once for refusals that arrive together.
				if (this.heldUntil <= now()) this.heldUntil = now() + this.holds.next().value;
				refusedSince = Math.min(refusedSince, now());
				if (this.heldUntil - refusedSince > patience) throw answer.reason;
			}
		};
	}

	/** Waits for a place. What was refused has waited before, and is the next. */
	private async takePlace(most: number, isNext: boolean, signal?: AbortSignal): Promise<Place> {
		signal?.throwIfAborted();
		const turn: Turn = { most, until: Infinity, signal, begin: () => {} };
		const begun = new Promise<void>((resolve) => (turn.begin = resolve));
		if (isNext) this.waiting.unshift(turn);
		else this.waiting.push(turn);
		this.beginWaiting();
		await untilAborted(begun, signal);
		return turn;
	}

	/** Whether it knows of requests that count for others. Without any, none waits. */
	isBusy(): boolean {
		return [this.heldUntil, ...this.places.map(({ until }) => until)].some((time) => time > now());
	}

	/** Begins all that may begin. The others hold up nobody. */
	private beginWaiting(): void {
		const time = now();
		this.places = this.places.filter(({ until }) => until > time);
		const waiting = this.waiting.filter(({ signal }) => !signal?.aborted);
		const largest = Math.max(...waiting.map(({ most }) => most));
		const isHeld = this.heldUntil > time;
		this.waiting = waiting.filter((turn) => isHeld || !this.begin(turn, largest));
		if (!this.waiting.length) return;
		const free = Math.min(...this.places.map(({ until }) => until));
		this.beginAt(isHeld ? this.heldUntil : free);
	}

	/** @returns whether it began */
	private begin(turn: Turn, largest: number): boolean {
		if (this.places.length >= largest) return false;
		const beside = this.places.filter(({ most }) => most <= turn.most);
		if (beside.length >= turn.most) return false;
		this.places.push(turn);
		turn.begin();
		return true;
	}

	private beginAt(time: number): void {
		if (time >= this.alarm) return;
		this.alarm = time;
		void sleep(time - now()).then(() => {
			this.alarm = Infinity;
			this.beginWaiting();
		});
	}
}

/** A limiter per account, shared by all runs in this process. */
export class RateLimiters {
	private readonly limiters: Memory<RateLimiter>;

	constructor(
		name: 'creationRates' | 'readRates',
		private readonly limits: RateLimits,
	) {
		this.limiters = new Memory(name, (limiter) => limiter.isBusy());
	}

	of(account: string): RateLimiter {
		const limiter = this.limiters.get(account) ?? new RateLimiter(this.limits);
		this.limiters.set(account, limiter);
		return limiter;
	}
}
