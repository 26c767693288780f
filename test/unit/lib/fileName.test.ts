import fc from 'fast-check';
import { FileNames, makeUniqueName, toFileName } from '../../../nodes/MediaGeneration/lib/fileName';

it.each([
	['5f2c-A_9', '5f2c-A_9'],
	['../../../../etc/cron.d/x', 'etc-cron-d-x'],
	['..\\..\\Windows\\x', 'Windows-x'],
	['.bashrc', 'bashrc'],
	['-rf', 'rf'],
	['a\u0000b\r\nc', 'a-b-c'],
	['a'.repeat(300), 'a'.repeat(60)],
	['', 'file'],
	['日本', 'file'],
])('makes of %j the file name %s', (text, name) => expect(toFileName(text)).toBe(name));

describe('the names of the files of a run', () => {
	const choose = (...chosen: Array<Parameters<FileNames['choose']>>) => {
		const names = new FileNames();
		return chosen.map((parameters) => names.choose(...parameters));
	};

	it.each([
		['A red fox in snow', 'a-red-fox-in-snow'],
		['  Ein "Fuchs" über\nÉtretat, 4K!', 'ein-fuchs-uber-etretat-4k'],
		["It's the fox’s", 'its-the-foxs'],
		['東京 tower', 'tower'],
		[`A ${'very '.repeat(20)}long one`, 'a-very-very-very-very-very-very-very'],
		['w'.repeat(100), 'w'.repeat(40)],
		['日本', 'Task_1'],
		['con', 'con-Task_1'],
	])('are of the first words of %j: %s', (text, name) =>
		expect(choose([text, 'Task_1'])).toEqual([name]),
	);

	it('have the ID where two would be the same', () => {
		const names = choose(['A fox', '1'], ['a FOX!', '2'], ['A fox', '1', '-2'], ['', 'A-fox']);
		expect(names).toEqual(['a-fox', 'a-fox-2', 'a-fox-1-2', 'A-fox-3']);
	});

	it('are safe for every file system, and never the same', () => {
		const text = fc.oneof(
			fc.string({ unit: 'binary' }),
			fc.constantFrom('', 'con', 'NUL', 'a fox', 'A fox 2', '..', '/', '.x', 'COM1'),
		);
		const ending = fc.constantFrom('', '-2', '-3', '-cover');
		fc.assert(
			fc.property(fc.array(fc.tuple(text, text, ending), { maxLength: 30 }), (chosen) => {
				const names = choose(...chosen);
				expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
				for (const name of names) {
					expect(name).toMatch(/^\w[\w-]{0,149}$/);
					expect(name).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)$/i);
				}
			}),
		);
	});
});

describe('makeUniqueName', () => {
	it.each([
		['photo.png', 'png', /^photo-[\da-f-]{36}\.png$/],
		[undefined, 'mp4', /^file-[\da-f-]{36}\.mp4$/],
		['photo', undefined, /^photo-[\da-f-]{36}$/],
		['.mov', undefined, /^mov-[\da-f-]{36}$/],
		['clip.mov', undefined, /^clip-[\da-f-]{36}\.mov$/],
		['a.b"\r\nX: y', undefined, /^[\w-]+-[\da-f-]{36}$/],
	])('of %j and extension %j', (name, extension, form) => {
		expect(makeUniqueName(name, extension)).toMatch(form);
		expect(makeUniqueName(name, extension)).not.toBe(makeUniqueName(name, extension));
	});
});
