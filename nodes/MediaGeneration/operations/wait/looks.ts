import { sign } from '../../callback/signature';
import { BoundedMap } from '../../lib/boundedMap';
import { runAfter } from '../../lib/runAfter';

/**
 * Looks that this process sends to the resume URL of an execution that it parked, or for which it took a callback. A callback is
 * the fast way to notice the end of a task, and a look the sure one: n8n answers 409 to a callback that comes before it has stored
 * the parked execution, a service may never send a callback again, and when the wait limit passes n8n outputs the
 * parked items without asking the node. The look at the limit comes before that, and has the node output what has ended.
 */

/** Marks a look among callbacks. It asks for nothing that a callback does not, so nobody gains by claiming it. */
export const LOOK = 'look';

/** The milliseconds before the first look, and the growth of the pauses after it. */
const FIRST_PAUSE = 30_000;
const GROWTH = 3;

/** The pause between looks from the wait limit on, in milliseconds, and for how long they go on, should the first not deliver. */
const LATE_PAUSE = 4_000;
const LATE_FOR = 26_000;

/** The milliseconds that n8n gets to answer a look. */
const ANSWER_WITHIN = 30_000;

/** n8n's answers that mean that the execution waits no more, or not for this. */
const GONE = new Set([404, 409, 410]);

export interface LookTarget {
	/** The resume URL, with n8n's token. */
	url: string;
	/** A task of the batch. */
	taskId: string;
	/** Signs the looks like callbacks; absent where callbacks are not signed. */
	secret?: string;
	/** The wait limit, in milliseconds since 1970. */
	until: number;
}

export interface LookTools {
	/** Sends a look. @returns the answer's HTTP status, and whether the execution continues */
	send: (target: LookTarget) => Promise<{ status: number; resumed?: boolean }>;
	after: typeof runAfter;
	/** Milliseconds since 1970. */
	now: () => number;
}

const tools: LookTools = {
	send: async ({ url, taskId, secret }) => {
		const timestamp = String(Math.floor(Date.now() / 1000));
		const response = await fetch(url, {
			method: 'POST',
			redirect: 'error',
			headers: {
				'Content-Type': 'application/json',
				...(secret !== undefined && {
					'X-Webhook-Timestamp': timestamp,
					'X-Webhook-Signature': sign(taskId, timestamp, secret),
				}),
			},
			body: JSON.stringify({ data: { task_id: taskId, callbackType: LOOK } }),
			signal: AbortSignal.timeout(ANSWER_WITHIN),
		});
		const { resumed } = (await response.json()) as { resumed?: boolean };
		return { status: response.status, resumed };
	},
	after: runAfter,
	now: () => Date.now(),
};

/** The looks of an execution that waits. */
export class Looks {
	private isStopped = false;
	/** Counts the timers that were set; only the last one counts. */
	private timers = 0;
	private pause = FIRST_PAUSE;

	constructor(
		readonly target: LookTarget,
		private readonly onEnd: () => void = () => {},
		private readonly use: LookTools = tools,
	) {
		this.schedule();
	}

	/** Begins anew with the first pause, where something that was taken could not be looked at. */
	restart(): void {
		this.pause = FIRST_PAUSE;
		this.schedule();
	}

	stop(): void {
		if (!this.isStopped) this.onEnd();
		this.isStopped = true;
	}

	private schedule(): void {
		const timer = ++this.timers;
		const left = this.target.until - this.use.now();
		if (left <= -LATE_FOR) this.stop();
		if (this.isStopped) return;
		const pause = left > 0 ? Math.min(this.pause, left) : LATE_PAUSE;
		this.pause *= GROWTH;
		this.use.after(pause, () => {
			if (timer === this.timers && !this.isStopped) void this.look();
		});
	}

	private async look(): Promise<void> {
		const answer = await this.use.send(this.target).catch(() => undefined);
		if (answer && (answer.resumed || GONE.has(answer.status))) this.stop();
		else this.schedule();
	}
}

/** The looks of this process, by execution and node. */
const sent = new BoundedMap<string, Looks>(10_000);

/** Sends looks for a waiting execution, unless this process does so already. */
export function startLooks(key: string, target: LookTarget): Looks {
	const known = sent.get(key);
	if (known?.target.until === target.until) return known;
	known?.stop();
	const looks: Looks = new Looks(target, () => {
		if (sent.get(key) === looks) sent.delete(key);
	});
	sent.set(key, looks);
	return looks;
}
