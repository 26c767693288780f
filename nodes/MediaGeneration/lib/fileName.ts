import { randomUUID } from 'crypto';

/** The longest parts of a name, in characters. With additions, it has at most 255 bytes. */
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
const RESERVED = /^(con|prn|aux|nul|(com|lpt)[\d¹²³])$/i;

/** Some file systems take names for the same that differ only so. */
const foldName = (name: string): string => name.normalize('NFKC').toLowerCase().toUpperCase();

/** As many whole words as fit, else as many letters, none without its marks. */
const BEGIN = new RegExp(
	`^(.{1,${LONGEST_OF_TEXT}}(?![^-])|.{1,${LONGEST_OF_TEXT}}(?!\\p{M}))`,
	'su',
);

/** Makes a name of a text's first words, in any script, such as `a-red-fox`; blank without letters. */
export function toWords(text: string): string {
	const words = text
		// Long texts needn't be read to the end.
		.slice(0, 10 * LONGEST_OF_TEXT)
		// What can't be seen, such as characters that turn the direction of a text.
		.replace(/[\p{Default_Ignorable_Code_Point}'’]+/gu, '')
		.toLowerCase()
		.normalize('NFC')
		.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu);
	return BEGIN.exec(words?.join('-') ?? '')?.[0] ?? '';
}

/** Names the files of one run, without extension. Names are unique, even ignoring case. */
export class FileNames {
	private readonly given = new Set<string>();
	/** The names that were reserved, by ID. */
	private readonly reserved = new Map<string, string>();
	/** The last number of a name, by the words that it was made of. */
	private readonly numbers = new Map<string, number>();

	/** Reserves a name for an ID: the words, with a number if they are taken. */
	reserve(words: string, id: string): void {
		if (!words || this.reserved.has(id)) return;
		let number = this.numbers.get(words) ?? 0;
		let name: string;
		do name = ++number === 1 ? words : `${words}-${number}`;
		while (this.isTaken(name));
		this.numbers.set(words, number);
		this.given.add(foldName(name));
		this.reserved.set(id, name);
	}

	/**
	 * @param text its first words become the name, unless one is reserved; if blank, the ID does
	 * @param id appended if the name is taken already
	 * @param ending appended; letters, digits and hyphens
	 */
	choose(text: string, id: string, ending = ''): string {
		const reserved = this.reserved.get(id);
		if (reserved && !ending) return reserved;
		const words = reserved ?? toWords(text);
		const withId = [words, toFileName(id)].filter(Boolean).join('-') + ending;
		let name = words && words + ending;
		for (let count = 1; !name || this.isTaken(name); count++)
			name = count === 1 ? withId : `${withId}-${count}`;
		this.given.add(foldName(name));
		return name;
	}

	private isTaken(name: string): boolean {
		return RESERVED.test(name) || this.given.has(foldName(name));
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
