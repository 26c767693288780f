import { sleep, type IWebhookFunctions } from 'n8n-workflow';
import { BoundedMap } from '../api/boundedMap';
import { ANSWER_LIMIT } from '../callback/respond';
import type { RememberedEvents } from './remembered';

type Response = Pick<
	ReturnType<IWebhookFunctions['getResponseObject']>,
	'closed' | 'writableEnded' | 'statusCode' | 'once'
>;

const PAUSE = 25;

/**
 * Events that a callback is emitting, and since when, in milliseconds since 1970. Until n8n has stored its execution, nobody
 * knows whether the event is emitted.
 */
const underway = new BoundedMap<string, number>(10_000);

/** By trigger, settles when the callback that emits now has been answered. */
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

	/** The event was emitted for sure: n8n has stored its execution. */
	get emitted(): boolean {
		return this.remembered.has(this.event);
	}

	/**
	 * Takes the event for the callback that this response answers. A copy waits while the first is being answered.
	 * @param deadline until when to wait, in milliseconds since 1970
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
	 * Waits until the event before has been answered. If n8n is killed after it has stored an execution and before it has saved
	 * that the event was emitted, the event runs again when the sender retries. One after the other, that can happen to one event at the most.
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
		if (before) await Promise.race([before, sleep(Math.max(0, deadline - Date.now()))]);
	}
}
