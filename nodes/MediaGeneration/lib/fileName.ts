import { randomUUID } from 'crypto';
import { digest } from './json';

/**
 * Turns an ID into a file name without extension. The name is no path and no hidden file, needs no quotes
 * in shells, and works on Windows, unless Windows reserves it. File systems take up to 255 bytes.
 */
export const toFileName = (id: string): string =>
	id
		.replace(/[^\w-]+/g, '-')
		.replace(/^-+/, '')
		.slice(0, 60) || 'file';

/** As many whole words as fit into 40 characters, or else the first letters, each with its marks. */
const FIRST_WORDS = /^(.{1,40}(?![^-])|.{1,40}(?!\p{M}))/su;

/** Makes a name of a text's first words, in any script, such as `a-red-fox`; blank without letters. */
export function toWords(text: string): string {
	const words = text
		// Long texts needn't be read to the end.
		.slice(0, 400)
		// Drops characters that can't be seen, such as those that turn the direction of a text.
		.replace(/[\p{Default_Ignorable_Code_Point}'’]+/gu, '')
		.toLowerCase()
		.normalize('NFC')
		.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu);
	return FIRST_WORDS.exec(words?.join('-') ?? '')?.[0] ?? '';
}

/** Makes eight letters that differ for each ID. IDs themselves may begin alike. */
const toLetters = (id: string) =>
	digest(id)
		.toLowerCase()
		.replace(/[^a-z]+/g, '')
		.slice(0, 8);

/** Which of the items that are named together an item is. */
export interface Position {
	item: number;
	/** The number of items. */
	count: number;
}

/**
 * Makes a name for the files of a task, without extension: of words, or else of the task's ID. No two
 * tasks have the same name, and names sort as items do.
 */
export function nameByTask(taskId: string, words: string, { item, count }: Position): string {
	const number = count > 1 && String(item + 1).padStart(String(count).length, '0');
	const parts = words ? [words, number] : [number, toFileName(taskId)];
	return [...parts, toLetters(taskId)].filter(Boolean).join('-');
}

/** Makes a unique file name, because a service may overwrite a file of the same name. */
export function makeUniqueName(name = '', extension = ''): string {
	const [, stem = '', ending = ''] = /^(.+?)(?:\.([^.]*))?$/s.exec(name) ?? [];
	const suffix = `.${extension || ending}`.toLowerCase();
	const isSafe = /^\.[a-z\d]{1,10}$/.test(suffix);
	return `${toFileName(stem)}-${randomUUID()}${isSafe ? suffix : ''}`;
}
