import { markTimedOut, type Task } from '../../api/task';
import { dropUndefined } from '../../lib/json';
import { isFailed, type FailedTask } from '../../run/failedTask';
import type { OutputItem } from '../operation';
import { describeNoResult, GET_FILES, toTaskItems } from '../../run/fileItems';

/** What is known of one task. */
interface Known {
	task: Task;
	/** The service has said that it has not ended. */
	wasOpen?: boolean;
	/** Why the last look at it failed; absent if it succeeded. */
	failure?: Error;
	/** Its output with its files, once they are downloaded. */
	output?: OutputItem[];
}

const LIMIT_PASSED = `The wait limit passed before the file was complete. ${GET_FILES} To have more time, raise 'Limit Wait Time' or the workflow's timeout.`;

/**
 * What is known of the tasks of one run: their ends, failed looks, and files. All output is made
 * from it. It has no clock and no network. An end is final: later answers change nothing.
 */
export class KnownTasks {
	private readonly byId = new Map<string, Known>();
	/** The IDs of tasks that have not ended, in the order of their items. */
	private readonly open = new Set<string>();

	/** @param settings of what is output */
	constructor(private readonly settings: { downloads?: object; perFile?: boolean } = {}) {}

	/**
	 * Sets the tasks. What is known of those that it has already stays known, save where a try before
	 * this one has given up waiting for one.
	 */
	setTasks(tasks: Task[]): void {
		const before = new Map(this.byId);
		this.byId.clear();
		this.open.clear();
		for (const task of tasks) {
			const earlier = before.get(task.taskId);
			const isGivenUp = hasEnded(task) && earlier && !hasEnded(earlier.task);
			const known = earlier && !isGivenUp ? earlier : { task };
			this.byId.set(task.taskId, known);
			if (!hasEnded(known.task)) this.open.add(task.taskId);
		}
	}

	get openIds(): string[] {
		return [...this.open];
	}

	isOpen(taskId: string): boolean {
		return this.open.has(taskId);
	}

	get haveEnded(): boolean {
		return this.open.size === 0;
	}

	get haveFailed(): boolean {
		return this.tasks.some(isFailed);
	}

	/** Why the last look at a task that has not ended failed, if one did. */
	get failure(): Error | undefined {
		return this.openIds.map((taskId) => this.byId.get(taskId)?.failure).find(Boolean);
	}

	/** Why the last look at this task failed, if it did. */
	getFailure(taskId: string): Error | undefined {
		return this.byId.get(taskId)?.failure;
	}

	/** The tasks as the service last returned them, in the order of their items. */
	get tasks(): Task[] {
		return [...this.byId.values()].map(({ task }) => task);
	}

	/** The tasks that have ended. */
	get ended(): Task[] {
		return this.tasks.filter(hasEnded);
	}

	getTask(taskId: string): Task {
		return (this.byId.get(taskId) as Known).task;
	}

	/** Notes what the service says of a task. */
	learn(taskId: string, said: Task): void {
		const known = this.byId.get(taskId);
		if (!known || !this.open.has(taskId)) return;
		// A record may lack the model, and never has our warning.
		const { model, warning } = known.task;
		known.task = { ...said, ...dropUndefined({ model: said.model ?? model, warning }) };
		known.failure = undefined;
		if (hasEnded(said)) this.open.delete(taskId);
		else known.wasOpen = true;
	}

	/** Whether the run has seen that a task had not ended. */
	wasOpen(taskId: string): boolean {
		return this.byId.get(taskId)?.wasOpen ?? false;
	}

	/** Notes the ends that were stored. */
	restore(ended: Task[]): void {
		for (const task of ended) this.learn(task.taskId, task);
	}

	/** Notes that a look at a task failed. */
	learnFailure(taskId: string, failure: Error): void {
		const known = this.byId.get(taskId);
		if (known && this.open.has(taskId)) known.failure = failure;
	}

	/** Notes the output of a completed task with its files, or with the reason why one is missing. */
	learnFiles(taskId: string, output: OutputItem[]): void {
		const known = this.byId.get(taskId);
		if (known) known.output ??= output;
	}

	/** Makes what n8n outputs for a task if it ends a sleep by itself. */
	toStoredOutput(taskId: string): OutputItem[] {
		return [{ json: markTimedOut(this.getTask(taskId)) }];
	}

	/** Returns a task that failed, or has not ended when the wait is over; undefined if it completed. */
	findFailed(taskId: string): FailedTask | undefined {
		const { task, failure } = this.byId.get(taskId) as Known;
		const ended = markTimedOut(task);
		if (!isFailed(ended)) return undefined;
		return { ...ended, ...(failure && { lookError: failure.message }) };
	}

	/** Makes a task's output from what is known now. One that has not ended is `timedOut`. */
	toOutput(taskId: string): OutputItem[] {
		const { task, output } = this.byId.get(taskId) as Known;
		const { downloads, perFile = false } = this.settings;
		if (output) return output;
		const isMissing = downloads && task.status === 'completed';
		const downloadError =
			isMissing && (task.resultUrls?.length ? LIMIT_PASSED : describeNoResult(task));
		if (downloadError) return toTaskItems({ ...task, downloadError }, perFile);
		return toTaskItems(this.findFailed(taskId) ?? task, perFile);
	}
}

const hasEnded = ({ status }: Task): boolean => status !== 'pending';
