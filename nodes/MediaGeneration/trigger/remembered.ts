import type { IDataObject } from 'n8n-workflow';

/** How many events are remembered, per trigger. */
export const REMEMBERED_EVENTS = 500;

/** How long an event is remembered, in seconds, at the least: senders retry for minutes. */
export const REMEMBERED_SECONDS = 3600;

type Remembered = Record<string, number>;

/**
 * Events that this process emitted, by trigger: n8n saves a trigger's static data only after its webhook, so copies of
 * one callback that arrive at the same instant would each find it without the other.
 */
const emittedHere = new Map<string, Remembered>();

/** The events that a trigger has emitted, across restarts of n8n, bounded in count and age. */
export class RememberedEvents {
	/**
	 * @param trigger identifies the trigger among all that run here
	 * @param staticData what n8n keeps for the trigger
	 * @param now seconds since 1970
	 */
	constructor(
		private readonly trigger: string,
		private readonly staticData: IDataObject,
		private readonly now: number,
		private readonly seconds = REMEMBERED_SECONDS,
	) {}

	has(event: string): boolean {
		const since = this.now - this.seconds;
		return [this.here, this.kept].some((events) => (events[event] ?? -Infinity) >= since);
	}

	add(event: string): void {
		emittedHere.set(this.trigger, this.recentWith(this.here, event));
		this.staticData.events = this.recentWith(this.kept, event);
	}

	/** Forgets all, for a trigger that is deactivated. */
	forget(): void {
		emittedHere.delete(this.trigger);
		delete this.staticData.events;
	}

	private get here(): Remembered {
		return emittedHere.get(this.trigger) ?? {};
	}

	private get kept(): Remembered {
		return (this.staticData.events as Remembered | undefined) ?? {};
	}

	private recentWith(events: Remembered, event: string): Remembered {
		return Object.fromEntries(
			Object.entries({ ...events, [event]: this.now })
				.filter(([, time]) => time >= this.now - this.seconds)
				.slice(-REMEMBERED_EVENTS),
		);
	}
}
