export interface Format {
	/** Facts are read for jpeg, png, mp4 and quicktime; other formats are only recognized. */
	format: string;
	/** As in "is a GIF image". */
	name: string;
	mimeType: string;
	/** Matches the first bytes, decoded as Latin-1. */
	begins: RegExp;
	/** The file name's extension. */
	extension: string;
	/** An MP4 or QuickTime file whose tracks have no video is `other`, too. */
	kind: 'image' | 'video' | 'other';
}

/** Stored width and height in pixels. A viewer may rotate or stretch the picture. */
export interface Dimensions {
	width?: number;
	height?: number;
}

/** Both sides or neither. 0 means unknown. */
export const toDimensions = (width?: number, height?: number): Dimensions =>
	width && height ? { width, height } : {};

/** Facts about a media file. Those that couldn't be read are absent. */
export interface MediaFacts extends Omit<Format, 'begins'>, Dimensions {
	/** Of the longest video track. */
	durationSeconds?: number;
}

type Row = [key: string, name: string, mimeType: string, begins: RegExp, extension?: string];

/** The first match wins. */
const rows: Row[] = [
	['jpeg', 'a JPEG image', 'image/jpeg', /^\xff\xd8\xff/, 'jpg'],
	['png', 'a PNG image', 'image/png', /^\x89PNG\r\n.\n/s],
	['gif', 'a GIF image', 'image/gif', /^GIF8[79]a/],
	['webp', 'a WebP image', 'image/webp', /^RIFF.{4}WEBP/s],
	['avif', 'an AVIF image', 'image/avif', /^.{4}ftyp(m[is]f1.*)?avi[fs]/s],
	['heic', 'a HEIC image', 'image/heic', /^.{4}ftyp(he[iv][cmsx]|m[is]f1)/s],
	['m4a', 'M4A sound', 'audio/mp4', /^.{4}ftypM4[ABP]/s],
	['quicktime', 'a QuickTime video', 'video/quicktime', /^.{4}ftypqt {2}/s, 'mov'],
	['mp4', 'an MP4 video', 'video/mp4', /^.{4}ftyp/s],
	['webm', 'a WebM video', 'video/webm', /^.E\xdf\xa3.*webm/s],
	['matroska', 'a Matroska video', 'video/x-matroska', /^.E\xdf\xa3/s, 'mkv'],
	['wav', 'WAV sound', 'audio/wav', /^RIFF.{4}WAVE/s],
	['mp3', 'MP3 sound', 'audio/mpeg', /^(ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/],
	['ogg', 'Ogg sound', 'audio/ogg', /^OggS/],
	['flac', 'FLAC sound', 'audio/flac', /^fLaC/],
	[
		'svg',
		'an SVG image',
		'image/svg+xml',
		/^(<\?xml[^>]*>|<!--.*?-->|<!doctype svg[^>]*>|\s)*<svg[\s>]/is,
	],
	['m3u8', 'a playlist', 'application/vnd.apple.mpegurl', /^#EXTM3U/],
	['glb', 'a 3D model', 'model/gltf-binary', /^glTF/],
	['zip', 'a ZIP archive', 'application/zip', /^PK[^ -~]{2}/],
	['html', 'a web page', 'text/html', /^\s*<(!doctype )?html/i],
	['text', 'a text file', 'text/plain', /^[\s -~\x80-\xff]+$/, 'txt'],
];

const toKind = (mimeType: string): Format['kind'] =>
	mimeType.startsWith('image/') ? 'image' : mimeType.startsWith('video/') ? 'video' : 'other';

export const formats = rows.map(([format, name, mimeType, begins, extension = format]): Format => {
	const kind = toKind(mimeType);
	return { format, name, mimeType, begins, extension, kind };
});

/** How many of a file's first bytes are needed to tell its format: an SVG image may begin with a comment. */
export const MAGIC_LENGTH = 512;

/** Recognizes a file's format by its first bytes. */
export function recognizeFormat(head: Buffer): Format | undefined {
	const text = head.toString('latin1');
	return formats.find(({ begins }) => begins.test(text));
}
