import {
	MAGIC_LENGTH,
	recognizeFormat,
	toDimensions,
	type Dimensions,
	type MediaFacts,
} from './formats';
import { readJpeg } from './jpeg';
import { readMp4 } from './mp4';
import { Reader, type Chunks } from './reader';

/** Width and height of a PNG image (PNG specification, "IHDR"); empty if unreadable. */
async function readPng(reader: Reader): Promise<Dimensions> {
	const head = await reader.peek(24);
	if (head.length < 24 || head.toString('latin1', 12, 16) !== 'IHDR') return {};
	return toDimensions(head.readUInt32BE(16), head.readUInt32BE(20));
}

const readers: Record<string, (reader: Reader) => Promise<Partial<MediaFacts>>> = {
	jpeg: readJpeg,
	png: readPng,
	mp4: readMp4,
	quicktime: readMp4,
};

/**
 * Reads a media file until its facts are known, at most 256 MiB, and closes the stream.
 * @returns undefined for an unknown format
 * @throws only what the stream throws, whatever the file contains
 */
export async function inspect(file: Chunks): Promise<MediaFacts | undefined> {
	const reader = new Reader(file);
	try {
		const found = recognizeFormat(await reader.peek(MAGIC_LENGTH));
		return found && { ...found, ...(await readers[found.format]?.(reader)) };
	} finally {
		await reader.close();
	}
}
