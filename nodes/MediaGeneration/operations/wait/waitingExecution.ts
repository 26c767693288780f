import type { INodeExecutionData } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import type { Task } from '../../api/task';
import { ANSWER_LIMIT } from '../../callback/respond';
import { BoundedMap } from '../../lib/boundedMap';
import { runAfter } from '../../lib/timers';
import { ResultDownloads, type DownloadOptions } from '../results/resultDownloads';
import type { FileSource } from '../results/resultFiles';
import { Batch } from './batch';
import { lookAt } from './look';
import { FALLBACK_AFTER, type Parked } from './park';

/** The settings of a wait that the webhook needs. n8n stores them with the execution. */
export interface WaitSettings {
	/** For each request for details. */
	timeoutSeconds: number;
	/** Absent: files are not downloaded. */
	downloads?: DownloadOptions;
	/** Each file of a task becomes an item of its own. */
	perFile?: boolean;
}

/** What n8n has stored for an execution that waits. */
export interface StoredWait extends Pick<Parked, 'run' | 'until' | 'resumeUrl'> {
	items: INodeExecutionData[];
	settings: WaitSettings;
}

/** How many tasks of a batch are asked for at once. */
const WIDTH = 32;

/**
 * An execution that waits, as this process knows it. Callbacks in this process share it: one of them works, and the others are
 * answered at once. It only saves requests. Another process, or this one after a restart, asks the service again. n8n lets only one
 * process change the execution from waiting to running.
 */
export class WaitingExecution {
	readonly batch: Batch;
	private state:
		| 'idle'
		/** A callback asks for tasks. */
		| 'checking'
		/** The tasks have ended, or the limit has passed: a callback collects the files. */
		| 'delivering'
		/** n8n has the items. */
		| 'handedOver'
		/** n8n has stored that the execution continues. */
		| 'resumed' = 'idle';
	/** When the items were handed over, in milliseconds since 1970. */
	private handedOverAt = 0;
	/** Tasks that callbacks have named, and that have not been looked at since. */
	private readonly named = new Set<string>();
	/** Tasks whose callbacks were accepted because another one was at work. */
	private readonly promised = new Set<string>();
	/** The last check could not read a task, or a callback was accepted whose task had not ended. A look should follow soon. */
	lacksLooks = false;
	/** Counts the checks, because one that was given up at the limit may end late. */
	private checks = 0;
	private readonly downloads?: ResultDownloads;

	constructor(readonly stored: StoredWait) {
		const { downloads, perFile } = stored.settings;
		this.batch = new Batch(stored.items.flatMap(readTask), downloads !== undefined, perFile);
		this.downloads = downloads && new ResultDownloads(downloads, perFile);
	}

	/** It is the same wait that n8n has stored. An execution can wait at a node more than once. */
	holds({ run, until }: StoredWait): boolean {
		return this.stored.run === run && this.stored.until === until;
	}

	/** A callback collects the files, which may take long. */
	get isDownloading(): boolean {
		return this.state === 'delivering' && this.downloads !== undefined;
	}

	/**
	 * Takes a callback.
	 * @returns false when another callback is at work, which then looks at this task too
	 */
	take(taskId: string): boolean {
		const isFree = this.state === 'idle';
		if (this.batch.isOpen(taskId)) {
			this.named.add(taskId);
			if (!isFree) this.promised.add(taskId);
		}
		if (isFree) this.state = 'checking';
		return isFree;
	}

	/**
	 * Asks for the tasks that callbacks have named, also during the check. If they have ended, it asks for other tasks, one at
	 * first and then more at once, until it finds one that has not ended. Usually that is the first.
	 * @param isDue the limit has passed
	 * @returns whether this callback now delivers: all tasks have ended, or the limit has passed
	 */
	async check(look: (taskIds: string[]) => Promise<void>, isDue: () => boolean): Promise<boolean> {
		const turn = ++this.checks;
		const asked: string[] = [];
		for (let width = 1; ; ) {
			const named = [...this.named];
			this.named.clear();
			const foundOpen = asked.some((taskId) => this.batch.isOpen(taskId));
			const next = named.length || foundOpen ? named : this.batch.openIds.slice(0, width);
			if (!next.length) break;
			if (!named.length) width = Math.min(2 * width, WIDTH);
			asked.push(...next);
			await look(next);
		}
		this.lacksLooks =
			asked.some((taskId) => this.batch.isOpen(taskId) && !this.batch.isLookedAt(taskId)) ||
			[...this.promised].some((taskId) => this.batch.isOpen(taskId));
		this.promised.clear();
		// There is no await after the last look, so a callback from here on starts its own check.
		if (turn !== this.checks || this.state !== 'checking') return false;
		const delivers = this.batch.isEnded || isDue();
		this.state = delivers ? 'delivering' : 'idle';
		return delivers;
	}

