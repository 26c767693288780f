import fc from 'fast-check';
import { UserError } from 'n8n-workflow';
import {
	lowerCaseLabel,
	ratio,
	resolutionLabel,
	webUrl,
} from '../../../nodes/MediaGeneration/models/commonFields';
import { parseValue, toRequestKey, type Field } from '../../../nodes/MediaGeneration/models/field';

const field = (more: Partial<Field> = {}): Field => ({
	displayName: 'Length of Clip',
	name: 'lengthOfClip',
	type: 'string',
	default: '',
	...more,
});

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
		expect(() => parseValue(shape, `ftp://${'x'.repeat(500)}`)).toThrow(/but is "ftp:\/\/x{53}…"$/);
	});

	it.each<[Field['type'], unknown, unknown]>([
		['number', ' -1.25 ', -1.25],
		['number', 1.5, 1.5],
		['string', ' a\n b ', ' a\n b '],
		['boolean', 'false', false],
	])('takes as a %s %j as %j', (type, value, parsed) => {
		expect(parseValue(field({ type }), value)).toBe(parsed);
	});

	it.each(['0x10', '1e3', '1.', '--1', '1 2'])('takes %j as no number', (value) => {
		expect(() => parseValue(field({ type: 'number' }), value)).toThrow('must be a number');
	});

	it.each([
		[ratio, 'x16:9'],
		[resolutionLabel, '720px'],
		[lowerCaseLabel, 'pnG'],
		[webUrl, 'xhttp://media.example'],
	])('takes nothing that only contains a valid value: %#', (schema, value) => {
		expect(() => parseValue(field({ send: { schema } }), value)).toThrow(UserError);
	});

	it.each([
		[{ numberPrecision: 0 }, 1.5, 'must be a whole number'],
		[{ minValue: 1, maxValue: 3 }, 4, 'must be a number of 1 to 3'],
		[{}, 'four', 'must be a number'],
		[{ numberPrecision: 0 }, '9007199254740993', 'but is "9007199254740993"'],
		[{}, 2 ** 60, 'so that no digit is lost, but is "1152921504606847000"'],
	])('holds a number to %j', (typeOptions, value, message) => {
		expect(() => parseValue(field({ type: 'number', typeOptions }), value)).toThrow(message);
	});

	it.each<[Partial<Field>, unknown]>([
		[{ type: 'number', typeOptions: { numberPrecision: 0 } }, Number.MAX_SAFE_INTEGER],
		[{ send: { schema: ratio } }, '16:9'],
		[{ send: { schema: webUrl } }, 'https://media.example/a?b=c'],
	])('takes by %j what it says, with blanks around it too', (more, value) => {
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

it('the error of a text that is no JSON has the place, and what helps', () => {
	const json = field({ type: 'json' });
	const message: unknown = expect.stringMatching(/ is not valid JSON: .* at position 24/);
	const description: unknown = expect.stringMatching(/straight double quotes, no comma.*'Prompt'/);
	expect(() => parseValue(json, '{\n  "prompt": "He said "hi" there"\n}')).toThrow(
		expect.objectContaining({ message, description }) as Error,
	);
});
