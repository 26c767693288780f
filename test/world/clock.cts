/** Ends the real work that is under way: promises, streams, and what they begin. */
const settle = async () => await new Promise<void>((resolve) => setImmediate(resolve));

interface Timer {
	at: number;
	run: () => void;
}

/** Some ten times what a world needs. Without a maximum, a test would hang, and nobody would know which test. */
const MAX_TIMERS = 20_000;

/** The time of a world, in milliseconds since 1970. It stands still while something works. */
export class Clock {
	/** Sorted by time; of the same time, the timer that was set first comes first. */
	private timers: Timer[] = [];
	private timersRun = 0;

	constructor(public now = 1e12) {}

	/** Runs a function later. @returns a function that cancels the timer */
	after(milliseconds: number, run: () => void): () => void {
		const timer = { at: this.now + Math.max(0, milliseconds || 0), run };
		const later = this.timers.findIndex(({ at }) => at > timer.at);
		this.timers.splice(later < 0 ? this.timers.length : later, 0, timer);
		return () => void (this.timers = this.timers.filter((one) => one !== timer));
	}

	async pause(milliseconds: number): Promise<void> {
		await new Promise<void>((resolve) => this.after(milliseconds, resolve));
	}

	/** Lets time pass until a moment. Ends earlier if no timer is left, or `goesOn` returns false. */
	async runUntil(moment: number, goesOn = () => true): Promise<void> {
		await settle();
		while ((this.timers[0]?.at ?? Infinity) <= moment && goesOn()) {
			if (++this.timersRun > MAX_TIMERS)
				throw new Error(`"${expect.getState().currentTestName}" goes on for ever`);
			const { at, run } = this.timers.shift() as Timer;
			this.now = at;
			run();
			await settle();
		}
		if (goesOn()) this.now = Math.max(this.now, moment);
	}

	async pass(milliseconds: number): Promise<void> {
		await this.runUntil(this.now + milliseconds);
	}
}
