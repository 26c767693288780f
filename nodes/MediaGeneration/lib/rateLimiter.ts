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

/** How many accounts are remembered. */
const ACCOUNTS = 1_000;

/** A run, and the most requests that it sends per period. */
interface Run {
	most: number;
	/** Its places in the window. */
	taken: number;
}

/** The place of a request in the window. */
interface Place {
	run: Run;
	/**
	 * When it is free again; Infinity while the request is under way. The period starts at the answer,
	 * because a request may arrive late.
	 */
	until: number;
}

/** A request that waits for its turn. */
interface Waiting {
	run: Run;
	/** The lower one came first. */
	ticket: number;
	start: (place: Place) => void;
}

/** A clock in milliseconds that never goes back. */
const now = (): number => performance.now();

/**
 * Limits the rate of an account's requests over all runs, and pauses all of them while the service
 * refuses any for its rate. Each run keeps to its own number, and all together to the largest
 * number among them. First come, first served: only what waits for its own run is overtaken.
 */
export class RateLimiter {
	/** In the order of tickets. */
	private readonly queue: Waiting[] = [];
	private places: Place[] = [];
	/** The soonest time at which more may start. */
	private nextChange = 0;
	private tickets = 0;
	private heldUntil = 0;
	private pause = FIRST_HOLD;

	constructor(private readonly limits: RateLimits) {}

	/**
	 * Makes a function that sends a run's requests, each in its turn, and again after refusals for the
	 * rate.
	 * @param most the most requests per period; Infinity: no limit, and they don't count for others
	 * @param signal when aborted, the run's waiting requests are rejected
	 * @throws {RangeError} if the number of requests isn't above 0
	 */
	join(
		most: number,
		signal?: AbortSignal,
	): <Answer>(request: () => Promise<Answer>) => Promise<Answer> {
		if (!(most > 0)) throw new RangeError(`requests must be above 0, not ${most}`);
		const { period, patience, isTooFast } = this.limits;
		const run: Run = { most, taken: 0 };
		let refusedSince = Infinity;
		return async (request) => {
			const ticket = this.tickets++;
			for (;;) {
				signal?.throwIfAborted();
				const place = await this.takeTurn(run, ticket, signal);
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
	 * Waits for a ticket's turn. A ticket that waits again keeps its place in the queue.
	 * @throws when `signal` aborts it
	 */
	private async takeTurn(run: Run, ticket: number, signal?: AbortSignal): Promise<Place> {
		let leave = () => {};
		const turn = new Promise<Place>((start, reject) => {
			const behind = this.queue.findIndex((other) => other.ticket > ticket);
			const at = behind < 0 ? this.queue.length : behind;
			const waiting = { run, ticket, start };
			this.queue.splice(at, 0, waiting);
			leave = () => {
				this.remove(waiting);
				reject(signal?.reason as Error);
			};
			void this.watch(waiting);
		});
		signal?.addEventListener('abort', leave);
		return await turn.finally(() => signal?.removeEventListener('abort', leave));
	}

	private remove(waiting: Waiting): void {
		const at = this.queue.indexOf(waiting);
		if (at >= 0) this.queue.splice(at, 1);
	}

	/** Starts what may start now, and looks again at each change until this one has started or left. */
	private async watch(waiting: Waiting): Promise<void> {
		this.startSome();
		while (this.queue.includes(waiting)) {
			await pause(this.nextChange - now());
			// Another one that waits may have looked before.
			if (now() >= this.nextChange) this.startSome();
		}
	}

	/** Starts what may start now, in the order of the queue. */
	private startSome(): void {
		const time = now();
		for (const { run, until } of this.places) if (until <= time) run.taken--;
		this.places = this.places.filter(({ until }) => until > time);
		if (this.heldUntil > time) return void (this.nextChange = this.heldUntil);
		const runs = [...this.places, ...this.queue].map(({ run }) => run);
		const most = Math.max(...runs.map((run) => run.most).filter(Number.isFinite));
		for (const waiting of [...this.queue]) {
			const { run, start } = waiting;
			const isLimited = run.most < Infinity;
			if (isLimited && (run.taken >= run.most || this.places.length >= most)) continue;
			this.remove(waiting);
			const place = { run, until: Infinity };
			if (isLimited) this.take(place);
			start(place);
		}
		// What is under way is free a period from now at the soonest.
		this.nextChange = Math.min(time + this.limits.period, ...this.places.map(({ until }) => until));
	}

	private take(place: Place): void {
		this.places.push(place);
		place.run.taken++;
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
