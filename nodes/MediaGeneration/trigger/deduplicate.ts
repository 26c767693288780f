import { createHash, randomUUID } from 'crypto';
import { sleep, type IDataObject, type IWebhookFunctions } from 'n8n-workflow';
import { BoundedMap } from '../lib/boundedMap';
import { settleBy } from '../lib/timers';
import { ANSWER_LIMIT } from '../callback/respond';

/** How many events are remembered for a trigger: the newest. n8n loads and saves all of them with each callback. */
export const REMEMBERED_EVENTS = 1_000;

/** How long an event is remembered at least, in seconds. Senders usually retry for minutes. */
export const REMEMBERED_SECONDS = 3_600;

/** The part that n8n saves with the trigger. */
interface Saved {
	/** The process that wrote it. */
	writer: string;
	/**
	 * The digest of each event and when it was emitted. It is one text, because n8n wraps each key of an object at each callback.
	 */
	events: string;
}

const DIGEST_LENGTH = 12;
const TIME_LENGTH = 7;
const ENTRY = new RegExp(`(.{${DIGEST_LENGTH}})(.{${TIME_LENGTH}})`, 'g');

/**
 * When each event was emitted, in seconds, by trigger. This counts while the process runs. n8n reads all static data before a
 * webhook and saves all of it afterwards, so two callbacks at the same time would overwrite each other's events.
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

	/** Remembers an event whose execution n8n has stored. n8n saves it after the webhook. */
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
	 * Forgets all events, for a trigger that is deactivated. n8n also calls this when it stops listening for a test event, with
	 * other static data. What the active trigger remembers stays then.
	 */
	forget(): void {
		if (!this.staticData.events) return;
		memories.delete(this.trigger);
		delete this.staticData.events;
	}

	private isFresh(time: number): boolean {
		return time >= this.now - this.seconds;
	}

	/** Reads what was remembered before a restart, or by another process. */
	private learn(events: unknown): void {
		if (typeof events !== 'string') return;
		for (const [, key = '', time = ''] of events.matchAll(ENTRY))
			if (!this.times.has(key)) this.times.set(key, Number.parseInt(time, 36));
	}
}

/** Shortens an event, because task IDs may be long. */
const digest = (event: string): string =>
	createHash('sha256').update(event).digest('base64url').slice(0, DIGEST_LENGTH);

type Response = Pick<
	ReturnType<IWebhookFunctions['getResponseObject']>,
	'closed' | 'writableEnded' | 'statusCode' | 'once'
>;

const PAUSE = 25;

/**
 * Events that a callback is emitting, and since when, in milliseconds since 1970. An event counts as emitted once n8n has stored
 * its execution.
 */
const underway = new BoundedMap<string, number>(10_000);

/** Settles when the newest callback that emits has been answered, by trigger. */
const turns = new Map<string, Promise<void>>();

/** An event of one trigger, which one callback may emit. */
export class Claim {
	private readonly key: string;
	private response?: Response;
	private endTurn = () => {};

	constructor(
		private readonly trigger: string,
		private readonly event: string,
		private readonly remembered: RememberedEvents,
	) {
		this.key = `${trigger}:${event}`;
	}

	/** The event was certainly emitted: n8n has stored its execution. */
	get emitted(): boolean {
		return this.remembered.has(this.event);
	}

	/**
	 * Takes the event for the callback that this response answers. A copy waits while the first is being answered.
	 * @param deadline when to stop waiting, in milliseconds since 1970
	 * @returns `underway` when the first one is not answered in time
	 */
	async take(response: Response, deadline: number): Promise<'taken' | 'emitted' | 'underway'> {
		for (;;) {
			if (this.emitted) return 'emitted';
			// A sender that hangs up, or a response that n8n never ends, must not keep the event from coming out.
			if (Date.now() - (underway.get(this.key) ?? 0) >= ANSWER_LIMIT) break;
			if (Date.now() >= deadline) return 'underway';
			await sleep(PAUSE);
		}
		underway.set(this.key, Date.now());
		this.response = response;
		await this.takeTurn(response, deadline);
		return 'taken';
	}

	/** Notes that n8n has stored the execution. It saves what is remembered next, and then answers. */
	confirm(): void {
		this.remembered.add(this.event);
		underway.delete(this.key);
		if (this.response?.closed) this.endTurn();
	}

	/**
	 * Waits until the callback before has been answered. If n8n is killed between storing an execution and saving its event, the
	 * event runs again when the sender retries. Taking turns limits that to one event.
	 */
	private async takeTurn(response: Response, deadline: number): Promise<void> {
		const before = turns.get(this.trigger);
		const turn = new Promise<void>((resolve) => (this.endTurn = resolve));
		turns.set(this.trigger, turn);
		response.once('close', () => {
			if (!response.writableEnded) return;
			// n8n answered with a refusal: it could not store the execution.
			if (response.statusCode !== 200) underway.delete(this.key);
			this.endTurn();
		});
		if (before) await settleBy(deadline, before);
	}
}
