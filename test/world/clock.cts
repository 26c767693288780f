/** Ends the real work that is under way: promises, streams, and what they begin. */
const settle = async () => await new Promise<void>((resolve) => setImmediate(resolve));

interface Timer {
	at: number;
	run: () => void;
}

/** Some ten times what a world needs: its test would hang, and nobody would know which one. */
const MAX_STEPS = 20_000;

/** The time of a world, in milliseconds since 1970. It stands still while something works. */
export class Clock {
	/** In the order of their times; of the same time, the one that was set first. */
	private timers: Timer[] = [];
	private steps = 0;

	constructor(public now = 1e12) {}

	/** Runs a function later. @returns one that cancels that */
	after(milliseconds: number, run: () => void): () => void {
		const timer = { at: this.now + Math.max(0, milliseconds || 0), run };
		const later = this.timers.findIndex(({ at }) => at > timer.at);
		this.timers.splice(later < 0 ? this.timers.length : later, 0, timer);
		return () => void (this.timers = this.timers.filter((one) => one !== timer));
	}

	async pause(milliseconds: number): Promise<void> {
		await new Promise<void>((resolve) => this.after(milliseconds, resolve));
	}

	/** Lets time pass until this moment, or as long as something is to come and `goesOn` says so. */
	async runUntil(moment: number, goesOn = () => true): Promise<void> {
		await settle();
		while ((this.timers[0]?.at ?? Infinity) <= moment && goesOn()) {
			if (++this.steps > MAX_STEPS)
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
