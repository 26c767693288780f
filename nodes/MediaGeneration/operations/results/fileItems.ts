import { UserError, type IBinaryKeyData } from 'n8n-workflow';
import type { ResultLink } from '../../api/resultLinks';
import { listTaskLinks, type Task } from '../../api/task';
import type { OutputItem } from '../operation';
import type { DownloadedFile } from './downloadFile';

/** A file as its item describes it. */
export interface FileFacts extends ResultLink {
	/** Among the items of its task, from 0. */
	index: number;
}

const toFileFacts = (link: ResultLink, index: number): FileFacts => ({ index, ...link });

/** Names the binary field of a task's file, for example `data_1` for its second. */
const nameBinaryField = (first: string, index: number): string =>
	index ? `${first}_${index}` : first;

/** Makes the items of a task: with `perFile`, one for each result file, if it has completed with any. */
export function toTaskItems(
	task: Task & { downloadError?: string; lookError?: string },
	perFile: boolean,
): OutputItem[] {
	const links = perFile && task.status === 'completed' ? listTaskLinks(task, ['result']) : [];
	if (!links.length) return [{ json: task }];
	return links.map((link, index) => ({ json: { ...task, file: toFileFacts(link, index) } }));
}

/** A file of a task, and what became of its download. */
export interface FileDownload {
	link: ResultLink;
	result: PromiseSettledResult<DownloadedFile>;
}

interface FileItemOptions {
	/** The binary field; with an item for each task, that of its first file. */
	field: string;
	perFile: boolean;
	/** What an item for a file says of it beside what the service says. */
	describe: (file: DownloadedFile) => object;
}

/** Makes the items of a task with its files. Where one could not be downloaded, `downloadError` has the reason. */
export function toFileItems(
	task: Task,
	downloads: FileDownload[],
	{ field, perFile, describe }: FileItemOptions,
): OutputItem[] {
	if (perFile)
		return downloads.map(({ link, result }, index) => {
			const file = toFileFacts(link, index);
			if (result.status === 'rejected')
				return { json: { ...task, file, downloadError: describeError(result.reason as Error) } };
			return {
				json: { ...task, file: { ...file, ...describe(result.value) } },
				binary: { [field]: result.value.binary },
			};
		});
	const binary: IBinaryKeyData = {};
	let downloadError: string | undefined;
	for (const { result } of downloads) {
		const count = Object.keys(binary).length;
		if (result.status === 'fulfilled') binary[nameBinaryField(field, count)] = result.value.binary;
		else downloadError ??= describeError(result.reason as Error);
	}
	return [
		{
			json: downloadError === undefined ? task : { ...task, downloadError },
			...(Object.keys(binary).length && { binary }),
		},
	];
}

/** Says why a file can't be downloaded, and what to do. */
export const describeError = (error: Error): string =>
	[error.message, error instanceof UserError && error.description].filter(Boolean).join('. ');

/** Recognizes an item of a task that has an item before it, for its first file. */
export const isFurtherFile = (json: object = {}): boolean =>
	Number((json as { file?: { index?: unknown } | null }).file?.index) > 0;
