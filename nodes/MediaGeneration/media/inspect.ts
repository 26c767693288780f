import { MAGIC_LENGTH, recognizeFormat, type Format } from './formats';
import { readMp4 } from './mp4';
import { Reader, type Chunks } from './reader';

/** Facts about a media file. Those that couldn't be read are absent. */
export interface MediaFacts extends Omit<Format, 'begins'> {
	/** Stored size in pixels; 0: unknown. A viewer may rotate or stretch the picture. */
	width?: number;
	height?: number;
	durationSeconds?: number;
}

/**
 * Reads a media file until its facts are known, at most 256 MiB, and closes the stream.
 * @returns undefined for an unknown format
 * @throws only what the stream throws, whatever the file contains
 */
export async function inspect(file: Chunks): Promise<MediaFacts | undefined> {
	const reader = new Reader(file);
	try {
		const found = recognizeFormat(await reader.peek(MAGIC_LENGTH));
		return found && { ...found, ...(await readFacts(found, reader)) };
	} finally {
		await reader.close();
	}
}

async function readFacts({ extension }: Format, reader: Reader): Promise<Partial<MediaFacts>> {
	if (extension === 'jpg') return readJpeg(await reader.peek(MOST_HEADERS));
	if (extension === 'png') return readPng(await reader.peek(24));
	return extension === 'mp4' || extension === 'mov' ? await readMp4(reader) : {};
}

/** The size of a PNG image (PNG specification, "IHDR"); empty if unreadable. */
const readPng = (head: Buffer): Partial<MediaFacts> =>
	head.length === 24 && head.toString('latin1', 12, 16) === 'IHDR'
		? { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
		: {};

/** How many bytes of a JPEG image are read. Cameras write at most a few 100 kB before the size. */
const MOST_HEADERS = 1024 * 1024;

/** Start of frame. The three excluded codes are tables (ITU-T T.81, table B.1). */
const isFrame = (code: number): boolean =>
	code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** The size of the first frame of a JPEG image; empty if unreadable, or if it follows the scan. */
function readJpeg(bytes: Buffer): Partial<MediaFacts> {
	for (let at = 2; at + 9 <= bytes.length; ) {
		const [prefix, code = 0] = bytes.subarray(at);
		if (prefix !== 0xff) return {};
		if (isFrame(code))
			return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
		// A segment has its length behind its code. Any number of 0xff may stand before a code.
		at += code === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
	}
	return {};
}

/** A service's limits for a media file. */
export interface MediaLimits {
	/** By their extensions, in capitals. */
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

/** Containers round to whole frames. In seconds. */
const DURATION_TOLERANCE = 0.1;

/**
 * Checks a file against limits. What can't be read of it isn't checked.
 * @param facts undefined for an unknown format
 * @returns the first thing that is certainly wrong, such as "is 12 MB, but at most 10 MB are allowed"
 */
export function findLimitFault(
	{ formats, maxMegabytes, minSide, aspect: [long, short], duration }: MediaLimits,
	facts: MediaFacts | undefined,
	size: number,
): string | undefined {
	// Rounded up, so that a file over the limit looks larger than it.
	const megabytes = Math.ceil((size / 1024 / 1024) * 10) / 10;
	if (megabytes > maxMegabytes)
		return `is ${megabytes} MB, but at most ${maxMegabytes} MB are allowed`;
	if (!facts) return undefined;
	if (!formats.includes(facts.extension.toUpperCase()))
		return `is ${facts.name}, but only ${formats.join(' or ')} is accepted`;
	const { width, height, durationSeconds: seconds } = facts;
	if (width && height) {
		const is = `is ${width} × ${height} px`;
		const [shorter, longer] = [Math.min(width, height), Math.max(width, height)];
		if (shorter <= minSide) return `${is}, but both sides must be greater than ${minSide} px`;
		if (longer * short > shorter * long)
			return `${is}, but its aspect ratio must be from ${short}:${long} to ${long}:${short}`;
	}
	if (!duration || seconds === undefined) return undefined;
	const { min, max } = duration;
	return seconds < min - DURATION_TOLERANCE || seconds > max + DURATION_TOLERANCE
		? `lasts ${Number(seconds.toFixed(1))} s, but must last ${min} to ${max} s`
		: undefined;
}
