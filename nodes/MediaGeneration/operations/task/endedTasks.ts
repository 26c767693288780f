import type { Task } from '../../service/task';

/** How many ended tasks are remembered at the most. */
const LIMIT = 5_000;

/**
 * Tasks that this process saw ended while executions wait for others of their batch. Only a hint that saves requests:
 * another process, or this one after a restart, asks the service again.
 */
export class EndedTasks {
	private readonly ended = new Map<string, Task>();
	private readonly looking = new Map<string, Promise<Task>>();

	/** The task as it ended, or as `look` finds it now; callbacks that arrive together share one look. */
	async get(key: string, look: () => Promise<Task>): Promise<Task> {
		const known = this.ended.get(key);
		if (known) return known;
		const under = this.looking.get(key) ?? look();
		this.looking.set(key, under);
		try {
			const task = await under;
			if (task.status !== 'pending') this.keep(key, task);
			return task;
		} finally {
			this.looking.delete(key);
		}
	}

	forget(keys: string[]): void {
		for (const key of keys) this.ended.delete(key);
	}

	private keep(key: string, task: Task): void {
		this.ended.set(key, task);
		const [oldest] = this.ended.keys();
		if (this.ended.size > LIMIT && oldest !== undefined) this.ended.delete(oldest);
	}
}
