import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { isUnderway, type HeldResponse } from '../host/webhook';
import { digest } from '../lib/json';
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
const underway = new Memory<WeakRef<HeldResponse>>('callbacks', isHeld);

function isHeld(held?: WeakRef<HeldResponse>): boolean {
	const response = held?.deref();
	return response !== undefined && isUnderway(response);
}

/** The events of one task that a trigger has emitted. n8n saves them with the trigger. */
export class TaskEvents {
	private readonly emitted: Memory<true>;
	private readonly saved: IDataObject;
	/** Identifies the task among those of all triggers that run here. */
	private readonly key: string;

	constructor(
		private readonly context: IWebhookFunctions,
		private readonly taskId: string,
	) {
		const trigger = `${context.getWorkflow().id}:${context.getNode().id}`;
		this.key = `${trigger} ${taskId}`;
		this.saved = context.getWorkflowStaticData('node');
		this.emitted = emitted.get(trigger) ?? new Memory('events');
		emitted.set(trigger, this.emitted);
		for (const event of String(this.saved.events).match(/[\w-]{22}/g) ?? [])
			if (!this.emitted.get(event)) this.emitted.set(event, true);
	}

	has(event: string): boolean {
		return this.emitted.get(this.shorten(event)) ?? false;
	}

	/**
	 * Begins to process a callback of the task, until its response has ended. Waits while a copy of
	 * the callback is processed.
	 * @param until when to stop waiting, in milliseconds since 1970
	 * @returns why it isn't processed. Completed is final, but a failed task may still complete.
	 */
	async begin(until: number): Promise<'duplicate' | 'underway' | undefined> {
		while (isHeld(underway.get(this.key)) && Date.now() < until) await pause(25);
		if (this.has('taskCompleted')) return 'duplicate';
		if (isHeld(underway.get(this.key))) return 'underway';
		underway.set(this.key, new WeakRef(this.context.getResponseObject()));
		return undefined;
	}

	/** Remembers an event whose execution n8n has stored. n8n saves this next, and then answers. */
	add(event: string): void {
		this.emitted.set(this.shorten(event), true);
		// One text, because n8n wraps each key of an object at each callback.
		this.saved.events = [...this.emitted.keys()].join(' ');
	}

	/** Task IDs may be long. */
	private shorten(event: string): string {
		return digest([this.taskId, event]);
	}
}
