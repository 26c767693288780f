import {
	readMaxBytes,
	readPerFile,
	readTaskId,
} from '../../../nodes/MediaGeneration/operations/sharedFields';
import type { Item } from '../../../nodes/MediaGeneration/run/item';

it.each([
	[undefined, 2048 * 1024 ** 2],
	[0.5, 512 * 1024],
	[0, Infinity],
])('Maximum File Size %p MB allows %p bytes', (value, bytes) => {
	expect(readMaxBytes(() => value)).toBe(bytes);
});

it('Output Items gives an item for each file if it says so', () => {
	expect([undefined, 'perTask', 'perFile'].map((value) => readPerFile(() => value))).toEqual([
		false,
		false,
		true,
	]);
});

it('a task ID is read without blanks around it, and is needed', () => {
	const readFrom = (value: unknown) => readTaskId({ read: () => value } as unknown as Item);
	expect(readFrom(' a1\n')).toBe('a1');
	expect(() => readFrom(' ')).toThrow("'Task ID' is required");
});
