import { type IBinaryData, UserError } from 'n8n-workflow';
import { toQuote } from '../../api/answers';
import {
	hasText,
	isFilled,
	listTaskLinks,
	REQUEST,
	type ResultLink,
	type Task,
} from '../../api/task';
import type { Call } from '../../host/call';
import { nameByTask, toWords } from '../../lib/fileName';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { pause, settleBy } from '../../lib/timers';
import { CONCURRENCY, type OutputItem } from '../input/item';
import type { Ledger } from '../ledger/ledger';
import { TIME_AFTER_DOWNLOADS } from '../timetable';
import {
	type DownloadedFile,
	DownloadError,
	fetchFile,
	type DownloadSetup,
	type RemoteFile,
} from './fetchFile';

/** A file of a task, with what is known of it. */
export interface TaskFile {
	link: ResultLink;
	/** Present if it was downloaded. */
	binary?: IBinaryData;
	/** Why it can't be downloaded. */
	error?: Error;
}

/**
 * The files of the node's last run in an execution, by the node's context, so that n8n's tries don't
 * download them again. n8n drops the context with the execution. Another process downloads anew.
 */
const downloadsOf = new WeakMap<object, { runIndex: number; downloads: Downloads }>();

/** Finds what a run has downloaded, or begins anew. */
export function openDownloads({ nodeContext }: Call, ledger: Ledger): Downloads {
	const { executionId, runIndex } = ledger;
	// The ledger of Wait isn't stored, and knows neither execution nor run. So the ledger is the owner.
	const owner = (executionId && nodeContext) || ledger;
	const known = downloadsOf.get(owner);
	if (known?.runIndex === runIndex) return known.downloads;
	const downloads = new Downloads();
	downloadsOf.set(owner, { runIndex, downloads });
	return downloads;
}

/** Which files of a task are wanted, and how they are named. */
interface Wanted extends DownloadSetup {
	/** From the service only: links in an item could name any address in this network. */
	links: ResultLink[];
	/** The largest size of a file. */
	maxBytes: number;
	/** The task's item, for file names. */
	item: number;
	/** The first words of the task's prompt, if the run knows them, for file names. */
	words?: string;
}

/** Lists the links to a task's files of these kinds. @throws {UserError} when there are none */
export function listFileLinks(task: Task, kinds: string[]): ResultLink[] {
	const { taskId, status = 'pending', failMessage, downloadError } = task;
	const links = status === 'completed' ? listTaskLinks(task, kinds) : [];
	if (links.length) return links;
	const end = failMessage ? `${status} (${failMessage})` : status;
	throw new UserError(`Task ${taskId} is ${end}, and has none of the chosen files`, {
		description:
			downloadError ??
			'Only completed tasks have files. A result that is text is in the field result of Get.',
	});
}

/** How long to wait before the same link is asked again, in milliseconds. */
const PAUSES_BETWEEN_DOWNLOADS = [2_000, 6_000, 12_000];

/** After so many fresh links that don't work, the service isn't asked for links to the task's other files. */
const MOST_USELESS_LINKS = 3;

/** Downloads the files of a run's tasks, a limited number at once. */
export class Downloads {
	private readonly limitDownloads = limitConcurrency(CONCURRENCY);
	/** Asks for fresh links one by one: the service gives an account one link a second, and other runs wait too. */
	private readonly renewOneByOne = limitConcurrency(1);
	private readonly begun = new Map<string, Promise<TaskFile[]>>();
	/** By the task's key, once each of the task's files is downloaded or has an error. */
	private readonly done = new Map<string, TaskFile[]>();

	find(key: string): TaskFile[] | undefined {
		return this.done.get(key);
	}

	/** Downloads the files of a task, unless the run has begun to do so before. Nothing is thrown. */
	async downloadOnce(key: string, task: Task, wanted: Wanted): Promise<void> {
		const downloading = this.begun.get(key) ?? this.downloadAll(task, wanted);
		this.begun.set(key, downloading);
		this.done.set(key, await downloading);
	}

	/** Downloads the files of a task, as the service returned it. Nothing is thrown. */
	async downloadAll(task: Task, wanted: Wanted): Promise<TaskFile[]> {
		const { call, links, maxBytes, item, words } = wanted;
		const position = { item, count: call.context.getInputData().length };
		const name = nameByTask(task.taskId, words || toWords(task[REQUEST]?.prompt ?? ''), position);
		const listUrls = this.makeUrlLister(wanted);
		const download = async (link: ResultLink): Promise<TaskFile> => {
			const { url, kind } = link;
			const number = links.filter((one) => one.kind === kind).indexOf(link);
			const label = `${kind} ${number + 1} of task ${task.taskId}`;
			const ending = (kind === 'result' ? '' : `-${kind}`) + (number ? `-${number + 1}` : '');
			const file = { url, label, name: name + ending, maxBytes };
			const downloaded = await this.download(wanted, file, listUrls);
			if (downloaded instanceof Error) return { link, error: downloaded };
			const { binary, ...facts } = downloaded;
			return { link: { ...link, ...facts }, binary };
		};
		return await Promise.all(links.map(download));
	}

