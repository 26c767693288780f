import type { Task } from '../api/task';
import type { Call } from '../host/call';
import { FileDownloads } from './downloads';
import type { FileSource } from './fetchFile';
import { describeError, toFileItems, toTaskItems } from './fileItems';
import type { OutputItem } from './item';
import type { Ledger, WaitSettings } from './ledger';

/**
 * By the node's context, so that n8n's tries don't download files again. n8n drops it with the
 * execution, and the files of one run go when the next begins. Another process downloads them itself.
 */
const filesOf = new WeakMap<object, { run: number; files: Files }>();

/** Finds the files of a run. */
export function openFiles({ kept }: Call, ledger: Ledger, settings: WaitSettings): Files {
	// Wait stores no ledger, which would say in which execution and run it is.
	const owner = (ledger.executionId && kept) || ledger;
	const known = filesOf.get(owner);
	if (known?.run === ledger.run) return known.files;
	const files = new Files(settings);
	filesOf.set(owner, { run: ledger.run, files });
	return files;
}

/** The files of a run's tasks. Those of a task are downloaded once. */
export class Files {
	private readonly downloads = new FileDownloads();
	private readonly begun = new Map<string, Promise<OutputItem[]>>();
	/** The items of completed tasks, with their files, by the task's key. */
	private readonly items = new Map<string, OutputItem[]>();

	constructor(private readonly settings: WaitSettings) {}

	/** The items of a task with its files, or with the reason why one is missing; once they are there. */
	find(key: string): OutputItem[] | undefined {
		return this.items.get(key);
	}

	hasBegun(key: string): boolean {
		return this.begun.has(key);
	}

	/** Downloads the files of a completed task, if the run wants them. Nothing is thrown. */
	async download(key: string, task: Task, source: FileSource, name: string): Promise<void> {
		const { downloads } = this.settings;
		if (!downloads || !task.resultUrls?.length) return;
		const download = this.begun.get(key) ?? this.fetch(task, source, { ...downloads, name });
		this.begun.set(key, download);
		this.items.set(key, await download);
	}

	private async fetch(
		task: Task,
		source: FileSource,
		{ field, maxBytes, name }: NonNullable<WaitSettings['downloads']> & { name: string },
	): Promise<OutputItem[]> {
		const { perFile = false } = this.settings;
		const wanted = { kinds: ['result'], maxBytes: maxBytes ?? Infinity, name };
		const all = this.downloads.downloadAll(task, source, wanted);
		return await all.then(
			(files) => toFileItems(task, files, { field, perFile }),
			(error: Error) => toTaskItems({ ...task, downloadError: describeError(error) }, perFile),
		);
	}
}
