import { formats, MAGIC_LENGTH, recognizeFormat, type Format } from './formats';
import { Reader, type Chunks } from './reader';

/** What a host says of a file: by the header Content-Type, and by its URL. */
interface FileSigns {
	contentType?: string;
	url: string;
}

/** Without a type, n8n derives it from the extension. */
interface FileType {
	mimeType?: string;
	extension: string;
}

/** Finds out the type of a file that is arriving. @returns it, and the file from its first byte */
export async function readFileType(
	file: Chunks,
	signs: FileSigns,
): Promise<FileType & { chunks: AsyncGenerator<Uint8Array> }> {
	const reader = new Reader(file);
	const head = await reader.peek(MAGIC_LENGTH);
	return { ...chooseFileType(signs, head), chunks: reader.rest() };
}

/** Chooses a file's type and extension: by its first bytes, as its host says, or by its URL. */
export function chooseFileType({ contentType, url }: FileSigns, head: Buffer): FileType {
	const type = readType(contentType);
	const ending = readExtension(new URL(url).pathname);
	const found = recognizeFormat(head);
	if (type && !(found && isSurer(found, type)))
		return { mimeType: type, extension: chooseExtension(type, ending) };
	// Subtitles are text, documents are ZIP archives: there a URL says more.
	const isVague = !found || ['text', 'zip'].includes(found.format);
	if (ending && isVague) return { extension: ending };
	return { mimeType: found?.mimeType, extension: found?.extension ?? 'bin' };
}

/**
 * Whether the first bytes say more than the type that a host sends. Hosts send media as another
 * medium's type, or as text. Only for sound and video is the type surer: they share containers.
 */
const isSurer = ({ mimeType }: Format, type: string): boolean =>
	/^(image|video|audio)\//.test(mimeType) && !/^(video|audio)\//.test(type);

/** Chooses the extension of a type, such as `wav` of audio/x-wav. @param ending that of the URL */
function chooseExtension(type: string, ending?: string): string {
	const [, own = ''] = /\/(?:x-|vnd\.)?([^+]*)/.exec(type) ?? [];
	const types = [type, type.replace('/x-', '/')];
	const known =
		formats.find(({ mimeType }) => types.includes(mimeType)) ??
		formats.find(({ format, extension }) => format === own || extension === own);
	return known?.extension ?? ending ?? readExtension(`.${own}`) ?? 'bin';
}

/** Types that mean any file. */
const ANY_TYPE = /\/((x-)?(octet-stream|binary|unknown)|((force|x)-)?download)$/;

/** Reads a Content-Type; undefined for one that means any file. */
function readType(contentType = ''): string | undefined {
	const [type] = /^[\w.+-]{1,60}\/[\w.+-]{1,100}(?=\s*(;|$))/.exec(contentType.toLowerCase()) ?? [];
	return type && ANY_TYPE.test(type) ? undefined : type;
}

/** Reads a short extension; undefined for digits, which are a version or a time. */
const readExtension = (name: string): string | undefined =>
	/\.(?!\d+$)([a-z\d]{1,5})$/.exec(name.toLowerCase())?.[1];
