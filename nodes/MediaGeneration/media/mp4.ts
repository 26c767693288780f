import type { InspectedFile } from './inspect';
import { Reader } from './reader';

/** The most boxes that are read in a row. No encoder writes more. */
const MOST_BOXES = 10_000;

/** The largest box that is read, in bytes. The movie box of an hour of video takes about 5 MB. */
const LARGEST_BOX = 8 * 1024 * 1024;

/** The most bytes that are read of a box's content. A shorter content is padded with zeros to this length. */
const READ_BYTES = 48;

/** Reads facts from ISO base media (ISO/IEC 14496-12) and QuickTime; none if `moov` is incomplete. */
export async function readMp4(file: Reader): Promise<Partial<InspectedFile>> {
	const movie = await readBox(file, 'moov');
	if (!movie) return {};
	const reader = new Reader([movie]);
	const first = await readBox(reader, 'trak');
	for (let track = first; track; track = await readBox(reader, 'trak')) {
		const handler = await findBox(track, 'mdia', 'hdlr');
		if (!handler) return {};
		if (handler.toString('latin1', 8, 12) !== 'vide') continue;
		const samples = await findBox(track, 'mdia', 'minf', 'stbl', 'stsd');
		return {
			width: samples?.readUInt16BE(40),
			height: samples?.readUInt16BE(42),
			durationSeconds: await readDuration(movie),
		};
	}
	return first ? { extension: 'm4a', mimeType: 'audio/mp4' } : {};
}

/**
 * Reads the content of the next box of a type.
 * @returns undefined if none follows, or what follows is cut or no box
 */
async function readBox(reader: Reader, type: string): Promise<Buffer | undefined> {
	for (let count = 0; count < MOST_BOXES; count++) {
		const header = Buffer.concat([await reader.peek(16)], 16);
		const short = header.readUInt32BE(0);
		const [head, size] = short === 1 ? [16, Number(header.readBigUInt64BE(8))] : [8, short];
		// A size of 0 means that the box ends with the file.
		if (size < head) return undefined;
		const isFound = header.toString('latin1', 4, 8) === type;
		if (isFound && size > LARGEST_BOX) return undefined;
		const box = await reader.peek(isFound ? size : 0);
		if (!(await reader.skip(size))) return undefined;
		if (isFound) return box.subarray(head);
	}
	return undefined;
}

/** Finds the content of a box by its path. The first match wins. */
async function findBox(bytes: Buffer, ...path: string[]): Promise<Buffer | undefined> {
	let content: Buffer | undefined = bytes;
	for (const type of path) content = content && (await readBox(new Reader([content]), type));
	return content && Buffer.concat([content], READ_BYTES);
}

/** How many seconds a movie lasts. 0 and all bits set mean unknown. */
async function readDuration(movie: Buffer): Promise<number | undefined> {
	const header = await findBox(movie, 'mvhd');
	// The header of a fragmented movie covers its first fragment. Version 1, of times with 64 bits, is rare.
	if (!header || header[0] !== 0 || (await findBox(movie, 'mvex'))) return undefined;
	const [timescale, units] = [header.readUInt32BE(12), header.readUInt32BE(16)];
	return timescale && units && units < 2 ** 32 - 1 ? units / timescale : undefined;
}