	/** Asks for these tasks, and begins to download the files of those that have ended. Nothing is thrown. */
	async look(taskIds: string[], service: TaskService, source: FileSource): Promise<void> {
		await lookAt(this.batch, taskIds, {
			ask: async (taskId, settings) => await service.getTask(taskId, settings),
			settings: this.stored.settings,
			concurrency: WIDTH,
			onEnded: (taskId) => void this.download(taskId, source),
		});
	}

	/** From now on only this callback works, until it has handed the items over or has failed. */
	beginDelivery(): void {
		this.state = 'delivering';
	}

	endDelivery(): void {
		if (this.state === 'delivering') this.state = 'idle';
	}

	/** Collects the files of all tasks that have completed. Nothing is thrown. */
	async collectFiles(source: FileSource): Promise<void> {
		await Promise.all(
			this.batch.completedIds.map(async (taskId) => await this.download(taskId, source)),
		);
	}

	private async download(taskId: string, source: FileSource): Promise<void> {
		const task = this.batch.getCompleted(taskId);
		if (task && this.downloads)
			this.batch.learnFiles(taskId, await this.downloads.start(task, source));
	}

	/** Makes the items from what is known now. Items without a task stay as they were parked. */
	private toItems(): INodeExecutionData[] {
		return this.stored.items.flatMap((item) => {
			const { taskId } = item.json;
			if (typeof taskId !== 'string' || !this.batch.has(taskId)) return [item];
			return (this.batch.toOutput(taskId) as INodeExecutionData[]).map((output) => ({
				...item,
				...output,
			}));
		});
	}

	get isHandedOver(): boolean {
		return this.state === 'handedOver' || this.state === 'resumed';
	}

	/** It was handed over a while ago, so what is known of it no longer counts. n8n may have failed to store it. */
	get isOver(): boolean {
		return this.isHandedOver && Date.now() - this.handedOverAt >= ANSWER_LIMIT;
	}

	/** @returns the items for n8n. No other callback hands them over before n8n has answered, or a minute has passed. */
	handOver(): INodeExecutionData[] {
		this.state = 'handedOver';
		this.handedOverAt = Date.now();
		return this.toItems();
	}

	confirmResumed(): void {
		this.state = 'resumed';
	}

	/** Lets the next callback work, unless n8n has stored that the execution continues. */
	release(): void {
		if (this.state !== 'resumed') this.state = 'idle';
	}
}

/** What parked items have besides the task. It was true when they were parked. */
const SAID = ['lookError', 'downloadError', 'note'] as const;
type Said = Partial<Record<(typeof SAID)[number], string>>;

/** Reads the task of a parked item; none if the item has other content. */
function readTask({ json }: INodeExecutionData): Task[] {
	if (typeof json.taskId !== 'string' || typeof json.status !== 'string') return [];
	const task = { ...json } as unknown as Task & Said;
	for (const key of SAID) delete task[key];
	return [task.status === 'timedOut' ? { ...task, status: 'pending' } : task];
}

/** The executions that wait, by execution and node. */
const waiting = new BoundedMap<string, WaitingExecution>(1_000);

/** Finds an execution that waits for a task, if this process knows it. */
export function findWaiting(key: string, taskId: string): WaitingExecution | undefined {
	const known = waiting.get(key);
	return known?.batch.has(taskId) && !known.isOver ? known : undefined;
}

/** Notes what n8n has stored for an execution that waits, until its end. What is already known of it stays. */
export function noteWaiting(key: string, stored: StoredWait): WaitingExecution {
	const known = waiting.get(key);
	if (known?.holds(stored) && !known.isOver) return known;
	const added = new WaitingExecution(stored);
	waiting.set(key, added);
	forgetAfter(stored.until + FALLBACK_AFTER - Date.now(), key, added);
	return added;
}

/** Forgets an execution that was handed over, once copies of its last callback have had time to come. */
export const forgetSoon = (key: string, execution: WaitingExecution): void =>
	forgetAfter(ANSWER_LIMIT, key, execution);

const forgetAfter = (milliseconds: number, key: string, execution: WaitingExecution): void =>
	runAfter(milliseconds, () => {
		if (waiting.get(key) === execution) waiting.delete(key);
	});
