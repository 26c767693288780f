import { decodePart } from '../lib/url';
import { formats, MAGIC_LENGTH, recognizeFormat } from './formats';
import { Reader, type Chunks } from './reader';

/** What a host says of a file, by its headers and URL. */
interface FileSigns {
	headers: Record<string, string | undefined>;
	url: string;
}

/** Without a type, n8n derives it from the extension. */
interface FileType {
	mimeType?: string;
	extension: string;
}

/** Types that are named after no extension. */
const OTHER_NAMES: Record<string, string> = { wave: 'wav', subrip: 'srt', 'zip-compressed': 'zip' };

/** The longest extensions, in characters. What follows the last dot of a URL may be something else. */
const LONGEST_IN_NAME = 10;
const LONGEST_IN_URL = 5;

/** Finds out the type of a file that is arriving. @returns it, and the file from its first byte */
export async function readFileType(
	file: Chunks,
	signs: FileSigns,
): Promise<FileType & { chunks: AsyncGenerator<Uint8Array> }> {
	const reader = new Reader(file);
	const head = await reader.peek(MAGIC_LENGTH);
	return { ...chooseFileType(signs, head), chunks: reader.rest() };
}

/**
 * Chooses a file's type and extension: by the name that its host gives it, by the type that it gives,
 * by its first bytes, or by its URL. Of the host's name only the extension is used.
 */
export function chooseFileType({ headers, url }: FileSigns, head: Buffer): FileType {
	const type = readType(headers['content-type']);
	const named = readNamedExtension(headers['content-disposition']);
	// It means any file.
	if (named && named !== 'bin')
		return { mimeType: findFormat(named)?.mimeType ?? type, extension: named };
	const ending = readExtension(new URL(url).pathname, LONGEST_IN_URL);
	if (type) return { mimeType: type, extension: chooseExtension(type, ending) };
	const found = recognizeFormat(head);
	// Subtitles are text, documents are ZIP archives: there a URL says more.
	const isVague = !found || ['text', 'zip'].includes(found.format);
	if (ending && isVague) return { extension: ending };
	return { mimeType: found?.mimeType, extension: found?.extension ?? 'bin' };
}

/** Chooses the extension of a type, such as `wav` of audio/x-wav. @param ending that of the URL */
function chooseExtension(type: string, ending?: string): string {
	const [, name = ''] = /\/(?:x-|vnd\.)?([^+]*)/.exec(type) ?? [];
	const own = OTHER_NAMES[name] ?? name;
	const types = [type, type.replace('/x-', '/')];
	const known = formats.find(({ mimeType }) => types.includes(mimeType)) ?? findFormat(own);
	return known?.extension ?? ending ?? readExtension(`.${own}`, LONGEST_IN_URL) ?? 'bin';
}

const findFormat = (name: string) =>
	formats.find(({ format, extension }) => format === name || extension === name);

/** Types that mean any file. */
const ANY_TYPE = /\/((x-)?(octet-stream|binary|unknown)|((force|x)-)?download)$/;

/** Reads a Content-Type; undefined for one that means any file. */
function readType(contentType = ''): string | undefined {
	const [type] = /^[\w.+-]{1,60}\/[\w.+-]{1,100}(?=\s*(;|$))/.exec(contentType.toLowerCase()) ?? [];
	return type && ANY_TYPE.test(type) ? undefined : type;
}

/** A parameter of a header: its name, and its value with or without quotes. */
const PARAMETER = /;\s*([\w*-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;

/** Reads the extension of the file name in a Content-Disposition (RFC 6266). */
function readNamedExtension(disposition = ''): string | undefined {
	const given = new Map<string, string>();
	for (const [, name = '', value = ''] of disposition.matchAll(PARAMETER))
		given.set(name.toLowerCase(), value.trim().replace(/^"|"$/g, ''));
	const encoded = decodePart(given.get('filename*') ?? '');
	return readExtension(encoded) ?? readExtension(given.get('filename') ?? '');
}

/** Reads an extension; undefined for digits, which are a version or a time. */
function readExtension(name: string, longest = LONGEST_IN_NAME): string | undefined {
	const [, extension = ''] = /\.([a-z\d]+)$/.exec(name.toLowerCase()) ?? [];
	return /\D/.test(extension) && extension.length <= longest ? extension : undefined;
}
