import { createHash, randomUUID } from 'crypto';
import type { IDataObject } from 'n8n-workflow';

/**
 * How many events are remembered, per trigger: the newest. n8n loads, wraps and saves all of them with each callback,
 * some 30 bytes for each.
 */
export const REMEMBERED_EVENTS = 1_000;

/** How long an event is remembered, in seconds, at the least: senders retry for minutes. */
export const REMEMBERED_SECONDS = 3_600;

/** What n8n keeps with the trigger: when each event was emitted, by digest, and which process wrote that. */
interface Kept {
	writer: string;
	events: Record<string, number>;
}

/** What this process knows of one trigger. */
interface Memory {
	/** When each event was emitted, in seconds, in the order in which this process came to know of it. */
	times: Map<string, number>;
	/** Those of them whose execution n8n has stored: what n8n is given to save. */
	kept: Kept;
}

/**
 * By trigger. n8n reads static data before a webhook and saves it, whole, after it: of two callbacks at the same time
 * each would undo the other's. So this is what counts here, and n8n is given all of it to save.
 */
const memories = new Map<string, Memory>();

const THIS_PROCESS = randomUUID();

/**
 * The events that a trigger has emitted, across restarts of n8n, bounded in count and age. What a look and an addition
 * cost does not grow with the number of events.
 */
export class RememberedEvents {
	private readonly memory: Memory;

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
	) {
		this.memory = memories.get(trigger) ?? {
			times: new Map(),
			kept: { writer: THIS_PROCESS, events: {} },
		};
		memories.set(trigger, this.memory);
		const kept = staticData.events as unknown as Partial<Kept> | undefined;
		if (kept?.events && kept.writer !== THIS_PROCESS) this.learn(kept.events);
	}

	has(event: string): boolean {
		return (this.memory.times.get(digestOf(event)) ?? -Infinity) >= this.now - this.seconds;
	}

	add(event: string): void {
		const digest = digestOf(event);
		this.remember(digest, this.now);
		const { times, kept } = this.memory;
		this.staticData.events = {
			// n8n makes JSON of this when it has stored the execution. Were the event saved before, by another callback's save,
			// and n8n killed in between, then nothing would have run and the sender's next call be taken for a duplicate.
			toJSON: (): Kept => {
				if (times.has(digest)) kept.events[digest] = this.now;
				return kept;
			},
		} as unknown as IDataObject;
	}

	/**
	 * Says again that there is something to save. n8n forgets it when it starts the execution: it wraps the same static data
	 * anew then, and saves it only after that.
	 */
	save(): void {
		Object.assign(this.staticData, { events: this.staticData.events });
	}

	/** Takes one back that was not emitted after all. */
	remove(event: string): void {
		this.drop(digestOf(event));
	}

	/**
	 * Forgets all, for a trigger that is deactivated. n8n also calls this when it ends listening for a test event, with
	 * static data of its own: what the active trigger remembers then stays.
	 */
	forget(): void {
		if (!this.staticData.events) return;
		memories.delete(this.trigger);
		delete this.staticData.events;
	}

	/** Takes over what was remembered before a restart, or by another process. */
	private learn(events: Kept['events']): void {
		for (const [digest, time] of Object.entries(events))
			if (!this.memory.times.has(digest)) {
				this.remember(digest, time);
				this.memory.kept.events[digest] = time;
			}
	}

	private remember(digest: string, time: number): void {
		const { times } = this.memory;
		this.drop(digest);
		times.set(digest, time);
		for (const [oldest, since] of times) {
			if (times.size <= REMEMBERED_EVENTS && since >= this.now - this.seconds) break;
			this.drop(oldest);
		}
	}

	private drop(digest: string): void {
		this.memory.times.delete(digest);
		delete this.memory.kept.events[digest];
	}
}

/** An event in 16 characters, however long the task id is. */
const digestOf = (event: string): string =>
	createHash('sha256').update(event).digest('base64url').slice(0, 16);
