import type { IExecuteFunctions } from 'n8n-workflow';
import type { Task } from '../api/task';
import { mapConcurrent } from '../lib/mapConcurrent';
import { stopsOnError } from './errors';
import { CONCURRENCY, type OutputItem } from '../operations/operation';
import type { WaitSettings } from '../operations/record/wait';
import type { FileSource } from './fetchFile';
import { describeError, toFileItems, toTaskItems } from './fileItems';
import { FileDownloads } from './downloads';
import { KnownTasks } from '../operations/wait/known';

/** The service of a task, and n8n's storage for files; without `helpers`, none are fetched. */
export type Source = Pick<FileSource, 'getService'> & Partial<FileSource>;

interface LookOptions {
	getSource: (taskId: string) => Source;
	/** How many tasks are asked for at once; default: `CONCURRENCY`. */
	concurrency?: number;
	/** Ends the look after a task that has not ended. */
	untilOpen?: boolean;
	/** Ends the look when it is aborted. */
	signal?: AbortSignal;
}

/**
 * Looks at the tasks of a wait: asks the service for them, notes the answers, and downloads the files
 * of those that have completed. Runs that stay awake use it, and executions that sleep.
 */
export class Looker {
	readonly known: KnownTasks;
	private readonly files = new FileDownloads();
	/** The items of completed tasks, with their files, by task. */
	private readonly fetched = new Map<string, Promise<OutputItem[]>>();

	/** A failed task ends the run with an error, so that files are of no use then. */
	private readonly endsAtFailure: boolean;

	/** @param context of a run that waits awake; absent where no files are fetched */
	constructor(
		readonly settings: WaitSettings,
		context?: IExecuteFunctions,
	) {
		const areErrors = settings.failedTasks === 'error';
		this.endsAtFailure = areErrors && context !== undefined && stopsOnError(context);
		this.known = new KnownTasks(settings);
	}

	/** Decides the names of files by the order of the tasks, before the first is downloaded. */
	nameFiles(works: Array<{ task: Task; words?: string }>): void {
		for (const { task, words = '' } of works) this.files.names.reserve(words, task.taskId);
	}

	/** Looks at these tasks. A look that fails is noted too, so nothing is thrown. */
	async look(
		taskIds: string[],
		{ getSource, concurrency = CONCURRENCY, untilOpen = false, signal }: LookOptions,
	): Promise<void> {
		const look = async (taskId: string): Promise<string> => {
			await this.ask(taskId, getSource(taskId));
			if (!signal?.aborted) void this.fetchFiles(taskId, getSource(taskId));
			return taskId;
		};
		await mapConcurrent(taskIds, look, {
			concurrency,
			isLast: (taskId) => Boolean(signal?.aborted) || (untilOpen && this.known.isOpen(taskId)),
		});
	}

	/** Waits for the files of all tasks that have completed, when no look follows. Nothing is thrown. */
	async collectFiles(getSource: LookOptions['getSource']): Promise<void> {
		const { known } = this;
		const ids = known.tasks.map(({ taskId }) => taskId);
		const isOver = this.endsAtFailure && !known.haveEnded;
		const wanted = isOver ? ids.filter((taskId) => this.fetched.has(taskId)) : ids;
		await Promise.all(wanted.map((taskId) => this.fetchFiles(taskId, getSource(taskId))));
	}

	private async ask(taskId: string, { getService }: Source): Promise<void> {
		if (!this.known.isOpen(taskId)) return;
		try {
			const service = await getService();
			this.known.learn(taskId, await service.getTask(taskId, this.settings));
		} catch (error) {
			this.known.learnFailure(taskId, error as Error);
		}
	}

	private async fetchFiles(taskId: string, { getService, ...storage }: Source): Promise<void> {
		const task = this.known.getTask(taskId);
		const { downloads } = this.settings;
		if (!downloads || task.status !== 'completed' || !task.resultUrls?.length) return;
		if (!storage.helpers) return;
		// The settings of an item are read only if it has no task yet.
		const sawOpen = storage.sawOpen || this.known.wasOpen(taskId);
		const source = { ...storage, settings: this.settings, getService, sawOpen } as FileSource;
		const begun = this.fetched.get(taskId);
		if (!begun && this.endsAtFailure && this.known.haveFailed) return;
		const items = begun ?? this.download(task, source, downloads);
		this.fetched.set(taskId, items);
		this.known.learnFiles(taskId, await items);
	}

	private async download(
		task: Task,
		source: FileSource,
		{ field, maxBytes }: NonNullable<WaitSettings['downloads']>,
	): Promise<OutputItem[]> {
		const { perFile = false } = this.settings;
		try {
			const files = await this.files.downloadAll(task, ['result'], source, maxBytes ?? Infinity);
			return toFileItems(task, files, { field, perFile });
		} catch (error) {
			return toTaskItems({ ...task, downloadError: describeError(error as Error) }, perFile);
		}
	}
}
