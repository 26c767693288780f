import { sleep } from 'n8n-workflow';

/** Limits of how fast a service is asked. Times are in milliseconds. */
export interface RateLimits {
	/** The number of requests that may start within a period; Infinity: any number. */
	requests: number;
	period: number;
	/** How long to wait out refusals for the rate, from the first on. */
	patience: number;
	/** Recognizes the error of a request that came too fast and did nothing. */
	isTooFast: (error: unknown) => boolean;
}

const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 10_000;

/** Holds requests to a rate, and holds all back while the service refuses them for it. */
export class RateLimiter {
	private readonly starts: number[] = [];
	private heldUntil = 0;
	private pause = FIRST_PAUSE;
	private firstRefusal = Infinity;

	/**
	 * @param signal starts no request any more when it is aborted
	 * @throws {RangeError} when the number of requests is not above 0
	 */
	constructor(
		private readonly limits: RateLimits,
		private readonly signal?: AbortSignal,
	) {
		const { requests } = limits;
		if (!(requests > 0)) throw new RangeError(`requests must be above 0, not ${requests}`);
	}

	/** Sends a request when its turn comes, and again after refusals for the rate. */
	async run<T>(request: () => Promise<T>): Promise<T> {
		for (;;) {
			await this.takeTurn();
			const [answer] = await Promise.allSettled([request()]);
			if (answer.status === 'fulfilled') {
				this.firstRefusal = Infinity;
				this.pause = FIRST_PAUSE;
				return answer.value;
			}
			if (!this.limits.isTooFast(answer.reason) || !this.holdBack()) throw answer.reason;
		}
	}

	private async takeTurn(): Promise<void> {
		const { requests, period } = this.limits;
		for (;;) {
			this.signal?.throwIfAborted();
			const now = Date.now();
			while (this.starts[0] !== undefined && this.starts[0] <= now - period) this.starts.shift();
			const free = (this.starts.at(-requests) ?? -Infinity) + period;
			const next = Math.max(free, this.heldUntil);
			if (next <= now) return void this.starts.push(now);
			await sleep(next - now);
		}
	}

	/** @returns false once patience has run out */
	private holdBack(): boolean {
		const now = Date.now();
		this.firstRefusal = Math.min(this.firstRefusal, now);
		if (now + this.pause - this.firstRefusal > this.limits.patience) return false;
		if (this.heldUntil <= now) {
			this.heldUntil = now + this.pause * (1 + Math.random() / 4);
			this.pause = Math.min(this.pause * 1.5, LONGEST_PAUSE);
		}
		return true;
	}
}
