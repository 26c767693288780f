import fc from 'fast-check';
import {
	makeUniqueName,
	nameByTask,
	toFileName,
	toWords,
} from '../../../nodes/MediaGeneration/lib/fileName';

it.each([
	['../../../../etc/cron.d/x', 'etc-cron-d-x'],
	['.bashrc', 'bashrc'],
	['a\u0000b\r\nc', 'a-b-c'],
	['a'.repeat(300), 'a'.repeat(60)],
	['日本', 'file'],
])('makes of %j the file name %s', (text, name) => expect(toFileName(text)).toBe(name));

describe("the names of a task's files", () => {
	const name = (prompt: string, taskId = 'Task_1', item = 0, count = 1) =>
		nameByTask(taskId, toWords(prompt), { item, count });

	it.each([
		['  Ein "Fuchs" über\nE\u0301tretat, 4K!', 'ein-fuchs-über-étretat-4k'],
		["It's the fox’s", 'its-the-foxs'],
		['東京 tower', '東京-tower'],
		['बर्फ में लाल लोमड़ी', 'बर्फ-में-लाल-लोमड़ी'],
		['a\u202egpj.exe\u2066b\u0000c', 'agpj-exeb-c'],
		['漢'.repeat(100), '漢'.repeat(40)],
		[`${'ก'.repeat(39)}น้ำ`, 'ก'.repeat(39)],
		[`A ${'very '.repeat(20)}long one`, 'a-very-very-very-very-very-very-very'],
	])('begin with the first words of %j: %s', (prompt, words) =>
		expect(name(prompt)).toBe(`${words}-jskumsjd`),
	);

	it.each([
		['Task_1', 8, 10, '09-Task_1-LETTERS'],
		['x'.repeat(61), 0, 1, `${'x'.repeat(60)}-LETTERS`],
		['CON', 0, 1, 'CON-LETTERS'],
		['17-2', 0, 1, '17-2-LETTERS'],
	])('are the ID %s where no word is, of item %d of %d: %s', (taskId, item, count, expected) => {
		const made = name('\u2764\ufe0f \u0301 \u3164 🦊 ／．．', taskId, item, count);
		expect(made.replace(/[a-z]{8}$/, 'LETTERS')).toBe(expected);
	});

	it('sort as the items do, and are others for other tasks that begin alike', () => {
		const ids = Array.from({ length: 1_200 }, (_, item) => `task_01J${item}`);
		const names = ids.map((id, item) => name('A fox', id, item, ids.length));
		expect([...names].sort()).toEqual(names);
		expect(names[7]).toMatch(/^a-fox-0008-[a-z]{8}$/);
		expect(new Set(ids.map((id) => name('A fox', id))).size).toBe(ids.length);
	});

	it('are safe for every file system, and never those of another task', () => {
		const text = fc.oneof(
			fc.string({ unit: 'binary' }),
			fc.string({ unit: 'binary-ascii' }),
			fc.string({ unit: 'grapheme', minLength: 30 }),
			fc.constantFrom('', 'con', 'NUL', 'a fox', 'A fox 2', '..', '/', '.x', 'COM1', 'x-2', '2-x'),
		);
		const task = fc.record({ prompt: text, id: text, item: fc.nat(9), count: fc.nat(10) });
		const tasks = fc.uniqueArray(task, { selector: ({ id }) => id.toLowerCase() });
		const ending = fc.constantFrom('', '-2', '-3', '-preview');
		fc.assert(
			fc.property(tasks, ending, (all, ending) => {
				const names = all.map(({ prompt, id, item, count }) => name(prompt, id, item, count));
				for (const [index, one] of names.entries()) {
					const full = one + ending;
					expect(full).toMatch(/^[\w\p{L}\p{N}][\w\p{L}\p{M}\p{N}-]*$/u);
					expect(full).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
					expect(full.normalize('NFC')).toBe(full);
					expect(Buffer.byteLength(`${full}-100.${'x'.repeat(10)}`)).toBeLessThan(256);
					expect(full).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)$/i);
					const others = names.filter((_, at) => at !== index).map((other) => other.toLowerCase());
					for (const mine of [one, full]) expect(others).not.toContain(mine.toLowerCase());
				}
			}),
		);
	});
});

describe('makeUniqueName', () => {
	it.each([
		['photo.png', 'png', /^photo-[\da-f-]{36}\.png$/],
		[undefined, 'mp4', /^file-[\da-f-]{36}\.mp4$/],
		['.mov', undefined, /^mov-[\da-f-]{36}$/],
		['clip.MOV', undefined, /^clip-[\da-f-]{36}\.mov$/],
		['a.b"\r\nX: y', undefined, /^[\w-]+-[\da-f-]{36}$/],
	])('of %j and extension %j', (name, extension, form) => {
		expect(makeUniqueName(name, extension)).toMatch(form);
		expect(makeUniqueName(name, extension)).not.toBe(makeUniqueName(name, extension));
	});
});
