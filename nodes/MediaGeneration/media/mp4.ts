import type { MediaFacts } from './inspect';
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
	const tracks = listBoxes(movie).filter(({ type }) => type === 'trak');
	const isVideo = ({ content }: { content: Buffer }) =>
		findBox(content, 'mdia', 'hdlr')?.toString('latin1', 8, 12) === 'vide';
	const video = tracks.find(isVideo);
	if (!video)
		return tracks.length ? { extension: 'm4a', name: 'MP4 sound', mimeType: 'audio/mp4' } : {};
	const samples = findBox(video.content, 'mdia', 'minf', 'stbl', 'stsd');
	return {
		width: samples?.readUInt16BE(40),
		height: samples?.readUInt16BE(42),
		durationSeconds: readDuration(movie),
	};
}

/** Skips to the content of the movie box, and reads it. */
async function readMovie(reader: Reader): Promise<Buffer | undefined> {
	for (let count = 0; count < MOST_BOXES; count++) {
		const box = readHeader(await reader.peek(16));
		if (!box) return undefined;
		if (box.type === 'moov') {
			if (box.size > LARGEST_MOVIE) return undefined;
			const movie = await reader.peek(box.size);
			return movie.length === box.size ? movie.subarray(box.head) : undefined;
		}
		if (!(await reader.skip(box.size))) return undefined;
	}
	return undefined;
}

/** Reads a box's header; undefined if it isn't one, or if the box has no end (size 0). */
function readHeader(bytes: Buffer): Box | undefined {
	const header = Buffer.concat([bytes], 16);
	const short = header.readUInt32BE(0);
	const [head, size] = short === 1 ? [16, Number(header.readBigUInt64BE(8))] : [8, short];
	return size < head ? undefined : { type: header.toString('latin1', 4, 8), head, size };
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
	if (type === undefined) return Buffer.concat([bytes], COUNTED_BYTES);
	const found = listBoxes(bytes).find((box) => box.type === type);
	return found && findBox(found.content, ...below);
}

/** How many seconds a movie lasts. 0 and all bits set mean unknown. */
function readDuration(movie: Buffer): number | undefined {
	const header = findBox(movie, 'mvhd');
	// The header of a fragmented movie covers its first fragment. Version 1, of times with 64 bits, is rare.
	if (!header || header[0] !== 0 || findBox(movie, 'mvex')) return undefined;
	const [timescale, units] = [header.readUInt32BE(12), header.readUInt32BE(16)];
	return timescale && units && units < 2 ** 32 - 1 ? units / timescale : undefined;
}
