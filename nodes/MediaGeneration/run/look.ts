import type { TaskService } from '../api/client';
import type { RequestSettings } from '../api/exchange';
import type { Task } from '../api/task';
import { mapConcurrent } from '../lib/mapConcurrent';
import { CONCURRENCY } from './item';
import type { Attempt, Entry } from './ledger';

/** How many tasks a webhook asks for at once, if the first ones have ended. */
const ASKED_AT_ONCE = 32;

/** A task that is looked at. Several items may have the same one. */
interface Watched {
	attempts: Attempt[];
	/** What the service last said of it, before it ended. */
	said?: Task;
	/** Why the last look at it failed; absent if it succeeded. */
	failure?: Error;
}

interface LookOptions {
	getService: (taskId: string) => Promise<TaskService>;
	/** How many tasks are asked for at once; default: `CONCURRENCY`. */
	concurrency?: number;
	/** Ends the look after a task that has not ended. */
	untilOpen?: boolean;
	/** Ends the look when it is aborted. */
	signal?: AbortSignal;
	/** Is called after each answer. */
	onAnswer?: (taskId: string) => void;
}

/**
 * Looks at the tasks of a run: asks the service for them, and notes their ends in the ledger. What
 * else it says is known to this call alone. An end is final: later answers change nothing.
 */
export class Looks {
	/** By ID, in the order of the items. */
	private readonly tasks = new Map<string, Watched>();
	/** The task of each entry: meanwhile another call of the run may create a further one. */
	private readonly attempts = new Map<Entry, Attempt>();

	/** @param entries their last attempts are looked at */
	constructor(
		entries: Entry[],
		private readonly settings: RequestSettings,
	) {
		for (const entry of entries) {
			const last = entry.attempts.at(-1);
			if (!last || entry.unknown) continue;
			this.attempts.set(entry, last);
			const watched = this.tasks.get(last.taskId) ?? { attempts: [] };
			watched.attempts.push(last);
			this.tasks.set(last.taskId, watched);
		}
	}

	/** The task of an entry that is looked at. */
	attemptOf(entry: Entry): Attempt | undefined {
		return this.attempts.get(entry);
	}

	get taskIds(): string[] {
		return [...this.tasks.keys()];
	}

	get openIds(): string[] {
		return this.taskIds.filter((taskId) => this.isOpen(taskId));
	}

	get haveEnded(): boolean {
		return this.openIds.length === 0;
	}

	isOpen(taskId: string): boolean {
		return this.tasks.get(taskId)?.attempts.some(({ end }) => !end) ?? false;
	}

	/** What the service last said of a task that has not ended, and why the last look at it failed. */
	find(taskId: string): Pick<Watched, 'said' | 'failure'> {
		return this.tasks.get(taskId) ?? {};
	}

	/** Why the last look at a task that has not ended failed, if one did. */
	get failure(): Error | undefined {
		return this.openIds.map((taskId) => this.find(taskId).failure).find(Boolean);
	}

	/** Looks no longer at a task. */
	leave(taskId: string): void {
		this.tasks.delete(taskId);
	}

	/** Looks at these tasks. A look that fails is noted too, so nothing is thrown. */
	async look(
		taskIds: string[],
		{ getService, concurrency = CONCURRENCY, untilOpen = false, signal, onAnswer }: LookOptions,
	): Promise<void> {
		const look = async (taskId: string): Promise<string> => {
			await this.ask(taskId, getService);
			if (!signal?.aborted) onAnswer?.(taskId);
			return taskId;
		};
		await mapConcurrent(taskIds, look, {
			concurrency,
			isLast: (taskId) => Boolean(signal?.aborted) || (untilOpen && this.isOpen(taskId)),
		});
	}

	/**
	 * Asks for the task of a callback, then for one other, then for several at once, until one has not
	 * ended.
	 */
	async lookUntilOpen(taskId: string, service: TaskService): Promise<void> {
		const look = async (ids: string[], concurrency: number) =>
			await this.look(ids, { getService: async () => service, concurrency, untilOpen: true });
		await look([taskId], 1);
		if (this.isOpen(taskId)) return;
		const [next] = this.openIds;
		if (next === undefined) return;
		await look([next], 1);
		if (!this.isOpen(next)) await look(this.openIds, ASKED_AT_ONCE);
	}

	/** Notes what the service says of a task. */
	learn(taskId: string, said: Task): void {
		const watched = this.tasks.get(taskId);
		if (!watched || !this.isOpen(taskId)) return;
		watched.failure = undefined;
		if (said.status === 'pending') watched.said = said;
		else for (const attempt of watched.attempts) attempt.end ??= said;
	}

	private async ask(taskId: string, getService: LookOptions['getService']): Promise<void> {
		if (!this.isOpen(taskId)) return;
		try {
			const service = await getService(taskId);
			this.learn(taskId, await service.getTask(taskId, this.settings));
		} catch (error) {
			const watched = this.tasks.get(taskId);
			if (watched && this.isOpen(taskId)) watched.failure = error as Error;
		}
	}
}
