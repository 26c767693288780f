import fc from 'fast-check';
import { UserError } from 'n8n-workflow';
import {
	parseValue,
	ratio,
	resolution,
	toProperty,
	toRequestKey,
	webUrl,
	type Field,
} from '../../nodes/MediaGeneration/models/field';

const field = (more: Partial<Field> = {}): Field => ({
	displayName: 'Length of Clip',
	name: 'lengthOfClip',
	type: 'string',
	default: '',
	...more,
});

describe('toRequestKey', () => {
	it('is the name in snake_case', () => expect(toRequestKey(field())).toBe('length_of_clip'));
	it('is what send says', () => expect(toRequestKey(field({ send: { as: 'clip' } }))).toBe('clip'));
});

describe('toProperty', () => {
	it('is the n8n property, without what only concerns the request', () => {
		expect(toProperty(field({ send: { as: 'clip' } }))).toEqual(field());
	});
});

describe('parseValue', () => {
	it.each([undefined, null, '', '  '])(
		'is undefined for %j: a blank field is not sent',
		(value) => {
			expect(parseValue(field(), value)).toBeUndefined();
			expect(parseValue(field({ type: 'number' }), value)).toBeUndefined();
		},
	);

	it('is blank for a field that is sent all the same', () => {
		expect(parseValue(field({ send: { blank: true } }), undefined)).toBe('');
	});

	it('keeps text as it was written', () => expect(parseValue(field(), ' a\n b ')).toBe(' a\n b '));

	it('gives what is wrong, where, and what is allowed', () => {
		expect(() => parseValue(field({ send: { shape: ratio } }), 'wide')).toThrow(
			new UserError(
				`'Length of Clip' must be a ratio written as width:height, for example 16:9, but is "wide"`,
			),
		);
	});

	it('shortens what was given and leaves out the query, where links carry their secrets', () => {
		const shape = field({ send: { shape: webUrl } });
		expect(() => parseValue(shape, 'htp://host/file?signature=secret')).toThrow(
			/but is "htp:\/\/host\/file"$/,
		);
		expect(() => parseValue(shape, 'x'.repeat(500))).toThrow(/but is "x{60}…"$/);
	});

	it.each([
		[{ numberPrecision: 0 }, 1.5, 'must be a whole number'],
		[{ minValue: 3 }, 2, 'must be at least 3'],
		[{ maxValue: 3 }, 4, 'must be at most 3'],
		[{}, 'four', 'must be a number'],
		[{}, Infinity, 'must be'],
		[{ numberPrecision: 0 }, 2 ** 60, 'must be a smaller number'],
	])('holds a number to %j', (typeOptions, value, message) => {
		expect(() => parseValue(field({ type: 'number', typeOptions }), value)).toThrow(message);
	});

	it('takes every whole number, as a number and as text', () => {
		const whole = field({ type: 'number', typeOptions: { numberPrecision: 0 } });
		fc.assert(
			fc.property(fc.maxSafeInteger(), (number) => {
				expect(parseValue(whole, number)).toBe(number);
				expect(parseValue(whole, ` ${number} `)).toBe(number);
			}),
		);
	});

	it('takes every ratio of positive whole numbers, and nothing else', () => {
		const shape = field({ send: { shape: ratio } });
		const side = fc.integer({ min: 1, max: 99_999 });
		fc.assert(
			fc.property(side, side, (w, h) => expect(parseValue(shape, ` ${w}:${h} `)).toBe(`${w}:${h}`)),
		);
		fc.assert(
			fc.property(fc.string(), (text) => {
				fc.pre(text.trim() !== '' && !/^[1-9]\d*:[1-9]\d*$/.test(text.trim()));
				expect(() => parseValue(shape, text)).toThrow(UserError);
			}),
		);
	});

	it('takes every resolution of digits and p', () => {
		const shape = field({ send: { shape: resolution } });
		fc.assert(
			fc.property(fc.integer({ min: 1 }), (lines) =>
				expect(parseValue(shape, `${lines}p`)).toBe(`${lines}p`),
			),
		);
	});

	it('takes every web URL', () => {
		fc.assert(
			fc.property(fc.webUrl({ withQueryParameters: true }), (url) => {
				expect(parseValue(field({ send: { shape: webUrl } }), url)).toBe(url);
			}),
		);
	});

	it('gives a value or a UserError, whatever the user or an expression gives', () => {
		const types = ['string', 'number', 'boolean', 'json', 'options'] as const;
		const shapes = [undefined, ratio, resolution, webUrl];
		fc.assert(
			fc.property(
				fc.constantFrom(...types),
				fc.constantFrom(...shapes),
				fc.anything(),
				(type, shape, value) => {
					try {
						parseValue(field({ type, send: { shape } }), value);
					} catch (error) {
						expect(error).toBeInstanceOf(UserError);
					}
				},
			),
			{ numRuns: 2000 },
		);
	});
});
