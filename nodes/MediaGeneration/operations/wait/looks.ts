import { sign } from '../../callback/verify';
import { BoundedMap } from '../../lib/boundedMap';
import { runAfter } from '../../lib/timers';

/**
 * Looks that this process sends to the resume URL of an execution that it parked, or whose callback it took. A callback is the fast
 * way to notice the end of a task, but it can get lost. n8n answers 409 to a callback until it has stored the parked execution, and
 * a service may never send it again. When the wait ends, n8n outputs the parked items without asking the node. The look at the
 * limit comes before that, so the node outputs what has ended.
 */

/** Marks a look among callbacks. A look can do no more than a callback, so it needs no protection. */
export const LOOK = 'look';

/** The time before the first look, in milliseconds, and the growth of the pauses after it. */
const FIRST_PAUSE = 30_000;
const GROWTH = 3;

/** The pause between looks from the wait limit on, in milliseconds, and how long they continue if the first does not deliver. */
const LATE_PAUSE = 4_000;
const LATE_FOR = 26_000;

/** The timeout of a look, in milliseconds. */
const ANSWER_WITHIN = 30_000;

/** n8n's statuses for an execution that no longer waits, or not for this task. */
const GONE = new Set([404, 409, 410]);

export interface LookTarget {
	/** The resume URL, with n8n's token. */
	url: string;
	/** A task of the batch. */
	taskId: string;
	/** Signs the looks like callbacks; absent if callbacks are not signed. */
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

	/** Starts again with the first pause, after a callback was taken whose task could not be read. */
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

/** Sends looks for a waiting execution, unless this process sends some already. */
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
