import type { Item } from '../../../../nodes/MediaGeneration/operations/operation';
import {
	readMaxBytes,
	readPerFile,
	readTaskId,
} from '../../../../nodes/MediaGeneration/operations/task/sharedFields';

const give =
	(value: unknown): Item['option'] =>
	() =>
		value;

it.each([
	[undefined, 2048 * 1024 ** 2],
	[0.5, 512 * 1024],
	[0, Infinity],
])('Maximum File Size %p MB allows %p bytes', (value, bytes) => {
	expect(readMaxBytes(give(value))).toBe(bytes);
});

it.each([
	[undefined, false],
	[null, false],
	['perTask', false],
	['perfile', false],
	['perFile', true],
])('Output Items %p gives an item for each file: %p', (value, perFile) => {
	expect(readPerFile(give(value))).toBe(perFile);
});

it('a task ID is read without blanks around it, and is needed', () => {
	const readFrom = (value: unknown) => readTaskId({ read: () => value } as unknown as Item);
	expect(readFrom(' a1\n')).toBe('a1');
	expect(() => readFrom(' ')).toThrow("'Task ID' is required");
});
