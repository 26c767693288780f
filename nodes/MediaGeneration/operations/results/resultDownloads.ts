import { UserError, type IBinaryKeyData } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { FileNames } from '../../lib/fileName';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { CONCURRENCY, type OutputItem } from '../operation';
import { nameBinaryField, splitByFile, toFileFacts } from './fileItems';
import { ResultFiles, type FileSource, type ResultFile } from './resultFiles';

export interface DownloadOptions {
	/** The binary field of the first file; the next are named after it, as `data_1`. */
	field: string;
	/** A larger file is not downloaded. Without a limit it is Infinity, which n8n stores as null. */
	maxBytes: number | null;
}

/** The downloads of a wait. Each begins as soon as its task has ended, a limited number at once. */
export class ResultDownloads {
	private readonly inTurn = limitConcurrency(CONCURRENCY);
	private readonly names = new FileNames();
	private readonly items = new Map<string, Promise<OutputItem[]>>();

	/** @param perFile each file becomes an item of its own, with its file in the one field */
	constructor(
		private readonly options: DownloadOptions,
		private readonly perFile = false,
	) {}

	/**
	 * Begins to download the result files of a task that has ended, once.
	 * @returns its items, with its files; `downloadError` has the reason if one can't be downloaded. Nothing is thrown.
	 */
	async start(task: Task, source: FileSource): Promise<OutputItem[]> {
		const items =
			this.items.get(task.taskId) ??
			this.download(task, source).catch((error: Error) =>
				this.split({ ...task, downloadError: describeError(error) }),
			);
		this.items.set(task.taskId, items);
		return await items;
	}

	private split(task: Task & { downloadError?: string }): OutputItem[] {
		return this.perFile ? splitByFile(task) : [{ json: task }];
	}

	private async download(task: Task, source: FileSource): Promise<OutputItem[]> {
		if (task.status !== 'completed' || !task.resultUrls?.length) return [{ json: task }];
		const { field, maxBytes } = this.options;
		const files = new ResultFiles(task, source, this.names);
		const links = files.listLinks(['result']);
		const downloads = await Promise.allSettled(
			links.map(
				async (file) =>
					await this.inTurn(async () => await files.download(file, maxBytes ?? Infinity)),
			),
		);
		if (this.perFile)
			return downloads.map((download, index) => {
				const file = toFileFacts((links[index] as ResultFile).link, index);
				if (download.status === 'rejected')
					return {
						json: { ...task, file, downloadError: describeError(download.reason as Error) },
					};
				const { url, binary } = download.value;
				return { json: { ...task, file: { ...file, url } }, binary: { [field]: binary } };
			});
		const binary: IBinaryKeyData = {};
		let downloadError: string | undefined;
		for (const download of downloads) {
			const count = Object.keys(binary).length;
			if (download.status === 'fulfilled')
				binary[nameBinaryField(field, count)] = download.value.binary;
			else downloadError ??= describeError(download.reason as Error);
		}
		return [
			{
				json: downloadError === undefined ? task : { ...task, downloadError },
				...(Object.keys(binary).length && { binary }),
			},
		];
	}
}

const describeError = (error: Error): string =>
	[error.message, error instanceof UserError && error.description].filter(Boolean).join('. ');
