import type { TaskService } from '../api/client';
import type { RequestSettings } from '../api/exchange';
import type { Task } from '../api/task';
import { mapConcurrent } from '../lib/mapConcurrent';
import { CONCURRENCY } from './input/item';
import { noteLook } from './ledger/changes';
import { type Attempt, type Entry, findAttempt, listAwaited } from './ledger/ledger';

/** How many tasks a webhook asks for at once, if the first ones have ended. */
const ASKED_AT_ONCE = 32;

/** A task that is looked at. */
interface LookedAt {
	taskId: string;
	/** One of the items that have the task. */
	item: number;
	attempts: Attempt[];
	/** What the service last said of the task. */
	answer?: Task;
	/** Why the last look at the task failed; absent if it succeeded. */
	failure?: Error;
}

/** Gets the service, by the credential of an item. */
export type GetService = (item: number) => Promise<TaskService>;

/**
 * Looks at the tasks of a run: asks the service for them, and notes their ends in the ledger. What else
 * the service says is known to this call alone. An end is final: later answers change nothing.
 */
export class Looks {
	/** By key, in the order of the items. */
	private readonly tasks = new Map<string, LookedAt>();

	/**
	 * @param entries whose awaited tasks are looked at
	 * @param errors by item; the tasks of an item that has one aren't looked at, now or later
	 * @param identify makes the key of a task; default: its ID, as all items of a sleep have one account
	 */
	constructor(
		entries: readonly Entry[],
		private readonly settings: RequestSettings,
		private readonly errors = new Map<number, unknown>(),
		private readonly identify = (_: Entry, taskId: string) => taskId,
	) {
		for (const [item, entry] of entries.entries()) {
			if (errors.has(item)) continue;
			for (const attempt of listAwaited(entry)) {
				const { taskId } = attempt;
				const key = identify(entry, taskId);
				const lookedAt = this.tasks.get(key) ?? { taskId, item, attempts: [] };
				lookedAt.attempts.push(attempt);
				this.tasks.set(key, lookedAt);
			}
		}
	}

	/** The key of the entry's task that counts; blank if the entry has no task. */
	keyOf(entry: Entry): string {
		const attempt = findAttempt(entry);
		return attempt ? this.identify(entry, attempt.taskId) : '';
	}

	get keys(): string[] {
		return [...this.tasks].flatMap(([key, { item }]) => (this.errors.has(item) ? [] : key));
	}

	get pendingKeys(): string[] {
		return this.keys.filter((key) => this.isPending(key));
	}

	/** Keys of the pending tasks whose last look failed. */
	get keysToLookAgain(): string[] {
		return this.pendingKeys.filter((key) => this.find(key).failure);
	}

	get haveEnded(): boolean {
		return this.pendingKeys.length === 0;
	}

	isPending(key: string): boolean {
		return this.tasks.get(key)?.attempts.some(({ end }) => !end) ?? false;
	}

	/** Finds what this call knows of a task beside the ledger; empty for an unknown key. */
	find(key: string): Partial<LookedAt> {
		return this.tasks.get(key) ?? {};
	}

	/** Why the last look at a pending task failed; of the first such task, if there is any. */
	get firstLookFailure(): Error | undefined {
		return this.find(this.keysToLookAgain[0] ?? '').failure;
	}

	/**
	 * Looks at these tasks. A failure is noted, so nothing is thrown.
	 * @param afterEach is called after an answer, and returns true to begin no further requests
	 */
	async look(
		keys: string[],
		getService: GetService,
		afterEach: (key: string) => boolean,
		concurrency = CONCURRENCY,
	): Promise<void> {
		const ask = async (key: string): Promise<string> => {
			const lookedAt = this.tasks.get(key);
			if (!lookedAt || !this.isPending(key)) return key;
			try {
				const service = await getService(lookedAt.item);
				this.noteAnswer(key, await service.getTask(lookedAt.taskId, this.settings));
			} catch (error) {
				if (this.isPending(key)) lookedAt.failure = error as Error;
			}
			return key;
		};
		await mapConcurrent(keys, ask, { concurrency, afterEach });
	}

	/**
	 * Looks at tasks until one is pending, because the execution then sleeps on: first at this task, such as a
	 * callback's, then at one other, then at all the others, several at once. Only for a sleep, whose keys are
	 * the IDs of its tasks.
	 */
	async lookUntilPending(taskId: string, getService: GetService): Promise<void> {
		const isPending = (key: string) => this.isPending(key);
		const others = this.pendingKeys.filter((key) => key !== taskId);
		const firstTwo = [taskId, ...others.slice(0, 1)];
		await this.look(firstTwo, getService, isPending, 1);
		if (firstTwo.some(isPending)) return;
		await this.look(this.pendingKeys, getService, isPending, ASKED_AT_ONCE);
	}

	/** Notes what the service says of a task. */
	noteAnswer(key: string, answer: Task): void {
		const lookedAt = this.tasks.get(key);
		if (!lookedAt || !this.isPending(key)) return;
		lookedAt.failure = undefined;
		lookedAt.answer = answer;
		for (const attempt of lookedAt.attempts) noteLook(attempt, answer);
	}
}
