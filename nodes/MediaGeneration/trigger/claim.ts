import { sleep, type IWebhookFunctions } from 'n8n-workflow';
import type { RememberedEvents } from './remembered';

type Response = Pick<
	ReturnType<IWebhookFunctions['getResponseObject']>,
	'writableEnded' | 'statusCode' | 'once'
>;

const PAUSE = 25;

/** How long an answer of n8n's is waited for, in milliseconds: senders have given up and call again long before. */
const ANSWER_LIMIT = 60_000;

/**
 * By event, the response to the callback that emits it, until n8n has given it: n8n answers when it has stored the
 * execution, or with a refusal when it could not. Until then nobody knows whether the event is emitted.
 */
const underway = new Map<string, { response: Response; since: number }>();

/** By trigger, settles when the callback that emits now has been answered. */
const turns = new Map<string, Promise<unknown>>();

/** An event of one trigger, which one callback may emit. */
export class Claim {
	private readonly key: string;

	constructor(
		private readonly trigger: string,
		private readonly event: string,
		private readonly remembered: RememberedEvents,
	) {
		this.key = `${trigger}:${event}`;
	}

	/** Whether the event was emitted, for sure: n8n has stored its execution. */
	get emitted(): boolean {
		this.settle();
		return !underway.has(this.key) && this.remembered.has(this.event);
	}

	/**
	 * Takes the event for the callback that this response answers. A copy of one that is being answered waits.
	 * @param deadline until when to wait, in milliseconds since 1970
	 * @returns `underway` when the first one is not answered in time: nobody knows yet
	 */
	async take(response: Response, deadline: number): Promise<'taken' | 'emitted' | 'underway'> {
		for (;;) {
			if (this.emitted) return 'emitted';
			if (!underway.has(this.key)) break;
			if (Date.now() >= deadline) return 'underway';
			await sleep(PAUSE);
		}
		this.remembered.add(this.event);
		underway.set(this.key, { response, since: Date.now() });
		response.once('close', () => this.settle());
		await this.turn(response, deadline);
		return 'taken';
	}

	/**
	 * Waits until the event before has been answered. n8n saves what is remembered just before it answers: were it killed in
	 * between, a callback that was not answered would be a duplicate when it comes again, and its one execution a crashed
	 * one. One after the other, that can be true of one event at the most.
	 */
	private async turn(response: Response, deadline: number): Promise<void> {
		const before = turns.get(this.trigger);
		const answered = new Promise<void>((resolve) => response.once('close', () => resolve()));
		turns.set(this.trigger, answered);
		if (before) await Promise.race([before, sleep(Math.max(0, deadline - Date.now()))]);
	}

	/**
	 * A sender that hangs up closes the response while n8n still works on it: only an ended one says what became of it. One
	 * that n8n never ends says nothing, and must not keep the event from coming out.
	 */
	private settle(): void {
		const claimed = underway.get(this.key);
		if (!claimed) return;
		const { response, since } = claimed;
		if (!response.writableEnded && Date.now() - since < ANSWER_LIMIT) return;
		underway.delete(this.key);
		if (!response.writableEnded || response.statusCode !== 200) this.remembered.remove(this.event);
	}
}
