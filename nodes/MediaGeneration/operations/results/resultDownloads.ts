import type { Task } from '../../api/task';
import type { OutputItem } from '../operation';
import { describeError, toFileItems, toTaskItems } from './fileItems';
import type { FileSource } from './downloadFile';
import { FileDownloads } from './resultFiles';

export interface DownloadOptions {
	/** The binary field of the first file; the next are named after it, as `data_1`. */
	field: string;
	/** A larger file is not downloaded. Without a limit it is Infinity, which n8n stores as null. */
	maxBytes: number | null;
}

/** The downloads of a wait. Each begins as soon as its task has ended, and once. */
export class ResultDownloads {
	private readonly files = new FileDownloads();
	private readonly items = new Map<string, Promise<OutputItem[]>>();

	/** @param perFile each file becomes an item of its own, with its file in the one field */
	constructor(
		private readonly options: DownloadOptions,
		private readonly perFile = false,
	) {}

	/**
	 * Begins to download the result files of a task that has ended.
	 * @returns its items, with its files; `downloadError` has the reason if one can't be downloaded.
	 * Nothing is thrown.
	 */
	async start(task: Task, source: FileSource): Promise<OutputItem[]> {
		const items =
			this.items.get(task.taskId) ??
			this.download(task, source).catch((error: Error) =>
				toTaskItems({ ...task, downloadError: describeError(error) }, this.perFile),
			);
		this.items.set(task.taskId, items);
		return await items;
	}

	private async download(task: Task, source: FileSource): Promise<OutputItem[]> {
		if (task.status !== 'completed' || !task.resultUrls?.length) return [{ json: task }];
		const { field, maxBytes } = this.options;
		const files = await this.files.downloadAll(task, ['result'], source, maxBytes ?? Infinity);
		return toFileItems(task, files, { field, perFile: this.perFile });
	}
}
