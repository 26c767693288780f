import { MAGIC_LENGTH, recognizeFormat, type Format } from './formats';
import { Reader, type Chunks } from './reader';

/** What a file's own bytes say of the file. Facts that couldn't be read are absent. */
export interface InspectedFile extends Omit<Format, 'begins'> {
	/** Stored size in pixels; 0: unknown. A viewer may rotate or stretch the picture. */
	width?: number;
	height?: number;
	durationSeconds?: number;
}

/**
 * Reads a file until its facts are known, at most 256 MiB, and closes the stream.
 * @returns undefined for an unknown format
 * @throws only what the stream throws, whatever the file contains
 */
export async function inspect(file: Chunks): Promise<InspectedFile | undefined> {
	const reader = new Reader(file);
	try {
		const format = recognizeFormat(await reader.peek(MAGIC_LENGTH));
		return format && { ...format, ...(await readFacts(format, reader)) };
	} finally {
		await reader.close();
	}
}

async function readFacts({ extension }: Format, reader: Reader): Promise<Partial<InspectedFile>> {
	if (extension === 'jpg') return readJpeg(await reader.peek(MAX_JPEG_BYTES));
	if (extension === 'png') return readPng(await reader.peek(24));
	return extension === 'mp4' || extension === 'mov' ? await readMp4(reader) : {};
}

/** Reads the size of a PNG image (PNG specification, "IHDR"); empty if unreadable. */
const readPng = (head: Buffer): Partial<InspectedFile> =>
	head.length === 24 && head.toString('latin1', 12, 16) === 'IHDR'
		? { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
		: {};

/** The most bytes that are read of a JPEG image. Cameras write at most a few 100 kB before the size. */
const MAX_JPEG_BYTES = 1024 * 1024;

/** Whether a segment begins a frame. The three excluded codes are tables (ITU-T T.81, table B.1). */
const isFrame = (code: number): boolean =>
	code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** Reads the size of a JPEG image's first frame; empty if unreadable, or if the size follows the scan. */
function readJpeg(bytes: Buffer): Partial<InspectedFile> {
	for (let offset = 2; offset + 9 <= bytes.length; ) {
		const [prefix, code = 0] = bytes.subarray(offset);
		if (prefix !== 0xff) return {};
		if (isFrame(code))
			return { width: bytes.readUInt16BE(offset + 7), height: bytes.readUInt16BE(offset + 5) };
		// A segment has its length behind its code. Any number of 0xff may stand before a code.
		offset += code === 0xff ? 1 : 2 + bytes.readUInt16BE(offset + 2);
	}
	return {};
}

/* MP4 and QuickTime. */

/** The most boxes that are read in a row. No encoder writes more. */
const MOST_BOXES = 10_000;

/** The largest box that is read, in bytes. The movie box of an hour of video takes about 5 MB. */
const MAX_BOX_BYTES = 8 * 1024 * 1024;

/** The most bytes that are read of a box's content. A shorter content is padded with zeros to this length. */
const MAX_CONTENT_BYTES = 48;

/** Reads facts from ISO base media (ISO/IEC 14496-12) and QuickTime; none if `moov` is incomplete. */
async function readMp4(file: Reader): Promise<Partial<InspectedFile>> {
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
 * @returns undefined if no such box follows, or what follows is cut or no box
 */
async function readBox(reader: Reader, type: string): Promise<Buffer | undefined> {
	for (let count = 0; count < MOST_BOXES; count++) {
		const header = Buffer.concat([await reader.peek(16)], 16);
		const short = header.readUInt32BE(0);
		const [head, size] = short === 1 ? [16, Number(header.readBigUInt64BE(8))] : [8, short];
		// A size of 0 means that the box ends with the file.
		if (size < head) return undefined;
		const isFound = header.toString('latin1', 4, 8) === type;
		if (isFound && size > MAX_BOX_BYTES) return undefined;
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
	return content && Buffer.concat([content], MAX_CONTENT_BYTES);
}

/** How many seconds a movie lasts. 0 and all bits set mean unknown. */
async function readDuration(movie: Buffer): Promise<number | undefined> {
	const header = await findBox(movie, 'mvhd');
	// The header of a fragmented movie covers its first fragment. Version 1, of times with 64 bits, is rare.
	if (!header || header[0] !== 0 || (await findBox(movie, 'mvex'))) return undefined;
	const [timescale, units] = [header.readUInt32BE(12), header.readUInt32BE(16)];
	return timescale && units && units < 2 ** 32 - 1 ? units / timescale : undefined;
}

/* A model's limits. */

/** A model's limits for a file. */
export interface FileLimits {
	/** The extensions of the formats, in capitals. */
	formats: readonly string[];
	/** Inclusive, in MiB: the more generous reading of "10 MB". */
	maxMegabytes: number;
	/** In pixels. Both sides must be greater. */
	minSide: number;
	/** The largest ratio of the longer side to the shorter one: [5, 2] allows 2:5 to 5:2. */
	aspect: readonly [longer: number, shorter: number];
	/** In seconds, inclusive. */
	duration?: { min: number; max: number };
}

/** How far a duration may be off, in seconds: containers round to whole frames. */
const DURATION_TOLERANCE = 0.1;

/**
 * Checks a file against limits. Facts that couldn't be read aren't checked.
 * @param facts undefined for an unknown format
 * @returns the first certain fault, such as "is 12 MB, but at most 10 MB are allowed"
 */
export function findLimitFault(
	{ formats, maxMegabytes, minSide, aspect: [long, short], duration }: FileLimits,
	facts: InspectedFile | undefined,
	size: number,
): string | undefined {
	// Rounded up, so that the size of a file over the limit never reads as the limit itself.
	const megabytes = Math.ceil((size / 1024 / 1024) * 10) / 10;
	if (megabytes > maxMegabytes)
		return `is ${megabytes} MB, but at most ${maxMegabytes} MB are allowed`;
	if (!facts) return undefined;
	const format = facts.extension.toUpperCase();
	if (!formats.includes(format))
		return `has the format ${format}, but only ${formats.join(' or ')} is accepted`;
	const { width, height, durationSeconds: seconds } = facts;
	if (width && height) {
		const dimensions = `is ${width} × ${height} px`;
		const [shorter, longer] = [Math.min(width, height), Math.max(width, height)];
		if (shorter <= minSide)
			return `${dimensions}, but both sides must be greater than ${minSide} px`;
		if (longer * short > shorter * long)
			return `${dimensions}, but its aspect ratio must be from ${short}:${long} to ${long}:${short}`;
	}
	if (!duration || seconds === undefined) return undefined;
	const { min, max } = duration;
	return seconds < min - DURATION_TOLERANCE || seconds > max + DURATION_TOLERANCE
		? `lasts ${Number(seconds.toFixed(1))} s, but must last ${min} to ${max} s`
		: undefined;
}
