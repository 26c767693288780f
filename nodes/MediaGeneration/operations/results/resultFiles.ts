import { UserError } from 'n8n-workflow';
import type { ResultLink } from '../../api/resultLinks';
import { listTaskLinks, REQUEST, type Task } from '../../api/task';
import { FileNames, toFileName } from '../../lib/fileName';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { CONCURRENCY, type Item } from '../operation';
import { fetchFile, type DownloadedFile, type FileSource, type RemoteFile } from './fetchFile';

export const toFileSource = ({ context, service, settings }: Item): FileSource => ({
	helpers: context.helpers,
	getService: async () => service,
	settings,
	signal: context.getExecutionCancelSignal(),
});

/** Lists the links to a task's files of these kinds. @throws {UserError} when it has none */
export function listFiles(task: Task, kinds: string[]): ResultLink[] {
	const { taskId, status = 'pending', failMessage } = task;
	const links = status === 'completed' ? listTaskLinks(task, kinds) : [];
	if (links.length) return links;
	const state = failMessage ? `${status} (${failMessage})` : status;
	throw new UserError(`Task ${taskId} is ${state}, and has none of the chosen files`, {
		description:
			status === 'completed'
				? 'Choose other Files. A result that is text, or has another form, is in the field result.'
				: 'Only completed tasks have files: Generate returns them, Get looks at a task again.',
	});
}

/** How many times the largest file the files of a task may have together. */
const FILES_TOGETHER = 5;

/** A file of a task, and what became of its download. */
export interface FileDownload {
	link: ResultLink;
	result: PromiseSettledResult<DownloadedFile>;
}

/**
 * Downloads the files of a run's tasks, a limited number at once, each under a name of its own. The
 * links come only from the service: an item that looks like a task may come from anybody, and its
 * links could name any address in this network.
 */
export class FileDownloads {
	private readonly inTurn = limitConcurrency(CONCURRENCY);
	private readonly names = new FileNames();

	/**
	 * @param task as the service returned it
	 * @param maxBytes of a file; all together may have five times as much
	 * @throws {UserError} when it has no such files
	 */
	async downloadAll(
		task: Task,
		kinds: string[],
		source: FileSource,
		maxBytes: number,
	): Promise<FileDownload[]> {
		const { getService, settings } = source;
		const together = { received: 0, maxBytes: FILES_TOGETHER * maxBytes };
		let again: Promise<Task> | undefined;
		const read = async () => await (await getService()).getTask(task.taskId, settings);
		const readAgain = async () => await (again ??= read());
		const refresh = async (url: string) => await (await getService()).getDownloadUrl(url, settings);
		const download = async (link: ResultLink, _: number, links: ResultLink[]) => {
			const number = links.filter(({ kind }) => kind === link.kind).indexOf(link);
			const ending =
				(link.kind === 'result' ? '' : `-${link.kind}`) + (number ? `-${number + 1}` : '');
			const getLinks = [
				async () => link.url,
				async () => await refresh(link.url).catch(() => undefined),
				async () => listTaskLinks(await readAgain(), [link.kind])[number]?.url,
			];
			const file = {
				label: `${toFileName(task.taskId)}-${link.kind}-${number + 1}`,
				name: this.names.choose(task[REQUEST]?.prompt ?? '', task.taskId, ending),
				maxBytes,
				together,
			};
			const [result] = await Promise.allSettled([
				this.inTurn(async () => await downloadFirst(source, file, getLinks)),
			]);
			return { link, result };
		};
		return await Promise.all(listFiles(task, kinds).map(download));
	}
}

/** A link that is refused has usually expired, so the next one is tried. */
async function downloadFirst(
	source: FileSource,
	file: Omit<RemoteFile, 'url'>,
	getLinks: Array<() => Promise<string | undefined>>,
): Promise<DownloadedFile> {
	for (const getLink of getLinks) {
		const url = await getLink();
		const downloaded = url && (await fetchFile(source, { ...file, url }));
		if (downloaded) return downloaded;
	}
	throw new UserError(
		`The link to ${file.label} has expired or is refused, also after the service was asked for a fresh one`,
		{
			description: 'Services keep results for a limited time. Download them right behind Generate.',
		},
	);
}
