/** In px, as a viewer sees them: after a camera's rotation, before pixel aspect. */
export interface Dimensions {
	width?: number;
	height?: number;
}

/** Facts of a media file from its own bytes. What is absent could not be read. */
export interface MediaFacts extends Dimensions {
	/** A key of `formats`: jpeg, png, mp4 and quicktime are read, others only recognized. */
	format: string;
	mimeType: string;
	/** `other` also for an MP4 or QuickTime file that has tracks, but none of them video. */
	kind: 'image' | 'video' | 'other';
	/** Of the longest video track. */
	durationSeconds?: number;
}

export interface Format {
	/** As in "is a GIF image". */
	name: string;
	mimeType: string;
	/** Matches the first 64 bytes of a file, read as Latin-1. */
	begins: RegExp;
	/** Of a file's name; absent: the format's key. */
	extension?: string;
	kind: MediaFacts['kind'];
}

/** What QuickTime wrote in its first years has no ftyp. The movie box has to be found, then. */
const QUICKTIME = /^.{4}(ftypqt {2}|moov|mdat|wide|free|skip|pnot)/s;

/** One that names a brand of MP4 as well can be read as MP4. */
const ONLY_3GP = /^.{4}ftyp3g(?!.*(isom|mp4[12]))/s;

type Row = [key: string, name: string, mimeType: string, begins: RegExp, extension?: string];

/** The first that matches counts. */
const rows: Row[] = [
	['jpeg', 'a JPEG image', 'image/jpeg', /^\xff\xd8\xff/, 'jpg'],
	['png', 'a PNG image', 'image/png', /^\x89PNG\r\n.\n/s],
	['gif', 'a GIF image', 'image/gif', /^GIF8[79]a/],
	['webp', 'a WebP image', 'image/webp', /^RIFF.{4}WEBP/s],
	['tiff', 'a TIFF image', 'image/tiff', /^(II\*.|MM.\*)/s],
	['bmp', 'a BMP image', 'image/bmp', /^BM.{12}[(l|]/s],
	['avif', 'an AVIF image', 'image/avif', /^.{4}ftypavi[fs]/s],
	['heic', 'a HEIC image', 'image/heic', /^.{4}ftyp(he[iv][cmsx]|m[is]f1)/s],
	['m4a', 'M4A sound', 'audio/mp4', /^.{4}ftypM4[ABP]/s],
	['quicktime', 'a QuickTime video', 'video/quicktime', QUICKTIME, 'mov'],
	['3gp', 'a 3GP video', 'video/3gpp', ONLY_3GP],
	['mp4', 'an MP4 video', 'video/mp4', /^.{4}ftyp/s],
	['webm', 'a WebM video', 'video/webm', /^.E\xdf\xa3.*webm/s],
	['matroska', 'a Matroska video', 'video/x-matroska', /^.E\xdf\xa3/s, 'mkv'],
	['avi', 'an AVI video', 'video/x-msvideo', /^RIFF.{4}AVI /s],
	['wmv', 'a WMV video', 'video/x-ms-wmv', /^0&\xb2u/],
	['wav', 'WAV sound', 'audio/wav', /^RIFF.{4}WAVE/s],
	['mp3', 'MP3 sound', 'audio/mpeg', /^ID3/],
	['pdf', 'a PDF document', 'application/pdf', /^%PDF-/],
	['html', 'a web page', 'text/html', /^\s*<(!doctype )?html/i],
	['text', 'a text file', 'text/plain', /^[\s -~\x80-\xff]+$/],
];

const toKind = (mimeType: string): Format['kind'] =>
	mimeType.startsWith('image/') ? 'image' : mimeType.startsWith('video/') ? 'video' : 'other';

/** By key, the formats that are recognized. */
export const formats: Record<string, Format> = Object.fromEntries(
	rows.map(([key, name, mimeType, begins, extension]) => [
		key,
		{ name, mimeType, begins, extension, kind: toKind(mimeType) },
	]),
);

/** The number of a file's first bytes that tell its format. */
export const MAGIC_LENGTH = 64;

/** Finds the key and value in `formats` of a file that begins with these bytes. */
export function recognizeFormat(head: Buffer): [string, Format] | undefined {
	const text = head.toString('latin1');
	return Object.entries(formats).find(([, { begins }]) => begins.test(text));
}

export const getExtension = (format: string): string => formats[format]?.extension ?? format;

const findFormatByType = (mimeType: string): string | undefined =>
	Object.keys(formats).find((key) => formats[key]?.mimeType === mimeType);

/** Chooses type and extension of a file by what its host says, or else by its URL. */
export function chooseFileType(contentType = '', url: string) {
	const [, ending] = /\.([a-z\d]{1,5})$/.exec(new URL(url).pathname.toLowerCase()) ?? [];
	const [sent] = /^[\w.+-]{1,60}\/[\w.+-]{1,100}(?=\s*(;|$))/.exec(contentType.toLowerCase()) ?? [];
	const isKnown = sent !== undefined && !sent.endsWith('/octet-stream');
	const key = isKnown
		? findFormatByType(sent)
		: Object.keys(formats).find((format) => getExtension(format) === ending);
	return {
		mimeType: isKnown ? sent : (formats[key ?? '']?.mimeType ?? 'application/octet-stream'),
		extension: key ? getExtension(key) : (ending ?? 'bin'),
	};
}

/** Says what a Content-Type tells of a file; undefined if its format is unknown. */
export function findFactsByType(contentType: string): MediaFacts | undefined {
	const key = findFormatByType(contentType.split(';')[0]?.trim().toLowerCase() ?? '');
	const format = key === undefined ? undefined : formats[key];
	return format && { ...format, format: key as string };
}
