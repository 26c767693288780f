import { sleep } from 'n8n-workflow';
import { Memory } from './memory';
import { growPauses, untilAborted } from './timers';

/** How fast requests of an account are sent. Times are in milliseconds. */
interface Rate {
	/** The period that the number of requests refers to. */
	period: number;
	/** How long a sender goes on sending rejected requests again, counted from the first rejection. */
	patience: number;
	/** Whether an error means that the request came too soon and did nothing. */
	isTooFast: (error: unknown) => boolean;
}

/** How long all requests are held back after rejections for the rate. */
const HOLDS = { first: 2_000, growth: 1.5, longest: 10_000 };

/**
 * A request. It first waits for its turn. From its turn on it counts, until a period has passed since its
 * answer.
 */
interface Turn {
	/** How many requests the sender allows to count at a time. */
	most: number;
	signal?: AbortSignal;
	begin: () => void;
}

/** A clock in milliseconds that never goes back. */
const now = () => performance.now();

/**
 * Limits the rate of an account's requests over all who send them, and pauses all senders while a request
 * of any is rejected for its rate. Senders may allow different numbers of requests. A sender that allows
 * few must not hold up the others, and together they send no more than the largest number allows.
 */
export class RateLimiter {
	private counted: Turn[] = [];
	/** In the order in which they begin, if all senders allow the same number. */
	private waiting: Turn[] = [];
	/** When the pause of all ends; 0 if there is none. */
	private heldUntil = 0;
	private holds = growPauses(HOLDS);

	constructor(private readonly rate: Rate) {}

	/**
	 * Makes a function that sends a sender's requests, each in its turn, and again after rejections for
	 * the rate.
	 * @param most a request of this sender begins only while fewer than this many count. Requests of senders
	 *   with a larger number aren't counted here. Infinity: no limit
	 * @param signal when aborted, the sender's waiting requests fail
	 */
	join(
		most: number,
		signal?: AbortSignal,
	): <Answer>(request: () => Promise<Answer>) => Promise<Answer> {
		const { period, patience, isTooFast } = this.rate;
		let rejectedSince = Infinity;
		return async (request) => {
			for (let wasRejected = false; ; wasRejected = true) {
				const turn = await this.waitForTurn(most, wasRejected, signal);
				const [answer] = await Promise.allSettled([request()]);
				this.runLater(period, () => (this.counted = this.counted.filter((one) => one !== turn)));
				if (answer.status === 'fulfilled') {
					rejectedSince = Infinity;
					this.holds = growPauses(HOLDS);
					return answer.value;
				}
				if (!isTooFast(answer.reason)) throw answer.reason;
				// All senders are held back, once for rejections that arrive together.
				if (!this.heldUntil) this.hold(this.holds.next().value);
				rejectedSince = Math.min(rejectedSince, now());
				if (this.heldUntil - rejectedSince > patience) throw answer.reason;
			}
		};
	}

	/** Waits for a turn. A request that was rejected has waited before, and is the next. */
	private async waitForTurn(most: number, isNext: boolean, signal?: AbortSignal): Promise<Turn> {
		signal?.throwIfAborted();
		const turn: Turn = { most, signal, begin: () => {} };
		const begun = new Promise<void>((resolve) => (turn.begin = resolve));
		if (isNext) this.waiting.unshift(turn);
		else this.waiting.push(turn);
		this.beginWaiting();
		await untilAborted(begun, signal);
		return turn;
	}

	/** Whether requests count, or all are held back. If not, none waits. */
	isBusy(): boolean {
		return this.counted.length > 0 || this.heldUntil > 0;
	}

	/** Begins all turns that may begin. A turn that can't begin holds up nobody. */
	private beginWaiting() {
		const waiting = this.waiting.filter(({ signal }) => !signal?.aborted);
		const largest = Math.max(...waiting.map(({ most }) => most));
		this.waiting = waiting.filter((turn) => this.heldUntil > 0 || !this.begin(turn, largest));
	}

	/** @returns whether the turn began */
	private begin(turn: Turn, largest: number) {
		if (this.counted.length >= largest) return false;
		const countedForTurn = this.counted.filter(({ most }) => most <= turn.most);
		if (countedForTurn.length >= turn.most) return false;
		this.counted.push(turn);
		turn.begin();
		return true;
	}

	private hold(length: number) {
		this.heldUntil = now() + length;
		this.runLater(length, () => (this.heldUntil = 0));
	}

	/** Changes something after some milliseconds, after which waiting requests may begin. */
	private runLater(milliseconds: number, change: () => void) {
		void sleep(milliseconds).then(() => {
			change();
			this.beginWaiting();
		});
	}
}

/** A limiter per account, shared by all senders in this process. */
export class RateLimiters {
	private readonly limiters: Memory<RateLimiter>;

	constructor(
		name: 'creationRates' | 'readRates',
		private readonly rate: Rate,
	) {
		this.limiters = new Memory(name, (limiter) => limiter.isBusy());
	}

	of(account: string): RateLimiter {
		const limiter = this.limiters.get(account) ?? new RateLimiter(this.rate);
		this.limiters.set(account, limiter);
		return limiter;
	}
}
