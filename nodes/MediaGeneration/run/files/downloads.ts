import { UserError } from 'n8n-workflow';
import type { ResultLink } from '../../api/resultLinks';
import { describeLeftOut, listTaskLinks, REQUEST, type Task } from '../../api/task';
import type { Call } from '../../host/call';
import { nameByTask, type Place, toFileName, toWords } from '../../lib/fileName';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { joinSignals, pause, settleBy } from '../../lib/timers';
import { CONCURRENCY, type OutputItem } from '../input/item';
import type { Ledger, WaitSettings } from '../ledger/ledger';
import {
	type DownloadedFile,
	DownloadError,
	fetchFile,
	type FileSource,
	LONGEST_DOWNLOAD,
	type RemoteFile,
} from './fetchFile';
import { describeError, toFileItems, toTaskItems } from './fileItems';

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

/** Lists the links to a task's files of these kinds. @throws {UserError} when it has none */
export function listFiles(task: Task, kinds: string[]): ResultLink[] {
	const { taskId, status = 'pending', failMessage } = task;
	const links = status === 'completed' ? listTaskLinks(task, kinds) : [];
	if (links.length) return links;
	const state = failMessage ? `${status} (${failMessage})` : status;
	throw new UserError(`Task ${taskId} is ${state}, and has none of the chosen files`, {
		description:
			describeLeftOut(task) ??
			'Only completed tasks have files. A result that is text, or has another form, is in the field result of Get.',
	});
}

/** A file of a task, and what became of its download. */
export interface FileDownload {
	link: ResultLink;
	result: Download;
}

/** Which files of a task are wanted. */
interface Wanted {
	kinds: string[];
	/** The largest size of a file. */
	maxBytes: number;
	/** The name of the first file, without extension. */
	name: string;
}

/** Names the files of a task. @param words of its prompt, where the run knows them */
export const nameFiles = (task: Task, place: Place, words = ''): string =>
	nameByTask(task.taskId, words || toWords(task[REQUEST]?.prompt ?? ''), place);

/** Before the end of the time for files, repeats end so much earlier, in milliseconds. */
const TIME_TO_OUTPUT = 1_000;

/** After so many fresh links of no use, a task's other files ask for none. */
const MOST_IN_VAIN = 3;

/**
 * Downloads the files of a run's tasks, a limited number at once. The links come only from the
 * service: an item that looks like a task may come from anybody, and its links could name any
 * address in this network.
 */
export class FileDownloads {
	private readonly inTurn = limitConcurrency(CONCURRENCY);
	/** An account has one such request in a second, and other runs wait behind those that are made. */
	private readonly renewInTurn = limitConcurrency(1);

	/**
	 * @param task as the service returned it
	 * @throws {UserError} when it has no such files
	 */
	async downloadAll(
		task: Task,
		source: FileSource,
		{ kinds, maxBytes, name }: Wanted,
	): Promise<FileDownload[]> {
		const getFresh = this.createGetFresh(task, source);
		const download = async (link: ResultLink, _: number, links: ResultLink[]) => {
			const number = links.filter(({ kind }) => kind === link.kind).indexOf(link);
			const ending =
				(link.kind === 'result' ? '' : `-${link.kind}`) + (number ? `-${number + 1}` : '');
			const file = {
				url: link.url,
				label: `${toFileName(task.taskId)}-${link.kind}-${number + 1}`,
				name: name + ending,
				maxBytes,
			};
			return { link, result: await this.download(source, file, getFresh(link, number)) };
		};
		return await Promise.all(listFiles(task, kinds).map(download));
	}

	/** Makes a function that finds fresh links to a task's files: from the service, or in the task. */
	private createGetFresh({ taskId }: Task, { getService, settings }: FileSource) {
		let inVain = 0;
		let again: Promise<Task> | undefined;
		const read = async () => await (await getService()).getTask(taskId, settings);
		return ({ url, kind }: ResultLink, number: number): GetLink[] => [
			async () =>
				await this.renewInTurn(async () => {
					if (inVain >= MOST_IN_VAIN) return undefined;
					return await (await getService()).getDownloadUrl(url, settings);
				}),
			async () => {
				inVain++;
				return listTaskLinks(await (again ??= read()), [kind])[number]?.url;
			},
		];
	}

	/** Downloads a file, and again if that fails, but not so long that the other files are lost. */
	private async download(
		source: FileSource,
		file: RemoteFile,
		getLinks: GetLink[],
	): Promise<Download> {
		const over = new AbortController();
		const signal = joinSignals(over.signal, source.signal);
		const { url } = file;
		let begun: number | undefined;
		const fetch = async (url: string): Promise<Download> => {
			const run = async () => {
				begun ??= Date.now();
				return await fetchFile({ ...source, signal }, { ...file, url });
			};
			return await this.inTurn(run).catch((error: Error) => error);
		};
		const rest = async (length: number) => await pause(length, signal);
		const first = await fetch(url);
		if (!mayPass(first)) return first;
		const failed = { url, getLinks, fetch, rest };
		const longest = (begun ?? 0) + LONGEST_DOWNLOAD;
		const until = Math.min(longest, source.filesBy ?? Infinity) - TIME_TO_OUTPUT;
		const last = await settleBy(until, downloadAgain(first, failed)).catch(() => undefined);
		over.abort();
		return last ?? first;
	}
}

/** Pauses before the last tries, in milliseconds. */
const PAUSES = [2_000, 6_000, 12_000];

/** What became of a download: the file, or why there is none. */
export type Download = DownloadedFile | Error;

/** Finds a fresh link to a file; undefined if there is none. */
export type GetLink = () => Promise<string | undefined>;

/** Whether a fresh link, or another try, may help. */
const mayPass = (download: Download): boolean =>
	download instanceof DownloadError && download.passes;

/** A download that failed, and how to repeat it. */
interface Failed {
	url: string;
	getLinks: GetLink[];
	fetch: (url: string) => Promise<Download>;
	rest: (milliseconds: number) => Promise<void>;
}

/** Tries a download again: at once by fresh links, then after pauses by the last one. */
async function downloadAgain(
	first: Download,
	{ url, getLinks, fetch, rest }: Failed,
): Promise<Download> {
	let last = first;
	let link = url;
	for (const getLink of getLinks) {
		const fresh = await getLink().catch(() => undefined);
		if (fresh === undefined || fresh === url) continue;
		link = fresh;
		last = await fetch(link);
		if (!mayPass(last)) return last;
	}
	for (const length of PAUSES) {
		await rest(length);
		last = await fetch(link);
		if (!mayPass(last)) break;
	}
	return last;
}
