import fc from 'fast-check';
import { expectLinear } from '../linear.cts';
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
		['  Ein "Fuchs" über\nÉtretat, 4K!', 'ein-fuchs-über-étretat-4k'],
		['E\u0301tretat', 'étretat'],
		["It's the fox’s", 'its-the-foxs'],
		['東京 tower', '東京-tower'],
		['बर्फ में लाल लोमड़ी', 'बर्फ-में-लाल-लोमड़ी'],
		['می\u200cخواهم', 'میخواهم'],
		['a\u202egpj.exe\u2066b\u0000c', 'agpj-exeb-c'],
		['\u2764\ufe0f \u0301 \u3164 🦊 ／．．', 'Task_1'],
		['漢'.repeat(100), '漢'.repeat(40)],
		[`${'ก'.repeat(39)}น้ำ`, 'ก'.repeat(39)],
		[`A ${'very '.repeat(20)}long one`, 'a-very-very-very-very-very-very-very'],
		['con', 'con-Task_1'],
	])('are of the first words of %j: %s', (text, name) =>
		expect(choose([text, 'Task_1'])).toEqual([name]),
	);

	it('have the ID where two would be the same', () => {
		const names = choose(['A fox', '1'], ['a FOX!', '2'], ['A fox', '1', '-2'], ['', 'A-fox']);
		expect(names).toEqual(['a-fox', 'a-fox-2', 'a-fox-1-2', 'A-fox-3']);
		const same = choose(['straße', '1'], ['strasse', '2'], ['ﬁlm', '3'], ['film', '4']);
		expect(same).toEqual(['straße', 'strasse-2', 'ﬁlm', 'film-4']);
	});

	it('that were reserved have numbers in that order, whatever is chosen first', () => {
		const names = new FileNames();
		const reserved = ['a-fox', 'a-fox', 'a-fox-2', 'con', '', 'a-fox', 'a-fox'];
		for (const [index, words] of reserved.entries()) names.reserve(words, `id${index}`);
		names.reserve('a-fox', 'id1');
		const chosen = reserved.map((_, index) => names.choose('An owl', `id${6 - index}`)).reverse();
		const numbered = ['a-fox', 'a-fox-2', 'a-fox-2-2', 'con-2', 'an-owl', 'a-fox-3', 'a-fox-4'];
		expect(chosen).toEqual(numbered);
		const others = ['id0', 'id1'].map((id) => names.choose('An owl', id, '-2'));
		expect(others).toEqual(['a-fox-id0-2', 'a-fox-2-id1-2']);
	});

	it('are reserved for many equal prompts in linear time', () => {
		const names = new FileNames();
		expectLinear(() => {
			for (let id = 0; id < 200_000; id++) names.reserve('a-fox', String(id));
		});
	});

	it('are safe for every file system, and never the same', () => {
		const text = fc.oneof(
			fc.string({ unit: 'binary' }),
			fc.string({ unit: 'binary-ascii' }),
			fc.string({ unit: 'grapheme', minLength: 30 }),
			fc.constantFrom('', 'con', 'NUL', 'a fox', 'A fox 2', '..', '/', '.x', 'COM1'),
		);
		const ending = fc.constantFrom('', '-2', '-3', '-cover');
		fc.assert(
			fc.property(fc.array(fc.tuple(text, text, ending), { maxLength: 30 }), (chosen) => {
				const names = choose(...chosen);
				expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
				for (const name of names) {
					expect(name).toMatch(/^[\w\p{L}\p{N}][\w\p{L}\p{M}\p{N}-]*$/u);
					expect(name).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
					expect(name.normalize('NFC')).toBe(name);
					expect(Buffer.byteLength(`${name}.${'x'.repeat(10)}`)).toBeLessThan(256);
					expect(name).not.toMatch(/^(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])$/i);
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
