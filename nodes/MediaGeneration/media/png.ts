import type { Dimensions } from './formats';
import type { Reader } from './reader';

/** Largest side that PNG allows. */
const LARGEST = 2 ** 31 - 1;

/** Width and height of a PNG image (PNG specification, "IHDR"); empty when they can't be read. */
export async function readPng(reader: Reader): Promise<Dimensions> {
	const head = await reader.peek(24);
	if (head.length < 24 || head.toString('latin1', 12, 16) !== 'IHDR') return {};
	const [width, height] = [head.readUInt32BE(16), head.readUInt32BE(20)];
	const valid = (side: number): boolean => side > 0 && side <= LARGEST;
	return valid(width) && valid(height) ? { width, height } : {};
}
