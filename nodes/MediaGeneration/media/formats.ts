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
	kind: 'image' | 'video' | 'other';
	/** Of a file's name; absent: the format's key. */
	extension?: string;
	/** Matches the first 64 bytes of a file, read as Latin-1. */
	begins: RegExp;
}

/** The formats that are recognized, whether the service takes them or not. The first that matches counts. */
export const formats: Record<string, Format> = {
	jpeg: {
		name: 'a JPEG image',
		mimeType: 'image/jpeg',
		kind: 'image',
		extension: 'jpg',
		begins: /^\xff\xd8\xff/,
	},
	png: { name: 'a PNG image', mimeType: 'image/png', kind: 'image', begins: /^\x89PNG\r\n.\n/s },
	gif: { name: 'a GIF image', mimeType: 'image/gif', kind: 'image', begins: /^GIF8[79]a/ },
	webp: { name: 'a WebP image', mimeType: 'image/webp', kind: 'image', begins: /^RIFF.{4}WEBP/s },
	tiff: { name: 'a TIFF image', mimeType: 'image/tiff', kind: 'image', begins: /^(II\*.|MM.\*)/s },
	bmp: { name: 'a BMP image', mimeType: 'image/bmp', kind: 'image', begins: /^BM.{12}[(l|]/s },
	avif: {
		name: 'an AVIF image',
		mimeType: 'image/avif',
		kind: 'image',
		begins: /^.{4}ftypavi[fs]/s,
	},
	heic: {
		name: 'a HEIC image',
		mimeType: 'image/heic',
		kind: 'image',
		begins: /^.{4}ftyp(hei[cmsx]|hev[cmsx]|mif1|msf1)/s,
	},
	m4a: { name: 'M4A sound', mimeType: 'audio/mp4', kind: 'other', begins: /^.{4}ftypM4[ABP]/s },
	quicktime: {
		name: 'a QuickTime video',
		mimeType: 'video/quicktime',
		kind: 'video',
		extension: 'mov',
		// Without ftyp: as QuickTime wrote it in its first years. The movie box has to be found, then.
		begins: /^.{4}(ftypqt {2}|moov|mdat|wide|free|skip|pnot)/s,
	},
	'3gp': {
		name: 'a 3GP video',
		mimeType: 'video/3gpp',
		kind: 'video',
		// One that names a brand of MP4 as well can be read as MP4.
		begins: /^.{4}ftyp3g(?!.*(isom|mp4[12]))/s,
	},
	mp4: { name: 'an MP4 video', mimeType: 'video/mp4', kind: 'video', begins: /^.{4}ftyp/s },
	webm: {
		name: 'a WebM video',
		mimeType: 'video/webm',
		kind: 'video',
		begins: /^.E\xdf\xa3.*webm/s,
	},
	matroska: {
		name: 'a Matroska video',
		mimeType: 'video/x-matroska',
		kind: 'video',
		extension: 'mkv',
		begins: /^.E\xdf\xa3/s,
	},
	avi: {
		name: 'an AVI video',
		mimeType: 'video/x-msvideo',
		kind: 'video',
		begins: /^RIFF.{4}AVI /s,
	},
	wmv: { name: 'a WMV video', mimeType: 'video/x-ms-wmv', kind: 'video', begins: /^0&\xb2u/ },
	wav: { name: 'WAV sound', mimeType: 'audio/wav', kind: 'other', begins: /^RIFF.{4}WAVE/s },
	mp3: { name: 'MP3 sound', mimeType: 'audio/mpeg', kind: 'other', begins: /^ID3/ },
	pdf: { name: 'a PDF document', mimeType: 'application/pdf', kind: 'other', begins: /^%PDF-/ },
	html: {
		name: 'a web page',
		mimeType: 'text/html',
		kind: 'other',
		begins: /^\s*<(!doctype )?html/i,
	},
	text: {
		name: 'a text file',
		mimeType: 'text/plain',
		kind: 'other',
		begins: /^[\s -~\x80-\xff]+$/,
	},
};

/** The number of a file's first bytes that tell its format. */
export const MAGIC_LENGTH = 64;

/** Finds the key and value in `formats` of a file that begins with these bytes. */
export function recognizeFormat(head: Buffer): [string, Format] | undefined {
	const text = head.toString('latin1');
	return Object.entries(formats).find(([, { begins }]) => begins.test(text));
}

/** The extension of a file of this format. */
export const getExtension = (format: string): string => formats[format]?.extension ?? format;

const findFormat = (fits: (format: Format, key: string) => boolean): string | undefined =>
	Object.entries(formats).find(([key, format]) => fits(format, key))?.[0];

/** Finds the key of a format by its MIME type. */
export const findFormatByType = (mimeType: string): string | undefined =>
	findFormat((format) => format.mimeType === mimeType);

/**
 * Chooses type and extension of a file that a host sends. Where the host says no more than that it is a
 * file, the extension in the URL tells the type.
 */
export function chooseFileType(
	contentType = '',
	url: string,
): { mimeType: string; extension: string } {
	const [, ending] = /\.([a-z\d]{1,5})$/.exec(new URL(url).pathname.toLowerCase()) ?? [];
	const [sent] = /^[\w.+-]{1,60}\/[\w.+-]{1,100}(?=\s*(;|$))/.exec(contentType.toLowerCase()) ?? [];
	const isKnown = sent !== undefined && !sent.endsWith('/octet-stream');
	const key = isKnown
		? findFormatByType(sent)
		: findFormat((_, key) => getExtension(key) === ending);
	return {
		mimeType: isKnown ? sent : (formats[key ?? '']?.mimeType ?? 'application/octet-stream'),
		extension: key ? getExtension(key) : (ending ?? 'bin'),
	};
}
