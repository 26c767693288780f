import { isOfKind, type ServiceError } from '../api/failure';
import { limitConcurrency } from '../lib/mapConcurrent';
import { growPauses, pause } from '../lib/timers';
import type { Ledger } from './ledger';
import type { Run } from './run';
import { LIMIT_OVER_TASKS, PAUSES_OVER_TASKS, planAwake } from './timetable';

/**
 * Makes a function that says until when a run sends creations again while the service takes no more
 * tasks at once, in milliseconds since 1970. The wait for tasks and this have one limit. It counts
 * from the first refusal, and for an agent from its call.
 */
export function limitCreations({ call, ledger }: Run): () => number {
	const wait: Pick<Ledger, 'begun'> = ledger.settings ? ledger : {};
	const { limit } = ledger.settings ?? { limit: LIMIT_OVER_TASKS };
	return () => {
		wait.begun ??= call.isTool ? call.called : Date.now();
		return planAwake(Date.now(), wait.begun + limit, call.deadline).lastLook;
	};
}

/**
 * Sends creations of an account. From the first refusal on, they are sent one after the other, and
 * after pauses while the service takes no more tasks at once.
 */
export class TaskLimit {
	private refusal?: ServiceError;
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

	/** @throws {ServiceError} the refusal, when no time is left */
	async send(create: () => Promise<string>): Promise<string> {
		const taskId = this.refusal ? undefined : await this.try(create);
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
			const isRefused = isOfKind(error, 'tasksAtOnce');
			this.pauses = isRefused ? (this.pauses ?? growPauses(PAUSES_OVER_TASKS)) : undefined;
			if (!isRefused) throw error;
			this.refusal = error;
			return undefined;
		});
	}

	private async pause(length: number): Promise<void> {
		// A task that is created at the limit could not be waited for.
		if (Date.now() + length > this.findEnd()) throw this.refusal;
		await pause(length, this.signal);
	}
}
