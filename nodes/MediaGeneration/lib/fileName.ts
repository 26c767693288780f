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
