import { sleep, type INodeProperties } from 'n8n-workflow';

/** The period in which the service counts requests, in milliseconds. */
const WINDOW = 10_000;

/** How long refusals for the rate are waited out, from the first to the last, in milliseconds. */
export const REFUSAL_BUDGET = 60_000;

const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 10_000;

/** In Options: how fast tasks are created. */
export const rateOption: INodeProperties = {
	displayName: 'Tasks per 10 Seconds',
	name: 'tasksPer10Seconds',
	type: 'number',
	typeOptions: { minValue: 0, numberPrecision: 0 },
	default: 18,
	description:
		'How many tasks are created within ten seconds at the most; 0 sets no limit. Services of this kind refuse more than 20.',
};

export const concurrencyOption: INodeProperties = {
	displayName: 'Concurrency',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 5,
	description: 'How many tasks are created at the same time',
};

/** Holds requests to a rate, and holds all of them back while the service refuses them for their rate. */
export class RateLimiter {
	private readonly starts: number[] = [];
	private heldUntil = 0;
	private pause = FIRST_PAUSE;
	private firstRefusal = Infinity;

	/**
	 * @param requestsPerWindow how many may start within 10 seconds; 0: any number
	 * @param isRateLimited recognizes the error of a request that was refused for its rate: only that one is sent again
	 * @param signal starts no request any more when it is aborted
	 */
	constructor(
		private readonly requestsPerWindow: number,
		private readonly isRateLimited: (error: unknown) => boolean,
		private readonly signal?: AbortSignal,
	) {}

	/** Sends a request when its turn comes, and again after a refusal for the rate, until refusals have used up their budget. */
	async run<T>(request: () => Promise<T>): Promise<T> {
		for (;;) {
			await this.takeTurn();
			const answer = await request().then(
				(result) => ({ result }),
				(error: unknown) => ({ error }),
			);
			if ('error' in answer) {
				if (this.isRateLimited(answer.error) && this.holdBack()) continue;
				throw answer.error;
			}
			this.firstRefusal = Infinity;
			this.pause = FIRST_PAUSE;
			return answer.result;
		}
	}

	private async takeTurn(): Promise<void> {
		for (;;) {
			this.signal?.throwIfAborted();
			const now = Date.now();
			while (this.starts[0] !== undefined && this.starts[0] <= now - WINDOW) this.starts.shift();
			const isFull = this.requestsPerWindow > 0 && this.starts.length >= this.requestsPerWindow;
			const free = isFull ? (this.starts[0] ?? 0) + WINDOW : now;
			const next = Math.max(free, this.heldUntil);
			if (next <= now) {
				if (this.requestsPerWindow > 0) this.starts.push(now);
				return;
			}
			await sleep(next - now);
		}
	}

	/** @returns false once refusals have used up their budget */
	private holdBack(): boolean {
		const now = Date.now();
		this.firstRefusal = Math.min(this.firstRefusal, now);
		if (now + this.pause - this.firstRefusal > REFUSAL_BUDGET) return false;
		if (this.heldUntil <= now) {
			this.heldUntil = now + this.pause * (1 + Math.random() / 4);
			this.pause = Math.min(this.pause * 1.5, LONGEST_PAUSE);
		}
		return true;
	}
}
