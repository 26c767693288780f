import { UserError } from 'n8n-workflow';
import type { ResultLink } from '../../api/resultLinks';
import { describeLeftOut, listTaskLinks, REQUEST, type Task } from '../../api/task';
import type { Call } from '../../host/call';
import { nameByTask, toWords } from '../../lib/fileName';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { pause, settleBy } from '../../lib/timers';
import { CONCURRENCY } from '../input/item';
import type { Ledger } from '../ledger/ledger';
import {
	type DownloadedFile,
	DownloadError,
	fetchFile,
	type FileSource,
	type RemoteFile,
} from './fetchFile';
import type { TaskFile } from './fileItems';

/**
 * By the node's context, so that n8n's tries don't download files again. n8n drops it with the
 * execution, and the files of one run go when the next begins. Another process downloads them itself.
 */
const filesOf = new WeakMap<object, { run: number; files: Files }>();

/** Finds the files of a run. */
export function openFiles({ nodeContext }: Call, ledger: Ledger): Files {
	const { executionId, runIndex } = ledger;
	// Wait stores no ledger, which would say in which execution and run it is.
	const owner = (executionId && nodeContext) || ledger;
	const known = filesOf.get(owner);
	if (known?.run === runIndex) return known.files;
	const files = new Files();
	filesOf.set(owner, { run: runIndex, files });
	return files;
}

/** The files of a task that are wanted. */
interface Wanted extends FileSource {
	/** From the service only: links in an item could name any address in this network. */
	links: ResultLink[];
	/** The largest size of a file. */
	maxBytes: number;
	/** Their item, and the first words of its prompt where the run knows them, for their names. */
	item: number;
	words?: string;
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
			'Only completed tasks have files. A result that is text is in the field result of Get.',
	});
}

/** Pauses before the last tries of a download, in milliseconds. */
const PAUSES = [2_000, 6_000, 12_000];

/** Left at the end of a call for the output, in milliseconds. */
const TIME_TO_OUTPUT = 6_000;

/** After so many fresh links of no use, a task's other files ask for none. */
const MOST_IN_VAIN = 3;

/** Finds a fresh link to a file; undefined if there is none. */
type GetLink = () => Promise<string | undefined>;

/** Whether a fresh link, or another try, may help. */
const mayPass = (download: DownloadedFile | Error): boolean =>
	download instanceof DownloadError && download.passes;

/** The files of a run's tasks. A limited number is downloaded at once. */
export class Files {
	private readonly inTurn = limitConcurrency(CONCURRENCY);
	/** An account has one such request in a second, and other runs wait behind those that are made. */
	private readonly renewInTurn = limitConcurrency(1);
	private readonly begun = new Map<string, Promise<TaskFile[]>>();
	/** By the task's key, once all files of the task are there, or can't be had. */
	private readonly done = new Map<string, TaskFile[]>();

	find(key: string): TaskFile[] | undefined {
		return this.done.get(key);
	}

	/** Downloads the files of a task, unless a try before has begun to. Nothing is thrown. */
	async downloadOnce(key: string, task: Task, wanted: Wanted): Promise<void> {
		const downloading = this.begun.get(key) ?? this.downloadAll(task, wanted);
		this.begun.set(key, downloading);
		this.done.set(key, await downloading);
	}

	/** Downloads the files of a task, as the service returned it. Nothing is thrown. */
	async downloadAll(task: Task, wanted: Wanted): Promise<TaskFile[]> {
		const { call, links, maxBytes, item, words } = wanted;
		const place = { item, count: call.context.getInputData().length };
		const name = nameByTask(task.taskId, words || toWords(task[REQUEST]?.prompt ?? ''), place);
		const getFresh = this.createGetFresh(task, wanted);
		const download = async (link: ResultLink): Promise<TaskFile> => {
			const { url, kind } = link;
			const number = links.filter((one) => one.kind === kind).indexOf(link);
			const label = `${kind} ${number + 1} of task ${task.taskId}`;
			const ending = (kind === 'result' ? '' : `-${kind}`) + (number ? `-${number + 1}` : '');
			const file = { url, label, name: name + ending, maxBytes };
			const downloaded = await this.download(wanted, file, getFresh(link, number));
			if (downloaded instanceof Error) return { link, error: downloaded };
			const { binary, ...facts } = downloaded;
			return { link: { ...link, ...facts }, binary };
		};
		return await Promise.all(links.map(download));
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
					return await (await getService()).request('downloadUrlPath', settings, { body: { url } });
				}),
			async () => {
				inVain++;
				return listTaskLinks(await (again ??= read()), [kind])[number]?.url;
			},
		];
	}

	/** Downloads a file; if that fails, at once by fresh links, then after pauses by the last one. */
	private async download(
		source: FileSource,
		file: RemoteFile,
		getLinks: GetLink[],
	): Promise<DownloadedFile | Error> {
		const { signal, deadline } = source.call;
		const until = deadline - TIME_TO_OUTPUT;
		const noTime = "Raise 'Timeout Workflow' in the workflow's settings.";
		let last: DownloadedFile | Error = new DownloadError(file, 'no time was left', noTime);
		const fetch = async (url: string) => {
			const downloading = this.inTurn(async () => await fetchFile(source, { ...file, url }));
			last = await downloading.catch((error: Error) => error);
		};
		const tryAll = async () => {
			let { url } = file;
			await fetch(url);
			for (const getLink of getLinks) {
				const fresh = mayPass(last) ? await getLink().catch(() => undefined) : undefined;
				if (fresh === undefined || fresh === file.url) continue;
				url = fresh;
				await fetch(url);
			}
			for (const length of PAUSES) {
				if (!mayPass(last) || Date.now() + length > until) break;
				await pause(length, signal);
				await fetch(url);
			}
		};
		// A file that takes too long is no obstacle for the output of the others.
		await settleBy(until, tryAll()).catch(() => undefined);
		return last;
	}
}
