import { type IBinaryData, UserError } from 'n8n-workflow';
import { hasText, isFilled, type ResultLink } from '../../api/resultLinks';
import { toQuote } from '../../api/schemas';
import { listTaskLinks, type Task } from '../../api/task';
import type { OutputItem } from '../input/item';

/** A file of a task, with what is known of it. */
export interface TaskFile {
	link: ResultLink;
	/** Present if it was downloaded. */
	binary?: IBinaryData;
	/** Why it can't be downloaded. */
	error?: Error;
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

/** Makes an item with files; if a file is missing, `downloadError` says why. */
function toItem(task: Task, files: TaskFile[], field: string): OutputItem {
	const [failed] = files.flatMap(({ error }) => error ?? []);
	const next = failed instanceof UserError ? failed.description : '';
	const why = failed && [`${failed.message}.`, next, GET_FILES].filter(Boolean).join(' ');
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
	if (downloadError ?? hasText(result)) return downloadError;
	const said = failMessage ?? (isFilled(result) ? toQuote(result) : '');
	const words = said && ` (${said})`;
	return `The task completed without a result${words}. Get, with Simplify off, shows all that the service says of it. Running Generate again pays for a new task.`;
}

/** How to get a file that Generate, or Wait, could not download. */
export const GET_FILES =
	'Use Get Files with this task ID. Running Generate again pays for a new task.';
