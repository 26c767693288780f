import { UserError } from 'n8n-workflow';
import type { ResultLink } from '../api/resultLinks';
import { describeLeftOut, listTaskLinks, REQUEST, type Task } from '../api/task';
import { nameByTask, toFileName, toWords, type Place } from '../lib/fileName';
import { limitConcurrency } from '../lib/mapConcurrent';
import { joinSignals, pause, settleBy } from '../lib/timers';
import { CONCURRENCY } from './item';
import { downloadAgain, mayPass, type Download, type GetLink } from './downloadAgain';
import { fetchFile, LONGEST_DOWNLOAD, type FileSource, type RemoteFile } from './fetchFile';

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
