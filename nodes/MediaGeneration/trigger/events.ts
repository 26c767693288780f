import type { IWebhookFunctions } from 'n8n-workflow';
import type { Refused } from '../callback/refusals';
import { isUnderway, type HeldResponse } from '../host/webhookRequest';
import { digest } from '../lib/json';
import { Memory } from '../lib/memory';
import { pause } from '../lib/timers';

/**
 * The events that were output, by trigger. n8n's static data isn't enough: each callback saves all
 * events that it read, so simultaneous callbacks would overwrite each other's events.
 */
const triggers = new Memory<Memory<true>>('triggers');

/**
 * The response of the callback that is being processed, by trigger and task. It is held weakly: if n8n
 * drops the response, nobody ever ends it, so it must not block the task.
 */
const underway = new Memory<WeakRef<HeldResponse>>('callbacks', isHeld);

function isHeld(held?: WeakRef<HeldResponse>): boolean {
	const response = held?.deref();
	return response !== undefined && isUnderway(response);
}

/** Why a callback starts nothing, though it is accepted. */
export interface Ignored {
	ignored: 'duplicate' | 'taskNotEnded' | 'eventNotWanted';
}

/** The events of a task whose callback is being processed. */
interface TaskEvents {
	/** Says whether an event was output before. */
	isKnown: (event: string) => boolean;
	/** Remembers an event whose execution n8n has stored. n8n saves the event next, and then answers. */
	remember: (event: string) => void;
}

/**
 * Begins to process a callback of a task, once no copy of the callback is being processed. Further
 * copies wait until the response of this callback has ended. Nothing is saved unless an event is
 * remembered: for each change, n8n writes to its database, and anyone can send callbacks.
 * @param answerBy when to stop waiting, in milliseconds since 1970
 * @returns why the callback isn't processed, or the events of its task
 */
export async function beginCallback(
	context: IWebhookFunctions,
	taskId: string,
	answerBy: number,
): Promise<Refused | Ignored | TaskEvents> {
	// A test listens for one event, so its callback is never a copy.
	if (context.getMode() === 'manual') return { isKnown: () => false, remember: () => {} };
	const trigger = `${context.getWorkflow().id}:${context.getNode().id}`;
	const saved = context.getWorkflowStaticData('node');
	const events = triggers.get(trigger) ?? new Memory('events');
	triggers.set(trigger, events);
	for (const event of String(saved.events).match(/[\w-]{22}/g) ?? [])
		if (!events.get(event)) events.set(event, true);
	// A digest, because task IDs may be long.
	const shorten = (event: string) => digest([taskId, event]);
	const isKnown = (event: string) => events.get(shorten(event)) ?? false;
	const key = `${trigger} ${taskId}`;
	while (isHeld(underway.get(key)) && Date.now() < answerBy) await pause(25);
	// Completed is final, but a failed task may still complete.
	if (isKnown('taskCompleted')) return { ignored: 'duplicate' };
	if (isHeld(underway.get(key))) return { reason: 'underway' };
	underway.set(key, new WeakRef(context.getResponseObject()));
	const remember = (event: string) => {
		events.set(shorten(event), true);
		// Saved as one text, because n8n wraps each key of a saved object in a proxy at each callback.
		saved.events = [...events.keys()].join(' ');
	};
	return { isKnown, remember };
}
