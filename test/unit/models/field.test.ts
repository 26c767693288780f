import fc from 'fast-check';
import { UserError } from 'n8n-workflow';
import { parseValue, toRequestKey, type Field } from '../../../nodes/MediaGeneration/models/field';
import {
	lowerCaseLabel,
	ratio,
	resolutionLabel,
	webUrl,
} from '../../../nodes/MediaGeneration/models/shapes';

const field = (more: Partial<Field> = {}): Field => ({
	displayName: 'Length of Clip',
	name: 'lengthOfClip',
	type: 'string',
	default: '',
	...more,
});

const whole: Partial<Field> = { type: 'number', typeOptions: { numberPrecision: 0 } };

it('the key of a field is its name in snake_case', () => {
	expect(toRequestKey(field())).toBe('length_of_clip');
});

describe('parseValue', () => {
	it.each([undefined, null, '', '  '])('leaves out a blank field, %j', (value) => {
		expect(parseValue(field(), value)).toBeUndefined();
		expect(parseValue(field({ type: 'number' }), value)).toBeUndefined();
	});

	it('gives what is wrong, where, what is allowed, and what to do', () => {
		const parse = () => parseValue(field({ send: { schema: ratio } }), 'wide');
		expect(parse).toThrow(
			expect.objectContaining({
				message: `'Length of Clip' must be a ratio, for example 16:9, but is "wide"`,
				description: expect.stringContaining('Nothing was sent for this item') as string,
			}) as Error,
		);
	});

	it('shortens what was given and leaves out the query, where links carry their secrets', () => {
		const shape = field({ send: { schema: webUrl } });
		expect(() => parseValue(shape, 'htp://host/file?signature=secret')).toThrow(
			/but is "htp:\/\/host\/file"$/,
		);
		expect(() => parseValue(shape, 'x'.repeat(500))).toThrow(/but is "x{59}…"$/);
		expect(() => parseValue(shape, 'x'.repeat(60))).toThrow(/but is "x{60}"$/);
	});

	it.each<[Field['type'], unknown, unknown]>([
		['number', ' -12 ', -12],
		['number', '-1.25', -1.25],
		['number', 1.5, 1.5],
		['string', ' a\n b ', ' a\n b '],
		['boolean', 'true', true],
		['boolean', 'false', false],
		['boolean', true, true],
	])('takes as a %s %j as %j', (type, value, parsed) => {
		expect(parseValue(field({ type }), value)).toBe(parsed);
	});

	it.each(['0x10', '1e3', 'x1', '1x', '1.', '1.5.2', '--1', '1 2'])(
		'takes %j as no number',
		(value) => {
			expect(() => parseValue(field({ type: 'number' }), value)).toThrow('must be a number');
		},
	);

	it.each([
		[ratio, 'x16:9'],
		[ratio, '16:9x'],
		[resolutionLabel, 'x720p'],
		[resolutionLabel, '720px'],
		[lowerCaseLabel, 'jpg png'],
		[lowerCaseLabel, 'pnG'],
		[webUrl, 'xhttp://media.example'],
		[webUrl, 'https:media example'],
	])('refuses what only contains a valid value: %#', (schema, value) => {
		expect(() => parseValue(field({ send: { schema } }), value)).toThrow(UserError);
	});

	it.each([
		[{ numberPrecision: 0 }, 1.5, 'must be a whole number'],
		[{ minValue: 3 }, 2, 'must be a number of at least 3'],
		[{ minValue: 1, maxValue: 3 }, 4, 'must be a number from 1 to 3'],
		[{}, 'four', 'must be a number'],
		[{}, Infinity, 'must be'],
		[{ numberPrecision: 0 }, '9007199254740993', 'but is "9007199254740993"'],
		[{}, 2 ** 60, 'so that no digit is lost, but is "1152921504606847000"'],
	])('holds a number to %j', (typeOptions, value, message) => {
		expect(() => parseValue(field({ type: 'number', typeOptions }), value)).toThrow(message);
	});

	it.each<[string, Partial<Field>, unknown]>([
		['whole number', whole, Number.MAX_SAFE_INTEGER],
		['ratio', { send: { schema: ratio } }, '16:9'],
		['resolution', { send: { schema: resolutionLabel } }, '720p'],
		['word', { send: { schema: lowerCaseLabel } }, 'png'],
		['URL', { send: { schema: webUrl } }, 'https://media.example/a?b=c'],
	])('takes a %s, with blanks around it too', (_, more, value) => {
		expect(parseValue(field(more), value)).toBe(value);
		expect(parseValue(field(more), ` ${String(value)} `)).toBe(value);
	});

	it.each([2 ** 53, NaN])('takes %p as no text, because digits are lost', (value) => {
		expect(parseValue(field(), 2 ** 53 - 1)).toBe('9007199254740991');
		expect(() => parseValue(field(), value)).toThrow(`must be text, but is "${value}"`);
	});

	it('gives a value or a UserError, whatever the user or an expression gives', () => {
		const types = fc.constantFrom<Field['type']>('string', 'number', 'boolean', 'json', 'options');
		const shapes = fc.constantFrom(undefined, ratio, resolutionLabel, webUrl);
		const cycle: unknown[] = [];
		cycle.push(cycle);
		const anything = fc.oneof(
			fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
			fc.constantFrom<unknown>(cycle, Symbol('a'), () => 5),
		);
		fc.assert(
			fc.property(types, shapes, anything, (type, schema, value) => {
				try {
					parseValue(field({ type, send: { schema } }), value);
				} catch (error) {
					expect(error).toBeInstanceOf(UserError);
				}
			}),
			{ numRuns: 2000 },
		);
	});
});

describe('a field of JSON whose text is none', () => {
	const field: Field = { displayName: 'Input (JSON)', name: 'x', type: 'json', default: '' };

	it('is refused with the place', () => {
		const text = '{\n  "prompt": "He said "hi" there"\n}';
		const message = "'Input (JSON)' is not valid JSON at line 2, column 23";
		expect(() => parseValue(field, text)).toThrow(message);
	});

	it('is refused with what helps', () => {
		const description: unknown = expect.stringMatching(
			/straight double quotes, no comma.*'Prompt'.*\{\{ JSON\.stringify\(\$json\.prompt\) \}\} without quotes/,
		);
		expect(() => parseValue(field, '{')).toThrow(expect.objectContaining({ description }) as Error);
	});
});
