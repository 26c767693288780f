/** The longest name, in characters. With what is added to it, it fits every file system. */
const LONGEST = 60;

/**
 * Makes a file's name, without extension, of any text: no path, no hidden file, and nothing that a shell or Windows reads
 * differently. The caller adds more to it, so that it is none of Windows' reserved names either.
 */
export const toFileName = (text: string): string =>
	text
		.replace(/[^\w-]+/g, '-')
		.replace(/^-+/, '')
		.slice(0, LONGEST) || 'file';

/** Names that Windows keeps for devices, with any extension. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/** The longest name that a text gives, in characters. */
const LONGEST_OF_TEXT = 40;

/** Makes a name of the first words of a text, as `a-red-fox-in-snow`; blank where it has none in Latin letters. */
function toWords(text: string): string {
	const words = text
		// Much more than a name has.
		.slice(0, 10 * LONGEST_OF_TEXT)
		.normalize('NFKD')
		.replace(/[\p{M}'’]+/gu, '')
		.toLowerCase()
		.split(/[^a-z\d]+/)
		.filter(Boolean);
	let name = words[0]?.slice(0, LONGEST_OF_TEXT) ?? '';
	for (const word of words.slice(1)) {
		if (name.length + 1 + word.length > LONGEST_OF_TEXT) break;
		name += `-${word}`;
	}
	return name;
}

/** Names the files of one run, without extension. No two are the same, also where a file system ignores case. */
export class FileNames {
	private readonly given = new Set<string>();

	/**
	 * @param text gives the name by its first words; blank: the ID gives it
	 * @param id stands behind the words where two names would be the same
	 * @param ending of letters, digits and hyphens
	 */
	choose(text: string, id: string, ending = ''): string {
		const words = toWords(text);
		const withId = [words, toFileName(id)].filter(Boolean).join('-') + ending;
		const names = function* () {
			yield words && words + ending;
			yield withId;
			for (let count = 2; ; count++) yield `${withId}-${count}`;
		};
		for (const name of names()) {
			const key = name.toLowerCase();
			if (!name || RESERVED.test(name) || this.given.has(key)) continue;
			this.given.add(key);
			return name;
		}
		return withId;
	}
}
