import { UserError } from 'n8n-workflow';
import { refreshLink } from '../../api/catalogue';
import type { TaskService } from '../../api/client';
import type { ResultLink } from '../../api/resultLinks';
import { listTaskLinks, PROMPT, type Task } from '../../api/task';
import { toFileName, type FileNames } from '../../lib/fileName';
import type { limitConcurrency } from '../../lib/mapConcurrent';
import type { Item } from '../operation';
import { downloadFile, type DownloadContext, type DownloadedFile } from './downloadFile';
import type { FileDownload } from './fileItems';

/** The needs of downloading the files of a task. */
export interface FileSource extends DownloadContext {
	service: TaskService;
}

export const toFileSource = ({ context, service, settings }: Item): FileSource => ({
	helpers: context.helpers,
	service,
	settings,
	signal: context.getExecutionCancelSignal(),
});

/** A file of a task, and its number among those of its kind, from 0. */
interface ResultFile {
	link: ResultLink;
	number: number;
}

/**
 * The result files of a task. Its links come only from the service. An item that looks like a task may come from anybody, and its
 * links could name any address in this network.
 */
export class ResultFiles {
	private renewed?: Promise<Task>;

	constructor(
		/** The task as the service returned it. */
		readonly task: Task,
		private readonly source: FileSource,
		/** The file names of the run. */
		private readonly names: FileNames,
	) {}

	/** @throws {UserError} when the task has no such files */
	listLinks(kinds: string[]): ResultFile[] {
		const { taskId, status, state, failMessage, result } = this.task;
		if (status !== 'completed')
			throw new UserError(
				`Task ${taskId} has no files: its status is ${status}${state ? ` (${state})` : ''}${failMessage ? `: ${failMessage}` : ''}`,
				{
					description:
						status === 'failed'
							? 'A failed task has no result. Check the prompt and the media, and create a new one.'
							: 'Download it when it is completed: Generate returns completed tasks, Get looks at one again.',
				},
			);
		const links = listTaskLinks(this.task, kinds);
		if (links.length === 0)
			throw new UserError(`Task ${taskId} is completed, but has none of the chosen files`, {
				description:
					result === undefined
						? 'Choose other Files.'
						: 'Choose other Files. A result that is text, or has another form, is in the field result.',
			});
		return links.map((link, index) => ({
			link,
			number: links.slice(0, index).filter(({ kind }) => kind === link.kind).length,
		}));
	}

	/**
	 * Downloads the files of these kinds, each in its turn.
	 * @throws {UserError} when the task has no such files
	 */
	async downloadAll(
		kinds: string[],
		maxBytes: number,
		inTurn: ReturnType<typeof limitConcurrency>,
	): Promise<FileDownload[]> {
		const download = async (file: ResultFile): Promise<FileDownload> => {
			const [result] = await Promise.allSettled([
				inTurn(async () => await this.download(file, maxBytes)),
			]);
			return { link: file.link, result };
		};
		return await Promise.all(this.listLinks(kinds).map(download));
	}

	/**
	 * Downloads a file. A link that is refused has usually expired, so the service is asked for a fresh one, or for the task again.
	 * @throws {UserError} when the file can't be downloaded, or is too large
	 */
	async download({ link, number }: ResultFile, maxBytes: number): Promise<DownloadedFile> {
		const { taskId } = this.task;
		const { kind, url } = link;
		const { service, settings } = this.source;
		const ending = [kind !== 'result' && kind, number > 0 && number + 1].filter(Boolean);
		const name = this.names.choose(
			this.task[PROMPT] ?? '',
			taskId,
			ending.map((part) => `-${part}`).join(''),
		);
		const label = `${toFileName(taskId)}-${kind}-${number + 1}`;
		const { baseUrl } = service.credentials;
		const attempts = [
			async () => url,
			async () => await refreshLink(service, url, settings).catch(() => undefined),
			async () => await this.renewLink(kind, number),
		];
		for (const getLink of attempts) {
			const at = await getLink();
			const file =
				at && (await downloadFile(this.source, { url: at, label, name, maxBytes, baseUrl }));
			if (file) return { ...file, url: at };
		}
		throw new UserError(
			`The link to ${kind} ${number + 1} of task ${taskId} has expired or is refused, also after the service was asked for a fresh one`,
			{
				description:
					'Services usually keep results for a limited time. Download them sooner, right behind Generate or the trigger.',
			},
		);
	}

	/** Reads a link again, with one request for all files of the task. */
	private async renewLink(kind: string, number: number): Promise<string | undefined> {
		const { service, settings } = this.source;
		this.renewed ??= service.getTask(this.task.taskId, settings);
		return listTaskLinks(await this.renewed, [kind])[number]?.url;
	}
}
