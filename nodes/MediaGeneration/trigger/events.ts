import { createHash } from 'crypto';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { isUnderway, type HeldResponse } from '../host/delivery';
import { Memory } from '../lib/memory';
import { pause } from '../lib/timers';

/**
 * The events that were emitted, by trigger. n8n's static data isn't enough: each callback saves all
 * that it read, so simultaneous ones would overwrite each other's events.
 */
const emitted = new Memory<Memory<true>>('triggers');

/**
 * The response of the callback that is being processed, by trigger and task. It is held weakly: one
 * that n8n has dropped is never answered, so it must not block the task.
 */
const underway = new Memory<WeakRef<HeldResponse>>('callbacks', isHeldBy);

/** The events of one task that a trigger has emitted. n8n saves them with the trigger. */
export class TaskEvents {
	private readonly digests: Memory<true>;
	/** Identifies the task among those of all triggers that run here. */
	private readonly key: string;

	constructor(
		private readonly context: IWebhookFunctions,
		private readonly taskId: string,
	) {
		const trigger = `${context.getWorkflow().id}:${context.getNode().id}`;
		this.key = `${trigger} ${taskId}`;
		this.digests = emitted.get(trigger) ?? new Memory('events');
		emitted.set(trigger, this.digests);
		for (const digest of readSavedEvents(context))
			if (!this.digests.get(digest)) this.digests.set(digest, true);
	}

	has(event: string): boolean {
		return this.digests.get(this.digest(event)) ?? false;
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
		underway.set(this.key, new WeakRef(this.context.getResponseObject()));
		return true;
	}

	/** Remembers an event whose execution n8n has stored. n8n saves this next, and then answers. */
	add(event: string): void {
		this.digests.set(this.digest(event), true);
		// One text, because n8n wraps each key of an object at each callback.
		staticData(this.context).events = [...this.digests.keys()].join(' ');
	}

	/** Shortens an event, because task IDs may be long. */
	private digest(event: string): string {
		const hash = createHash('sha256').update(`${this.taskId}:${event}`);
		return hash.digest('base64url').slice(0, 12);
	}
}

/** Reads the digests that n8n has saved. Earlier builds wrote the time of the event behind each. */
function readSavedEvents(context: IWebhookFunctions): string[] {
	const { events } = staticData(context);
	return String(events).match(/[\w-]{12}(?=:|\s|$)/g) ?? [];
}

const isHeld = (key: string): boolean => isHeldBy(underway.get(key));

function isHeldBy(held?: WeakRef<HeldResponse>): boolean {
	const response = held?.deref();
	return response !== undefined && isUnderway(response);
}

const staticData = (context: IWebhookFunctions): IDataObject =>
	context.getWorkflowStaticData('node');
