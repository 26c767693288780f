import v8 from 'node:v8';
import { expect } from '@jest/globals';

// V8 does so by itself in a process with much code: expressions are slower then, and one that repeats a character class fails on
// a text of some million characters.
v8.setFlagsFromString('--no-regexp-optimization');
afterAll(() => v8.setFlagsFromString('--regexp-optimization'));

/**
 * In seconds. Linear work on the sizes of these tests takes two at most, quadratic work takes about a minute, so no machine
 * is so slow or busy that it confuses them.
 */
const LIMIT = 20;

/** Repeats a text to at least this length. */
export const fill = (text: string, length: number): string =>
	text.repeat(Math.ceil(length / text.length));

/** Holds work on something very large to that its time does not grow with the square of the size. */
export function expectLinear(run: () => unknown): void {
	const begun = performance.now();
	run();
	expect((performance.now() - begun) / 1000).toBeLessThan(LIMIT);
}
