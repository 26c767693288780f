import { MAGIC_LENGTH, recognizeFormat, type MediaFacts } from './formats';
import { readJpeg } from './jpeg';
import { readMp4 } from './mp4';
import { readPng } from './png';
import { Reader, type Chunks } from './reader';

const readers: Record<string, (reader: Reader) => Promise<Partial<MediaFacts> | undefined>> = {
	jpeg: readJpeg,
	png: readPng,
	mp4: readMp4,
	quicktime: readMp4,
};

/**
 * Reads the facts of a media file from its bytes until they are known, then closes the stream. At most
 * 256 MiB pass by, of which a chunk is in memory at a time.
 * @returns undefined when the bytes are of no known format
 * @throws only what the stream throws, never for what the file contains
 */
export async function inspect(file: Chunks): Promise<MediaFacts | undefined> {
	const reader = new Reader(file);
	try {
		const head = await reader.peek(MAGIC_LENGTH);
		const found = recognizeFormat(head);
		if (!found) return undefined;
		const [format, { mimeType, kind }] = found;
		const more = await readers[format]?.(reader);
		if (format === 'quicktime' && !more && !head.includes('ftyp')) return undefined;
		return { format, mimeType, kind, ...more };
	} finally {
		await reader.close();
	}
}
