import { createHash } from 'crypto';
import { sleep, type IDataObject, type IHookFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { isUnderway, type HeldResponse } from '../host/delivery';
import { BoundedMap } from '../lib/boundedMap';

/** How many events of a trigger are remembered. n8n loads and saves them with each callback. */
export const REMEMBERED_EVENTS = 1_000;

/** How long an event is remembered at least, in seconds. Senders usually retry for minutes. */
const REMEMBERED_SECONDS = 3_600;

/**
 * When events were emitted, in seconds since 1970, by trigger. In n8n's static data alone,
 * callbacks at the same time would overwrite each other's: each saves all that it read before.
 */
const emitted = new Map<string, BoundedMap<string, number>>();

/**
 * The response of the callback that is being processed, by trigger and task. A response that n8n
 * has dropped is collected: nobody will answer it.
 */
const underway = new Map<string, WeakRef<HeldResponse>>();

/** The events of a callback's task at one trigger. n8n saves them with the trigger. */
export class TaskEvents {
	private readonly times: BoundedMap<string, number>;
	/** Identifies the task among those of all triggers that run here. */
	private readonly key: string;
	/** What is older is forgotten. */
	private readonly oldest: number;

	/** @param toleranceSeconds an event is remembered longer than its callback is valid */
	constructor(
		private readonly context: IWebhookFunctions,
		private readonly taskId: string,
		toleranceSeconds: number,
	) {
		const trigger = identifyTrigger(context);
		this.key = `${trigger} ${taskId}`;
		this.oldest = now() - Math.max(REMEMBERED_SECONDS, 2 * toleranceSeconds);
		this.times = emitted.get(trigger) ?? new BoundedMap(REMEMBERED_EVENTS);
		emitted.set(trigger, this.times);
		const saved = String(staticData(context).events).matchAll(/([\w-]{12}):(\d+)/g);
		for (const [, event = '', time] of saved)
			if (!this.times.has(event)) this.times.set(event, Number(time));
	}

	has(event: string): boolean {
		return (this.times.get(this.digest(event)) ?? 0) >= this.oldest;
	}

	/**
	 * Begins to process a callback of the task, until its response has ended. A copy waits while
	 * another one is processed.
	 * @param until when to stop waiting, in milliseconds since 1970
	 * @returns false if the task has completed, or the other one takes too long
	 */
	async begin(until: number): Promise<boolean> {
		while (isHeld(this.key) && Date.now() < until) await sleep(25);
		if (isHeld(this.key) || this.has('taskCompleted')) return false;
		for (const key of underway.keys()) if (!isHeld(key)) underway.delete(key);
		underway.set(this.key, new WeakRef(this.context.getResponseObject()));
		return true;
	}

	/** Notes that n8n has stored the event's execution. n8n saves this next, and then answers. */
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

/** Forgets the events of a deactivated trigger, or of a test, which has its own static data. */
export function forgetEvents(context: IHookFunctions): void {
	emitted.delete(identifyTrigger(context));
	delete staticData(context).events;
}

function isHeld(key: string): boolean {
	const response = underway.get(key)?.deref();
	return response !== undefined && isUnderway(response);
}

const now = (): number => Math.floor(Date.now() / 1000);

const staticData = (context: IWebhookFunctions | IHookFunctions): IDataObject =>
	context.getWorkflowStaticData('node');

const identifyTrigger = (context: IWebhookFunctions | IHookFunctions): string =>
	`${context.getWorkflow().id}:${context.getNode().id}`;
