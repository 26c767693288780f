import { MAGIC_LENGTH, recognizeFormat, type Dimensions, type MediaFacts } from './formats';
import { readJpeg } from './jpeg';
import { readMp4 } from './mp4';
import { Reader, type Chunks } from './reader';

/** Width and height of a PNG image (PNG specification, "IHDR"); empty when they can't be read. */
async function readPng(reader: Reader): Promise<Dimensions> {
	const head = await reader.peek(24);
	if (head.length < 24 || head.toString('latin1', 12, 16) !== 'IHDR') return {};
	// PNG allows 31 bits, and no 0.
	const [width, height] = [head.readInt32BE(16), head.readInt32BE(20)];
	return width > 0 && height > 0 ? { width, height } : {};
}

const readers: Record<string, (reader: Reader) => Promise<Partial<MediaFacts> | undefined>> = {
	jpeg: readJpeg,
	png: readPng,
	mp4: readMp4,
	quicktime: readMp4,
};

/**
 * Reads a media file until its facts are known, at most 256 MiB, then closes the stream.
 * @returns undefined when the format is unknown
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
