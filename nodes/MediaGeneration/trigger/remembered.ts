import { createHash, randomUUID } from 'crypto';
import type { IDataObject } from 'n8n-workflow';
import { BoundedMap } from '../api/boundedMap';

/** So many events are remembered for a trigger, the newest ones. n8n loads and saves all of them with each callback. */
export const REMEMBERED_EVENTS = 1_000;

/** An event is remembered for at least so long, in seconds. Senders retry for minutes. */
export const REMEMBERED_SECONDS = 3_600;

/** The part that n8n saves with the trigger. */
interface Saved {
	/** The process that wrote it. */
	writer: string;
	/** The digest of each event and when it was emitted, in one text: n8n wraps each key of an object, at each callback. */
	events: string;
}

const DIGEST_LENGTH = 12;
const TIME_LENGTH = 7;
const ENTRY = new RegExp(`(.{${DIGEST_LENGTH}})(.{${TIME_LENGTH}})`, 'g');

/**
 * By trigger, when each event was emitted, in seconds. This is what counts while the process runs: n8n reads static data
 * before a webhook and saves it after it, whole, so that of two callbacks at the same time each would undo the other's.
 */
const memories = new Map<string, BoundedMap<string, number>>();

const THIS_PROCESS = randomUUID();

/** The events that a trigger has emitted, across restarts of n8n, bounded in count and age. */
export class RememberedEvents {
	private readonly times: BoundedMap<string, number>;

	/**
	 * @param trigger identifies the trigger among all that run here
	 * @param staticData what n8n saves for the trigger
	 * @param now seconds since 1970
	 */
	constructor(
		private readonly trigger: string,
		private readonly staticData: IDataObject,
		private readonly now: number,
		private readonly seconds = REMEMBERED_SECONDS,
	) {
		this.times = memories.get(trigger) ?? new BoundedMap(REMEMBERED_EVENTS);
		memories.set(trigger, this.times);
		const saved = staticData.events as unknown as Partial<Saved> | undefined;
		if (saved?.writer !== THIS_PROCESS) this.learn(saved?.events);
	}

	has(event: string): boolean {
		return this.isFresh(this.times.get(digest(event)) ?? -Infinity);
	}

	/** Remembers an event whose execution n8n has stored, and has n8n save it. */
	add(event: string): void {
		this.times.set(digest(event), this.now);
		for (const [oldest, time] of this.times) {
			if (this.isFresh(time)) break;
			this.times.delete(oldest);
		}
		const events = [...this.times].map(
			([key, time]) => key + time.toString(36).padStart(TIME_LENGTH, '0'),
		);
		this.staticData.events = { writer: THIS_PROCESS, events: events.join('') } satisfies Saved;
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

	private isFresh(time: number): boolean {
		return time >= this.now - this.seconds;
	}

	/** Takes over what was remembered before a restart, or by another process. */
	private learn(events: unknown): void {
		if (typeof events !== 'string') return;
		for (const [, key = '', time = ''] of events.matchAll(ENTRY))
			if (!this.times.has(key)) this.times.set(key, Number.parseInt(time, 36));
	}
}

/** An event in a few characters, however long the task ID is. */
const digest = (event: string): string =>
	createHash('sha256').update(event).digest('base64url').slice(0, DIGEST_LENGTH);
