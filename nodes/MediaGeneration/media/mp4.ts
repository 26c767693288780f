import { toDimensions, type Dimensions, type MediaFacts } from './formats';
import type { Reader } from './reader';

/** The most consecutive boxes to read. No encoder writes more. */
const MOST_BOXES = 10_000;

/** The largest movie box to read, in bytes. An hour of video takes about 5 MB. */
const LARGEST_MOVIE = 8 * 1024 * 1024;

/** How many bytes of a box are looked at. Shorter boxes are padded with zeros. */
const COUNTED_BYTES = 48;

/** `head` is the length of the header, `size` that of the whole box, in bytes. */
interface Box {
	type: string;
	head: number;
	size: number;
}

/** Reads facts from ISO base media (ISO/IEC 14496-12) and QuickTime; none if `moov` is incomplete. */
export async function readMp4(reader: Reader): Promise<Partial<MediaFacts>> {
	const movie = await readMovie(reader);
	if (!movie) return {};
	const timescale = readTimescale(movie);
	const tracks = listBoxes(movie).filter(({ type }) => type === 'trak');
	const [video] = tracks
		.map(({ content }) => content)
		.filter((track) => findBox(track, 'mdia', 'hdlr')?.toString('latin1', 8, 12) === 'vide')
		.map((track) => ({ ...readSize(track), durationSeconds: readDuration(track, timescale) }))
		.sort((one, other) => (other.durationSeconds ?? 0) - (one.durationSeconds ?? 0));
	return video ?? (tracks.length ? { kind: 'other' } : {});
}

/** Skips to the content of the movie box, and reads it. */
async function readMovie(reader: Reader): Promise<Buffer | undefined> {
	for (let count = 0; count < MOST_BOXES; count++) {
		const box = readHeader(await reader.peek(16));
		if (!box) return undefined;
		if (box.type === 'moov') {
			if (box.size > LARGEST_MOVIE) return undefined;
			return (await reader.take(box.size))?.subarray(box.head);
		}
		if (!(await reader.skip(box.size))) return undefined;
	}
	return undefined;
}

/** Reads a box's header; undefined if it isn't one, or if the box has no end (size 0). */
function readHeader(bytes: Buffer): Box | undefined {
	if (bytes.length < 8) return undefined;
	const type = bytes.toString('latin1', 4, 8);
	const short = bytes.readUInt32BE(0);
	if (short === 1 && bytes.length < 16) return undefined;
	const [head, size] = short === 1 ? [16, readUint64(bytes, 8)] : [8, short];
	return size < head ? undefined : { type, head, size };
}

function listBoxes(bytes: Buffer): Array<{ type: string; content: Buffer }> {
	const boxes = [];
	for (let at = 0; ; ) {
		const box = readHeader(bytes.subarray(at, at + 16));
		if (!box || boxes.length === MOST_BOXES) return boxes;
		boxes.push({ type: box.type, content: bytes.subarray(at + box.head, at + box.size) });
		at += box.size;
	}
}

/** Finds the content of a box by its path. The first match wins. */
function findBox(bytes: Buffer, ...path: string[]): Buffer | undefined {
	const [type, ...below] = path;
	if (type === undefined) return Buffer.concat([bytes.subarray(0, COUNTED_BYTES)], COUNTED_BYTES);
	const found = listBoxes(bytes).find((box) => box.type === type);
	return found && findBox(found.content, ...below);
}

const readUint64 = (bytes: Buffer, at: number): number =>
	bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);

/**
 * Reads a movie's time units per second; 0 if unknown, or if the movie is fragmented, because then its
 * track headers cover only the first fragment.
 */
function readTimescale(movie: Buffer): number {
	const header = findBox(movie, 'mvhd');
	if (!header || findBox(movie, 'mvex')) return 0;
	// In version 1, the two preceding times have 64 bits.
	return header.readUInt32BE(header[0] === 1 ? 20 : 12);
}

/** How many seconds a player shows a track, including edits. 0 and all bits set mean unknown. */
function readDuration(track: Buffer, timescale: number): number | undefined {
	const header = findBox(track, 'tkhd');
	if (!header || timescale === 0) return undefined;
	const isLong = header[0] === 1;
	const units = isLong ? readUint64(header, 28) : header.readUInt32BE(20);
	const isKnown = units > 0 && units < (isLong ? 2 ** 64 : 2 ** 32 - 1);
	return isKnown ? units / timescale : undefined;
}

/** Width and height of a track's samples. */
function readSize(track: Buffer): Dimensions {
	const samples = findBox(track, 'mdia', 'minf', 'stbl', 'stsd');
	return toDimensions(samples?.readUInt16BE(40), samples?.readUInt16BE(42));
}
