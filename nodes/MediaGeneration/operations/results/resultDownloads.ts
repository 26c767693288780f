import { UserError, type IBinaryKeyData } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { FileNames } from '../../lib/fileName';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { CONCURRENCY, type OutputItem } from '../operation';
import { ResultFiles, type FileSource } from './resultFiles';

export interface DownloadOptions {
	/** The binary field of the first file; the next are named after it, as `data_1`. */
	field: string;
	/** A larger file is not downloaded. Unlimited: not a finite number, which n8n stores as null. */
	maxBytes: number | null;
}

/** The files of tasks that are waited for, each fetched as soon as its task has ended, so many at once. */
export class ResultDownloads {
	private readonly inTurn = limitConcurrency(CONCURRENCY);
	private readonly names = new FileNames();
	private readonly items = new Map<string, Promise<OutputItem>>();

	constructor(private readonly options: DownloadOptions) {}

	/**
	 * Begins to download the result files of a task that has ended, once.
	 * @returns its item, with its files; one that can't be downloaded leaves the reason in `downloadError`. Nothing is thrown.
	 */
	async start(task: Task, source: FileSource): Promise<OutputItem> {
		const item =
			this.items.get(task.taskId) ??
			this.download(task, source).catch((error: Error) => ({
				json: { ...task, downloadError: describeError(error) },
			}));
		this.items.set(task.taskId, item);
		return await item;
	}

	private async download(task: Task, source: FileSource): Promise<OutputItem> {
		if (task.status !== 'completed' || !task.resultUrls?.length) return { json: task };
		const { field, maxBytes } = this.options;
		const files = new ResultFiles(task, source, this.names);
		const downloads = await Promise.allSettled(
			files
				.listLinks(['result'])
				.map(
					async (file) =>
						await this.inTurn(async () => await files.download(file, maxBytes ?? Infinity)),
				),
		);
		const binary: IBinaryKeyData = {};
		let downloadError: string | undefined;
		for (const download of downloads) {
			const count = Object.keys(binary).length;
			if (download.status === 'fulfilled')
				binary[count ? `${field}_${count}` : field] = download.value.binary;
			else downloadError ??= describeError(download.reason as Error);
		}
		return {
			json: downloadError === undefined ? task : { ...task, downloadError },
			...(Object.keys(binary).length && { binary }),
		};
	}
}

const describeError = (error: Error): string =>
	[error.message, error instanceof UserError && error.description].filter(Boolean).join('. ');
