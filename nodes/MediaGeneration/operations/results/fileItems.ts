import { UserError } from 'n8n-workflow';
import type { ResultLink } from '../../api/resultLinks';
import { listTaskLinks, type Task } from '../../api/task';
import type { OutputItem } from '../operation';
import type { DownloadedFile } from './downloadFile';
import type { FileDownload } from './resultFiles';

/** A file as its item describes it. */
export interface FileFacts extends ResultLink {
	/** Among the items of its task, from 0. */
	index: number;
}

/** Makes the items of a task: with `perFile`, one for each result file, if it has completed with any. */
export function toTaskItems(
	task: Task & { downloadError?: string; lookError?: string },
	perFile: boolean,
): OutputItem[] {
	const links = perFile && task.status === 'completed' ? listTaskLinks(task, ['result']) : [];
	if (!links.length) return [{ json: task }];
	return links.map((link, index) => ({ json: { ...task, file: { index, ...link } } }));
}

interface FileItemOptions {
	/** The binary field; with an item for each task, that of its first file. */
	field: string;
	perFile: boolean;
	/** What an item for a file says of it beside what the service says; default: its link. */
	describe?: (file: DownloadedFile) => object;
}

/** Makes the items of a task with its files. Where one could not be downloaded, `downloadError` has the reason. */
export function toFileItems(
	task: Task,
	downloads: FileDownload[],
	{ field, perFile, describe = ({ url }) => ({ url }) }: FileItemOptions,
): OutputItem[] {
	if (perFile)
		return downloads.map(({ link, result }, index) => {
			const file = { index, ...link };
			return result.status === 'fulfilled'
				? {
						json: { ...task, file: { ...file, ...describe(result.value) } },
						binary: { [field]: result.value.binary },
					}
				: { json: { ...task, file, downloadError: describeError(result.reason as Error) } };
		});
	const results = downloads.map(({ result }) => result);
	const failed = results.find((result) => result.status === 'rejected');
	const binaries = results
		.filter((result) => result.status === 'fulfilled')
		.map(({ value }, index) => [index ? `${field}_${index}` : field, value.binary]);
	return [
		{
			json: failed ? { ...task, downloadError: describeError(failed.reason as Error) } : task,
			...(binaries.length && { binary: Object.fromEntries(binaries) as OutputItem['binary'] }),
		},
	];
}

/** Says why a file can't be downloaded, and what to do. */
export const describeError = (error: Error): string =>
	[error.message, error instanceof UserError && error.description].filter(Boolean).join('. ');
