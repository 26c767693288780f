import type { TaskService } from '../api/client';
import type { RequestSettings } from '../api/exchange';
import type { Task } from '../api/task';
import { mapConcurrent } from '../lib/mapConcurrent';
import { CONCURRENCY } from './input/item';
import { type Attempt, type Entry, findTask, listAwaited } from './ledger/ledger';

/** How many tasks a webhook asks for at once, if the first ones have ended. */
const ASKED_AT_ONCE = 32;

/** A task that is looked at. Several items may have the same one. */
interface Watched {
	taskId: string;
	attempts: Attempt[];
	/** What the service last said of it, before it ended. */
	said?: Task;
	/** Why the last look at it failed; absent if it succeeded. */
	failure?: Error;
}

export type GetService = (key: string) => Promise<TaskService>;

interface LookOptions {
	getService: GetService;
	/** How many tasks are asked for at once; default: `CONCURRENCY`. */
	concurrency?: number;
	/** Ends the look after a task that has not ended. */
	untilOpen?: boolean;
	/** Ends the look when it is aborted. */
	signal?: AbortSignal;
	/** Is called after each answer. */
	onAnswer?: (key: string) => void;
}

/**
 * Looks at the tasks of a run: asks the service for them, and notes their ends in the ledger. What
 * else it says is known to this call alone. An end is final: later answers change nothing.
 */
export class Looks {
	/** By key, in the order of the items. */
	private readonly tasks = new Map<string, Watched>();
	/** The tasks of each entry: meanwhile another call of the run may create a further one. */
	private readonly looked = new Map<Entry, Attempt[]>();

	/**
	 * @param entries their tasks that are waited for are looked at
	 * @param identify makes the key of a task; default: its ID, as all items of a sleep have one account
	 */
	constructor(
		entries: Entry[],
		private readonly settings: RequestSettings,
		private readonly identify = (_: Entry, taskId: string) => taskId,
	) {
		for (const entry of entries) {
			const attempts = listAwaited(entry);
			this.looked.set(entry, attempts);
			for (const attempt of attempts) {
				const { taskId } = attempt;
				const key = identify(entry, taskId);
				const watched = this.tasks.get(key) ?? { taskId, attempts: [] };
				watched.attempts.push(attempt);
				this.tasks.set(key, watched);
			}
		}
	}

	/** The task of an entry that is looked at; of several, the one that counts now. */
	attemptOf(entry: Entry): Attempt | undefined {
		return findTask({ attempts: this.looked.get(entry) ?? [] });
	}

	/** The key of that task. */
	keyOf(entry: Entry): string | undefined {
		const attempt = this.attemptOf(entry);
		return attempt && this.identify(entry, attempt.taskId);
	}

	/** The keys of all its tasks that are looked at. */
	keysOf(entry: Entry): string[] {
		return (this.looked.get(entry) ?? []).map(({ taskId }) => this.identify(entry, taskId));
	}

	get keys(): string[] {
		return [...this.tasks.keys()];
	}

	get openKeys(): string[] {
		return this.keys.filter((key) => this.isOpen(key));
	}

	/** The open ones whose last look failed. */
	get failedKeys(): string[] {
		return this.openKeys.filter((key) => this.find(key).failure);
	}

	get haveEnded(): boolean {
		return this.openKeys.length === 0;
	}

	isOpen(key: string): boolean {
		return this.tasks.get(key)?.attempts.some(({ end }) => !end) ?? false;
	}

	/** What the service last said of a task that has not ended, and why the last look at it failed. */
	find(key = ''): Pick<Watched, 'said' | 'failure'> {
		return this.tasks.get(key) ?? {};
	}

	/** Why the last look at a task that has not ended failed, if one did. */
	get failure(): Error | undefined {
		return this.failedKeys.map((key) => this.find(key).failure)[0];
	}

	/** Looks no longer at a task. */
	leave(key: string): void {
		this.tasks.delete(key);
	}

	/** Looks at these tasks. A look that fails is noted too, so nothing is thrown. */
	async look(
		keys: string[],
		{ getService, concurrency = CONCURRENCY, untilOpen = false, signal, onAnswer }: LookOptions,
	): Promise<void> {
		const look = async (key: string): Promise<string> => {
			await this.ask(key, getService);
			if (!signal?.aborted) onAnswer?.(key);
			return key;
		};
		await mapConcurrent(keys, look, {
			concurrency,
			isLast: (key) => Boolean(signal?.aborted) || (untilOpen && this.isOpen(key)),
		});
	}

	/**
	 * Asks for a task, such as that of a callback, then for one other, then for several at once, until
	 * one has not ended.
	 */
	async lookUntilOpen(taskId: string, getService: GetService): Promise<void> {
		const look = async (keys: string[], concurrency: number) =>
			await this.look(keys, { getService, concurrency, untilOpen: true });
		await look([taskId], 1);
		if (this.isOpen(taskId)) return;
		const [next] = this.openKeys;
		if (next === undefined) return;
		await look([next], 1);
		if (!this.isOpen(next)) await look(this.openKeys, ASKED_AT_ONCE);
	}

	/** Notes what the service says of a task. */
	learn(key: string, said: Task): void {
		const watched = this.tasks.get(key);
		if (!watched || !this.isOpen(key)) return;
		watched.failure = undefined;
		if (said.status === 'pending') watched.said = said;
		else for (const attempt of watched.attempts) attempt.end ??= said;
	}

	private async ask(key: string, getService: GetService): Promise<void> {
		const watched = this.tasks.get(key);
		if (!watched || !this.isOpen(key)) return;
		try {
			const service = await getService(key);
			this.learn(key, await service.getTask(watched.taskId, this.settings));
		} catch (error) {
			if (this.isOpen(key)) watched.failure = error as Error;
		}
	}
}
