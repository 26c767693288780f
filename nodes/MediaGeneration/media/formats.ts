import { Reader, type Chunks } from './reader';

export interface Format {
	/** The ending of a file's name. `inspect` also tells by it how to read a file. */
	extension: string;
	mimeType: string;
	/** Matches the first bytes, decoded as Latin-1. */
	begins: RegExp;
}

type Row = [extension: string, mimeType: string, begins: RegExp];

/** The first match wins. */
const rows: Row[] = [
	['jpg', 'image/jpeg', /^\xff\xd8\xff/],
	['png', 'image/png', /^\x89PNG\r\n.\n/s],
	['gif', 'image/gif', /^GIF8[79]a/],
	['webp', 'image/webp', /^RIFF.{4}WEBP/s],
	['avif', 'image/avif', /^.{4}ftyp(m[is]f1.*)?avi[fs]/s],
	['heic', 'image/heic', /^.{4}ftyp(he[iv][cmsx]|m[is]f1)/s],
	['m4a', 'audio/mp4', /^.{4}ftypM4[ABP]/s],
	['mov', 'video/quicktime', /^.{4}ftypqt {2}/s],
	['mp4', 'video/mp4', /^.{4}ftyp/s],
	['webm', 'video/webm', /^.E\xdf\xa3.*webm/s],
	['mkv', 'video/x-matroska', /^.E\xdf\xa3/s],
	['wav', 'audio/wav', /^RIFF.{4}WAVE/s],
	['mp3', 'audio/mpeg', /^(ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/],
	['ogg', 'audio/ogg', /^OggS/],
	['flac', 'audio/flac', /^fLaC/],
	['svg', 'image/svg+xml', /^(<\?xml[^>]*>|<!--.*?-->|<!doctype svg[^>]*>|\s)*<svg[\s>]/is],
	['m3u8', 'application/vnd.apple.mpegurl', /^#EXTM3U/],
	['glb', 'model/gltf-binary', /^glTF/],
	['zip', 'application/zip', /^PK[^ -~]{2}/],
	['html', 'text/html', /^\s*<(!doctype )?html/i],
	['txt', 'text/plain', /^[\s -~\x80-\xff]+$/],
];

const formats = rows.map(
	([extension, mimeType, begins]): Format => ({ extension, mimeType, begins }),
);

/** How many first bytes tell a file's format: an SVG image may begin with a comment. */
export const MAGIC_LENGTH = 512;

/** Recognizes a file's format by its first bytes. */
export function recognizeFormat(head: Buffer): Format | undefined {
	const text = head.toString('latin1');
	return formats.find(({ begins }) => begins.test(text));
}

/** What the server of a file says of it: by the header Content-Type, and by its URL. */
interface ServerClaims {
	contentType?: string;
	url: string;
}

/** Finds out the type of a file that is arriving. @returns the type, and the file from its first byte */
export async function readFileType(file: Chunks, claims: ServerClaims) {
	const reader = new Reader(file);
	const format = recognizeFormat(await reader.peek(MAGIC_LENGTH));
	return { ...chooseFileType(claims, format), chunks: reader.rest() };
}

/**
 * Chooses a file's type and extension. The first bytes of pictures, videos and sound count more than what
 * their server says: servers send such files as another medium, or as text. But a type of sound or video
 * from the server counts, because both share containers. Of any other file the server's type counts, then
 * the URL.
 * @param format by the first bytes
 */
function chooseFileType({ contentType, url }: ServerClaims, format?: Format) {
	const type = readType(contentType);
	const ending = readExtension(new URL(url).pathname);
	const isMedia = format && /^(image|video|audio)\//.test(format.mimeType);
	if (type && (!isMedia || /^(video|audio)\//.test(type)))
		return { mimeType: type, extension: chooseExtension(type, ending) };
	// Subtitles are text, documents are ZIP archives: there a URL says more. Without a type, n8n derives
	// the type from the extension.
	const isVague = !format || ['txt', 'zip'].includes(format.extension);
	if (ending && isVague) return { extension: ending };
	return { mimeType: format?.mimeType, extension: format?.extension ?? 'bin' };
}

/** Chooses the extension of a type, such as `wav` of audio/x-wav. @param ending that of the URL */
function chooseExtension(type: string, ending?: string): string {
	const [, own = ''] = /\/(?:x-|vnd\.)?([^+]*)/.exec(type) ?? [];
	const types = [type, type.replace('/x-', '/')];
	const format = formats.find(
		({ mimeType, extension }) => types.includes(mimeType) || extension === own,
	);
	return format?.extension ?? ending ?? readExtension(`.${own}`) ?? 'bin';
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
