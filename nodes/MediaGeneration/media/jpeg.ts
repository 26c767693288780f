import type { Dimensions } from './formats';
import type { Reader } from './reader';

/** The most segments and fill bytes to read. A picture has a few dozen before its size. */
const MOST_SEGMENTS = 10_000;

const EXIF = 0xe1;
const ORIENTATION = 0x0112;

/** Start of frame; the three codes left out are other tables (ITU-T T.81, table B.1). */
const isFrame = (code: number): boolean =>
	code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** Codes that have no length, or end the headers. */
const endsHeader = (code: number): boolean => code < 0xc0 || (code >= 0xd0 && code <= 0xda);

/** Width and height, turned as the EXIF orientation says; empty when they can't be read. */
export async function readJpeg(reader: Reader): Promise<Dimensions> {
	let turned: boolean | undefined;
	await reader.skipTo(2);
	for (let segment = 0; segment < MOST_SEGMENTS; segment++) {
		const [prefix, code = 0] = await reader.peek(2);
		if (prefix !== 0xff) return {};
		if (code === 0xff) {
			await reader.skipTo(reader.position + 1);
			continue;
		}
		if (endsHeader(code)) return {};
		const header = await reader.take(4);
		const length = (header?.readUInt16BE(2) ?? 0) - 2;
		if (length < 0) return {};
		if (isFrame(code)) return readFrameSize(await reader.take(5), turned);
		if (code === EXIF && turned === undefined) {
			const exif = await reader.take(length);
			if (exif?.toString('latin1', 0, 6) === 'Exif\0\0') turned = isTurned(exif.subarray(6));
		} else if (!(await reader.skipTo(reader.position + length))) return {};
	}
	return {};
}

/** A frame header's size. A height of 0 stands at the end of the picture, which is not read. */
function readFrameSize(frame?: Buffer, turned?: boolean): Dimensions {
	const [height, width] = [frame?.readUInt16BE(1), frame?.readUInt16BE(3)];
	if (!width || !height) return {};
	return turned ? { width: height, height: width } : { width, height };
}

/** Recognizes a picture on its side: EXIF orientations 5 to 8, in the TIFF's first directory. */
function isTurned(tiff: Buffer): boolean {
	const little = tiff.toString('latin1', 0, 2) === 'II';
	const readNumber = (at: number, length: number): number => {
		if (at + length > tiff.length) return 0;
		return little ? tiff.readUIntLE(at, length) : tiff.readUIntBE(at, length);
	};
	const directory = readNumber(4, 4);
	const first = directory + 2;
	const end = Math.min(first + 12 * readNumber(directory, 2), tiff.length);
	let entry = first;
	while (entry < end && readNumber(entry, 2) !== ORIENTATION) entry += 12;
	return entry < end && readNumber(entry + 8, 2) >= 5 && readNumber(entry + 8, 2) <= 8;
}
