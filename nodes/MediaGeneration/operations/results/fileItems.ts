import type { ResultLink } from '../../api/resultLinks';
import { listTaskLinks, type Task } from '../../api/task';
import type { OutputItem } from '../operation';

/** A file as its item describes it. */
export interface FileFacts extends ResultLink {
	/** Among the items of its task, from 0. */
	index: number;
}

export const toFileFacts = (link: ResultLink, index: number): FileFacts => ({ index, ...link });

/** Names the binary field of a task's file, for example `data_1` for its second. */
export const nameBinaryField = (first: string, index: number): string =>
	index ? `${first}_${index}` : first;

/** Makes an item for each result file of a completed task; one item for any other task. */
export function splitByFile(task: Task): OutputItem[] {
	const links = task.status === 'completed' ? listTaskLinks(task, ['result']) : [];
	if (!links.length) return [{ json: task }];
	return links.map((link, index) => ({ json: { ...task, file: toFileFacts(link, index) } }));
}

/** Recognizes an item of a task that has an item before it, for its first file. */
export const isFurtherFile = (json: object = {}): boolean =>
	Number((json as { file?: { index?: unknown } | null }).file?.index) > 0;
