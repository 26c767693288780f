import { createHash } from 'crypto';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { isUnderway, type HeldResponse } from '../host/delivery';
import { BoundedMap } from '../lib/boundedMap';
import { pause } from '../lib/timers';

/** The most events that a trigger remembers. n8n loads and saves them with each callback. */
export const REMEMBERED_EVENTS = 1_000;

/** The shortest time that an event is remembered, in seconds. Senders usually retry for minutes. */
const REMEMBERED_SECONDS = 3_600;

/**
 * When events were emitted, in seconds since 1970, by trigger. n8n's static data isn't enough:
 * each callback saves all that it read, so simultaneous ones would overwrite each other's events.
 */
const emitted = new Map<string, BoundedMap<string, number>>();

/**
 * The response of the callback that is being processed, by trigger and task. It is held weakly: one
 * that n8n has dropped is never answered, so it must not block the task.
 */
const underway = new Map<string, WeakRef<HeldResponse>>();

/** The events of one task that a trigger has emitted. n8n saves them with the trigger. */
export class TaskEvents {
	private readonly times: BoundedMap<string, number>;
	/** Identifies the task among those of all triggers that run here. */
	private readonly key: string;
	/** Older events are forgotten, in seconds since 1970. */
	private readonly oldest: number;

	/** @param toleranceSeconds an event is remembered for longer than its callback is valid */
	constructor(
		private readonly context: IWebhookFunctions,
		private readonly taskId: string,
		toleranceSeconds: number,
	) {
		const trigger = `${context.getWorkflow().id}:${context.getNode().id}`;
		this.key = `${trigger} ${taskId}`;
		this.oldest = now() - Math.max(REMEMBERED_SECONDS, 2 * toleranceSeconds);
		this.times = emitted.get(trigger) ?? new BoundedMap(REMEMBERED_EVENTS);
		emitted.set(trigger, this.times);
		for (const [digest, time] of readSavedEvents(context))
			if (!this.times.has(digest)) this.times.set(digest, time);
	}

	has(event: string): boolean {
		return (this.times.get(this.digest(event)) ?? 0) >= this.oldest;
	}

	/**
	 * Begins to process a callback of the task, until its response has ended. Waits while a copy of
	 * the callback is processed.
	 * @param until when to stop waiting, in milliseconds since 1970
	 * @returns false if the task has completed, or the copy takes too long
	 */
	async begin(until: number): Promise<boolean> {
		while (isHeld(this.key) && Date.now() < until) await pause(25);
		if (isHeld(this.key) || this.has('taskCompleted')) return false;
		for (const key of underway.keys()) if (!isHeld(key)) underway.delete(key);
		underway.set(this.key, new WeakRef(this.context.getResponseObject()));
		return true;
	}

	/** Remembers an event whose execution n8n has stored. n8n saves this next, and then answers. */
	add(event: string): void {
		this.times.set(this.digest(event), now());
		for (const [oldest, time] of this.times) if (time < this.oldest) this.times.delete(oldest);
		// One text, because n8n wraps each key of an object at each callback.
		const entries = [...this.times].map(([digest, time]) => `${digest}:${time}`);
		staticData(this.context).events = entries.join(' ');
	}

	/** Shortens an event, because task IDs may be long. */
	private digest(event: string): string {
		const hash = createHash('sha256').update(`${this.taskId}:${event}`);
		return hash.digest('base64url').slice(0, 12);
	}
}

/** Reads the events that n8n has saved: their digests, and when they were emitted. */
function readSavedEvents(context: IWebhookFunctions): Array<[digest: string, time: number]> {
	const { events } = staticData(context);
	return [...String(events).matchAll(/([\w-]{12}):(\d+)/g)].map(([, digest = '', time]) => [
		digest,
		Number(time),
	]);
}

function isHeld(key: string): boolean {
	const response = underway.get(key)?.deref();
	return response !== undefined && isUnderway(response);
}

const now = (): number => Math.floor(Date.now() / 1000);

const staticData = (context: IWebhookFunctions): IDataObject =>
	context.getWorkflowStaticData('node');