	/**
	 * Makes a function that lists the URLs of a file, for a reader that stops at the first that works: the
	 * file's link, at once a fresh link from the service, then the newest link again after each of
	 * `PAUSES_BETWEEN_DOWNLOADS`.
	 */
	private makeUrlLister({ call, getService, settings }: DownloadSetup) {
		const { renewOneByOne } = this;
		let uselessLinks = 0;
		const renew = async (url: string) =>
			uselessLinks < MOST_USELESS_LINKS
				? await (await getService()).request('downloadUrlPath', settings, { body: { url } })
				: undefined;
		return async function* (url: string, doneBy: number) {
			yield url;
			const fresh = await renewOneByOne(async () => await renew(url)).catch(() => undefined);
			if (fresh !== undefined && fresh !== url) yield fresh;
			// The reader is back for another URL, so the fresh link didn't work.
			uselessLinks++;
			for (const length of PAUSES_BETWEEN_DOWNLOADS) {
				if (Date.now() + length > doneBy) return;
				await pause(length, call.signal);
				yield fresh ?? url;
			}
		};
	}

	/** Downloads a file from the first URL that works. @returns the last error, if no URL works */
	private async download(
		downloader: DownloadSetup,
		file: RemoteFile,
		listUrls: ReturnType<Downloads['makeUrlLister']>,
	): Promise<DownloadedFile | Error> {
		const doneBy = downloader.call.doneBy - TIME_AFTER_DOWNLOADS;
		const noTime = "Raise 'Timeout Workflow' in the workflow's settings.";
		let result: DownloadedFile | Error = new DownloadError(file, 'no time was left', noTime);
		const tryAll = async () => {
			for await (const url of listUrls(file.url, doneBy)) {
				const downloading = this.limitDownloads(
					async () => await fetchFile(downloader, { ...file, url }),
				);
				result = await downloading.catch((error: Error) => error);
				if (!(result instanceof DownloadError && result.isTemporary)) return;
			}
		};
		// A file that takes too long is no obstacle for the output of the others.
		await settleBy(doneBy, tryAll()).catch(() => undefined);
		return result;
	}
}

const listResults = (task: Task): TaskFile[] =>
	task.status === 'completed' ? listTaskLinks(task, ['result']).map((link) => ({ link })) : [];

/**
 * Makes the items of a task: with `perFile`, one for each file, if it has any.
 * @param field the binary field; where an item has several files, the field of the first
 */
export function toTaskItems(
	task: Task,
	{ perFile, field = '' }: { perFile?: boolean; field?: string },
	files = listResults(task),
): OutputItem[] {
	if (perFile && files.length)
		return files.map((file, index) => {
			const withFile = { ...task, file: { index, ...file.link } };
			return toItem(withFile, [file], field);
		});
	return [toItem(task, files, field)];
}

/** Makes an item with files. If a file is missing, `downloadError` says why. */
function toItem(task: Task, files: TaskFile[], field: string): OutputItem {
	const [failed] = files.flatMap(({ error }) => error ?? []);
	const remedy = failed instanceof UserError ? failed.description : '';
	const why = failed && [`${failed.message}.`, remedy, GET_FILES].filter(Boolean).join(' ');
	const binaries = files
		.flatMap(({ binary }) => binary ?? [])
		.map((binary, index) => [index ? `${field}_${index}` : field, binary]);
	const binary = Object.fromEntries(binaries) as OutputItem['binary'];
	const json = { ...task, ...(why && { downloadError: why }) };
	return { json, ...(binaries.length && { binary }) };
}

/**
 * Says why a completed task without links has no file: the answer was too long for its result, or there
 * is no result at all, in the service's own words. Undefined if the result is text.
 */
export function describeNoResult({ result, failMessage, downloadError }: Task): string | undefined {
	if (downloadError) return downloadError;
	if (hasText(result)) return undefined;
	const words = failMessage ?? (isFilled(result) ? toQuote(result) : '');
	const reason = words && ` (${words})`;
	return `The task completed without a result${reason}. Get, with Simplify off, shows all that the service says of it. Running Generate again pays for a new task.`;
}

/** How to get a file that Generate, or Wait, could not download. */
export const GET_FILES =
	'Use Get Files with this task ID. Running Generate again pays for a new task.';
