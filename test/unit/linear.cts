import v8 from 'node:v8';
import { expect } from '@jest/globals';

// In a process with much code, V8 stops optimizing regular expressions. They are slower then, and one that repeats a character
// class fails on a text of some million characters.
v8.setFlagsFromString('--no-regexp-optimization');
afterAll(() => v8.setFlagsFromString('--regexp-optimization'));

/**
 * Linear work of these sizes takes at most two seconds, quadratic work about a minute. So the test holds on a machine that is
 * slow or busy, too.
 */
const MAX_SECONDS = 20;

/** Repeats a text to at least this length. */
export const fill = (text: string, length: number): string =>
	text.repeat(Math.ceil(length / text.length));

/** Checks that the time of work on something very large doesn't grow with the square of its size. */
export function expectLinear(run: () => unknown): void {
	const begun = performance.now();
	run();
	expect((performance.now() - begun) / 1000).toBeLessThan(MAX_SECONDS);
}
