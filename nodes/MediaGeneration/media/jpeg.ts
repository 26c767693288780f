import { toDimensions, type Dimensions } from './formats';
import type { Reader } from './reader';

/** The most segments and fill bytes to read. Usually a few dozen precede the size. */
const MOST_SEGMENTS = 10_000;

/** Start of frame. The three excluded codes are tables (ITU-T T.81, table B.1). */
const isFrame = (code: number): boolean =>
	code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** Codes without a length, and those that end the headers. */
const endsHeader = (code: number): boolean => code < 0xc0 || (code >= 0xd0 && code <= 0xda);

/** Width and height of the first frame; empty if unreadable, or if they follow the scan. */
export async function readJpeg(reader: Reader): Promise<Dimensions> {
	await reader.skip(2);
	for (let segment = 0; segment < MOST_SEGMENTS; segment++) {
		const [prefix, code = 0] = await reader.peek(2);
		if (prefix !== 0xff) return {};
		if (code === 0xff) {
			await reader.skip(1);
			continue;
		}
		if (endsHeader(code)) return {};
		const header = await reader.take(4);
		const length = (header?.readUInt16BE(2) ?? 0) - 2;
		if (length < 0) return {};
		if (isFrame(code)) {
			const frame = await reader.take(5);
			return toDimensions(frame?.readUInt16BE(3), frame?.readUInt16BE(1));
		}
		if (!(await reader.skip(length))) return {};
	}
	return {};
}
