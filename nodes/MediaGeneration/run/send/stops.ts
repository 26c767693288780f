import { UserError } from 'n8n-workflow';
import { factsOf, isOfKind, type ServiceError } from '../../api/failure';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { growPauses, pause } from '../../lib/timers';
import { beginWait, resetWait, updateUnknownCounts } from '../ledger/changes';
import type { Ledger } from '../ledger/ledger';
import { findRemedy } from '../output/errors';
import type { Run } from '../run';
import { MAX_TIME_WHILE_FULL, PAUSES_WHILE_FULL, planWait } from '../timetable';

/** After so many unknown outcomes in a row, nothing more is sent. */
const MOST_UNKNOWN = 3;

/** After so many outcomes that may be rejections, without a task between them, nothing more is sent. */
const MOST_PERHAPS_REJECTED = 10;

/**
 * Stops the further creations of an account once they would fail too, or might be paid without a
 * result. The tries and runs before this one count too.
 */
export class AccountStop {
	/** Why nothing more is sent, and what to do. */
	reason?: UserError;

	constructor(
		private readonly ledger: Ledger,
		private readonly account: string,
	) {
		this.stopIfUnknown();
	}

	/** Notes the outcome of a creation. @param error why it made no task, or may have made one */
	noteOutcome(error?: Error): void {
		updateUnknownCounts(this.ledger, this.account, error);
		this.stopIfUnknown();
		if (error && factsOf(error).appliesToAll)
			this.stop(
				`the service rejected an earlier one for a reason that applies to all (${error.message})`,
				findRemedy(error),
			);
	}

	/** Notes that the time to wait for other tasks is over, and the service still takes no more at once. */
	noteNoTime(error: ServiceError): void {
		this.stop(`no time is left to wait for other tasks (${error.message})`, error.description);
	}

	private stopIfUnknown(): void {
		const {
			unknownInARow = 0,
			perhapsRejected = 0,
			message,
		} = this.ledger.unknownCounts[this.account] ?? {};
		const remedy =
			"Look at your account's recent tasks with the service. Once the service works again, retry the execution from the list, or run the node for the items that were not sent.";
		if (unknownInARow >= MOST_UNKNOWN)
			this.stop(
				`for ${MOST_UNKNOWN} items in a row it is unknown whether a task was created (${message})`,
				remedy,
			);
		if (perhapsRejected >= MOST_PERHAPS_REJECTED)
			this.stop(
				`for ${MOST_PERHAPS_REJECTED} items the service failed at once (${message})`,
				remedy,
			);
	}

	private stop(why: string, remedy?: string): void {
		this.reason ??= new UserError(`This item was not sent: ${why}`, { description: remedy });
	}
}

/**
 * Sends creations of an account. Once the service rejects a creation because it takes no more tasks at
 * once, creations are sent one after the other, with pauses while the service takes no more.
 */
export class CreationQueue {
	private rejection?: ServiceError;
	/** Absent while the service takes more tasks. */
	private pauses?: ReturnType<typeof growPauses>;
	private readonly doOneByOne = limitConcurrency(1);
	/** When the queue began, in milliseconds since 1970: with an agent's call, or the first rejection. */
	private beganAt?: number;

	/** @param signal when aborted, creations that wait are given up */
	constructor(
		private readonly run: Run,
		private readonly signal: AbortSignal,
	) {}

	/** @throws {ServiceError} the rejection, when no time is left */
	async send(create: () => Promise<string>): Promise<string> {
		// Once a creation was rejected, all are sent one by one, to the end of the run.
		const taskId = this.rejection ? undefined : await this.createUnlessFull(create);
		if (taskId !== undefined) return taskId;
		return await this.doOneByOne(async () => {
			for (;;) {
				if (this.pauses) await this.pauseOrThrow(this.pauses.next().value);
				const id = await this.createUnlessFull(create);
				if (id === undefined) continue;
				this.pauses = undefined;
				return id;
			}
		});
	}

	/** @returns undefined if the service takes no more tasks */
	private async createUnlessFull(create: () => Promise<string>): Promise<string | undefined> {
		return await create().catch((error: unknown) => {
			const isRejected = isOfKind(error, 'tasksAtOnce');
			this.pauses = isRejected ? (this.pauses ?? growPauses(PAUSES_WHILE_FULL)) : undefined;
			if (!isRejected) throw error;
			this.rejection = error;
			return undefined;
		});
	}

	/** Where the run waits for its tasks, the wait limit includes the time in the queue. */
	private async pauseOrThrow(length: number): Promise<void> {
		const { call, ledger } = this.run;
		const { settings } = ledger;
		this.beganAt ??= call.isTool ? call.calledAt : Date.now();
		resetWait(this.run);
		const limitAt = settings
			? beginWait(ledger, this.beganAt) + settings.waitLimit
			: this.beganAt + MAX_TIME_WHILE_FULL;
		// Nobody could wait for a task that is created at the limit.
		if (Date.now() + length > planWait(limitAt, call.doneBy).lastLookAt) throw this.rejection;
		await pause(length, this.signal);
	}
}
