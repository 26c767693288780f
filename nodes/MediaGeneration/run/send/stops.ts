import { UserError } from 'n8n-workflow';
import { factsOf, isOfKind, type ServiceError } from '../../api/failure';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { growPauses, pause } from '../../lib/timers';
import { UnknownCounts, type Ledger } from '../ledger/ledger';
import { findNext } from '../output/errors';
import type { Run } from '../run';
import { MAX_TIME_WHILE_FULL, PAUSES_WHILE_FULL, planWait } from '../timetable';

/** The number of unknown outcomes in a row after which nothing more is sent. */
const MOST_UNKNOWN = 3;

/** The same of those that may be rejections, without a task between them. */
const MOST_PERHAPS_REJECTED = 10;

/**
 * Decides whether further creations of an account make sense: they don't once they would fail too, or
 * might be paid without a result. Earlier tries and runs of the execution count too.
 */
export class CreationGuard {
	/** Why nothing more is sent, and what to do. */
	reason?: UserError;

	/** @param counts what the ledger has of the account */
	constructor(private readonly counts: UnknownCounts) {
		this.stopInDoubt();
	}

	noteCreated(): void {
		Object.assign(this.counts, { inARow: 0, perhapsRejected: 0 });
	}

	/** Notes a creation that failed. */
	noteFailed(error: Error): void {
		const { counts } = this;
		const { message } = error;
		if (isOfKind(error, 'unknown', 'perhapsRejected')) {
			counts[error.kind === 'unknown' ? 'inARow' : 'perhapsRejected']++;
			counts.message = message;
			this.stopInDoubt();
		} else counts.inARow = 0;
		if (factsOf(error).appliesToAll)
			this.stop(
				`the service refused an earlier one for a reason that applies to all (${message})`,
				findNext(error),
			);
	}

	/** Notes that the service took no more tasks at once until the time for that was over. */
	noteNoTime(error: ServiceError): void {
		this.stop(`no time is left to wait for other tasks (${error.message})`, error.description);
	}

	private stopInDoubt(): void {
		const { inARow, perhapsRejected, message } = this.counts;
		const again =
			"Look at your account's recent tasks with the service. Once the service works again, retry the execution from the list, or run the node for the items that were not sent.";
		if (inARow >= MOST_UNKNOWN)
			this.stop(
				`for ${MOST_UNKNOWN} items in a row it is unknown whether a task was created (${message})`,
				again,
			);
		if (perhapsRejected >= MOST_PERHAPS_REJECTED)
			this.stop(
				`for ${MOST_PERHAPS_REJECTED} items the service failed at once (${message})`,
				again,
			);
	}

	private stop(why: string, description?: string): void {
		this.reason ??= new UserError(`This item was not sent: ${why}`, { description });
	}
}

/**
 * Makes a function that says until when a run sends creations again while the service takes no more
 * tasks at once, in milliseconds since 1970. The wait for tasks and this have one limit. It counts
 * from the first rejection, and for an agent from its call.
 */
export function limitCreations({ call, ledger }: Run): () => number {
	const wait: Pick<Ledger, 'waitBegan'> = ledger.settings ? ledger : {};
	const { waitLimit } = ledger.settings ?? { waitLimit: MAX_TIME_WHILE_FULL };
	return () => {
		wait.waitBegan ??= call.isTool ? call.called : Date.now();
		return planWait(wait.waitBegan + waitLimit, call.deadline).lastLookAt;
	};
}

/**
 * Sends creations of an account. From the first rejection on, they are sent one after the other, and
 * after pauses while the service takes no more tasks at once.
 */
export class TaskLimit {
	private rejection?: ServiceError;
	/** Absent while the service takes more tasks. */
	private pauses?: ReturnType<typeof growPauses>;
	private readonly oneByOne = limitConcurrency(1);

	/**
	 * @param findEnd says until when creations are sent again
	 * @param signal when aborted, creations that wait are rejected
	 */
	constructor(
		private readonly findEnd: () => number,
		private readonly signal: AbortSignal,
	) {}

	/** @throws {ServiceError} the rejection, when no time is left */
	async send(create: () => Promise<string>): Promise<string> {
		const taskId = this.rejection ? undefined : await this.try(create);
		return taskId ?? (await this.oneByOne(async () => await this.sendAgain(create)));
	}

	private async sendAgain(create: () => Promise<string>): Promise<string> {
		for (;;) {
			if (this.pauses) await this.pause(this.pauses.next().value);
			const taskId = await this.try(create);
			if (taskId === undefined) continue;
			this.pauses = undefined;
			return taskId;
		}
	}

	/** @returns undefined if the service takes no more tasks */
	private async try(create: () => Promise<string>): Promise<string | undefined> {
		return await create().catch((error: unknown) => {
			const isRejected = isOfKind(error, 'tasksAtOnce');
			this.pauses = isRejected ? (this.pauses ?? growPauses(PAUSES_WHILE_FULL)) : undefined;
			if (!isRejected) throw error;
			this.rejection = error;
			return undefined;
		});
	}

	private async pause(length: number): Promise<void> {
		// Nobody could wait for a task that is created at the limit.
		if (Date.now() + length > this.findEnd()) throw this.rejection;
		await pause(length, this.signal);
	}
}
