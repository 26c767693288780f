import { UserError } from 'n8n-workflow';
import { hasText, isFilled } from '../../api/resultLinks';
import { toQuote } from '../../api/schemas';
import { describeLeftOut, listTaskLinks, type Task, warnOfLeftOut } from '../../api/task';
import type { OutputItem } from '../input/item';
import type { FileDownload } from './downloads';

/** Makes the items of a task: with `perFile`, one for each result file, if it has any. */
export function toTaskItems(
	task: Task & { downloadError?: string; lookError?: string },
	perFile: boolean,
): OutputItem[] {
	const links = perFile && task.status === 'completed' ? listTaskLinks(task, ['result']) : [];
	if (!links.length) return [{ json: task.downloadError ? task : warnOfLeftOut(task) }];
	return links.map((link, index) => ({ json: { ...task, file: { index, ...link } } }));
}

/**
 * Makes the items of a task with its files, or with `downloadError`: why one is missing.
 * @param field the binary field; with an item for each task, that of its first file
 */
export function toFileItems(
	task: Task,
	downloads: FileDownload[],
	{ field, perFile }: { field: string; perFile: boolean },
): OutputItem[] {
	if (perFile)
		return downloads.map(({ link, result }, index) => {
			const file = { index, ...link };
			if (result instanceof Error)
				return { json: { ...task, file, downloadError: describeError(result) } };
			const { binary, ...facts } = result;
			return { json: { ...task, file: { ...file, ...facts } }, binary: { [field]: binary } };
		});
	const results = downloads.map(({ result }) => result);
	const failed = results.find((result) => result instanceof Error);
	const binaries = results
		.filter((result) => 'binary' in result)
		.map(({ binary }, index) => [index ? `${field}_${index}` : field, binary]);
	const json = failed ? { ...task, downloadError: describeError(failed) } : task;
	const binary = Object.fromEntries(binaries) as OutputItem['binary'];
	return [{ json, ...(binaries.length && { binary }) }];
}

/**
 * Says why a completed task without links has no file: its result was left out, or there is none at
 * all, in the service's own words. Undefined if its result is text.
 */
export function describeNoResult(task: Task): string | undefined {
	const { result, failMessage } = task;
	const leftOut = describeLeftOut(task);
	if (leftOut ?? hasText(result)) return leftOut;
	const said = failMessage ?? (isFilled(result) ? toQuote(result) : '');
	const words = said && ` (${said})`;
	return `The task completed without a result${words}. Get, with Simplify off, shows all that the service says of it. Running Generate again pays for a new task.`;
}

/** How to get a file that Generate, or Wait, could not download. */
export const GET_FILES =
	'Use Get Files with this task ID. Running Generate again pays for a new task.';

/** Says why a task's file can't be downloaded, and what to do. */
export function describeError(error: Error): string {
	const hint = error instanceof UserError && error.description;
	return [`${error.message}.`, hint, GET_FILES].filter(Boolean).join(' ');
}
