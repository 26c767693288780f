import { sleep, type IWebhookFunctions } from 'n8n-workflow';
import type { RememberedEvents } from './remembered';

type Response = Pick<
	ReturnType<IWebhookFunctions['getResponseObject']>,
	'writableEnded' | 'statusCode' | 'once'
>;

/** How long a copy of a callback waits for the answer to the first, in milliseconds: senders give up after 5 seconds. */
const PATIENCE = 4_000;
const PAUSE = 25;

/** Callbacks that are being answered, at the most; more than n8n takes at the same time. */
const LIMIT = 1_000;

/**
 * By event, the response to the callback that emits it, until n8n has given it: n8n answers when it has stored the
 * execution, or with a refusal when it could not. Until then nobody knows whether the event is emitted.
 */
const underway = new Map<string, Response>();

/** An event of one trigger, which one callback may emit. */
export class Claim {
	private readonly key: string;

	constructor(
		trigger: string,
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
	 * @returns `underway` when the first one is not answered in time: nobody knows yet
	 */
	async take(response: Response): Promise<'taken' | 'emitted' | 'underway'> {
		for (let waited = 0; ; waited += PAUSE) {
			if (this.emitted) return 'emitted';
			if (!underway.has(this.key)) break;
			if (waited >= PATIENCE) return 'underway';
			await sleep(PAUSE);
		}
		this.remembered.add(this.event);
		underway.set(this.key, response);
		const [oldest] = underway.keys();
		if (underway.size > LIMIT && oldest !== undefined) underway.delete(oldest);
		response.once('close', () => this.settle());
		return 'taken';
	}

	/** A sender that hangs up closes the response while n8n still works on it: only an ended one says what became of it. */
	private settle(): void {
		const response = underway.get(this.key);
		if (!response?.writableEnded) return;
		underway.delete(this.key);
		if (response.statusCode !== 200) this.remembered.remove(this.event);
	}
}
