import { randomUUID } from 'crypto';

/** The longest parts of a name, in characters. With additions, it still fits every file system. */
const LONGEST_OF_ID = 60;
const LONGEST_OF_TEXT = 40;

/**
 * Turns an ID into a file name without extension. It can't be a path or a hidden file, and means the
 * same to shells and to Windows. Callers append something, so it can't be a reserved name either.
 */
export const toFileName = (id: string): string =>
	id
		.replace(/[^\w-]+/g, '-')
		.replace(/^-+/, '')
		.slice(0, LONGEST_OF_ID) || 'file';

/** Names that Windows reserves for devices, with any extension. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/** Makes a name of a text's first words, such as `a-red-fox`; blank without Latin letters. */
function toWords(text: string): string {
	const words = text
		// Long texts needn't be read to the end.
		.slice(0, 10 * LONGEST_OF_TEXT)
		.normalize('NFKD')
		.replace(/[\p{M}'’]+/gu, '')
		.toLowerCase()
		.replace(/[^a-z\d]+/g, '-')
		.replace(/^-|-$/g, '');
	if (words.length <= LONGEST_OF_TEXT) return words;
	const whole = words.slice(0, LONGEST_OF_TEXT + 1).replace(/-[^-]*$/, '');
	return whole.slice(0, LONGEST_OF_TEXT);
}

/** Names the files of one run, without extension. Names are unique, even ignoring case. */
export class FileNames {
	private readonly given = new Set<string>();

	/**
	 * @param text its first words become the name; if blank, the ID does
	 * @param id appended if the name is taken already
	 * @param ending appended; letters, digits and hyphens
	 */
	choose(text: string, id: string, ending = ''): string {
		const words = toWords(text);
		const withId = [words, toFileName(id)].filter(Boolean).join('-') + ending;
		let name = words && words + ending;
		for (let count = 1; !name || RESERVED.test(name) || this.given.has(name.toLowerCase()); count++)
			name = count === 1 ? withId : `${withId}-${count}`;
		this.given.add(name.toLowerCase());
		return name;
	}
}

/** Makes a unique file name, because a service may overwrite a file of the same name. */
export function makeUniqueName(name = '', extension = ''): string {
	const dot = name.lastIndexOf('.');
	const stem = toFileName(dot > 0 ? name.slice(0, dot) : name);
	const ending = extension || (dot > 0 ? name.slice(dot + 1) : '');
	const suffix = /^[a-z\d]{1,10}$/i.test(ending) ? `.${ending.toLowerCase()}` : '';
	return `${stem}-${randomUUID()}${suffix}`;
}
