import { toInput } from '../../../../nodes/MediaGeneration/models/any/fieldValues';
import type { JsonSchema } from '../../../../nodes/MediaGeneration/models/any/jsonSchema';
import { Media } from '../../../../nodes/MediaGeneration/models/media';

/** Enters a value in a field of this name, and returns it as it is sent. */
const enter = (schema: JsonSchema, value: unknown, name = 'subject') =>
	toInput({ type: 'object', properties: { [name]: schema } }, { [name]: value })[name];

const texts: JsonSchema = { type: 'array', items: { type: 'string' } };

describe('an entered value', () => {
	it.each<[JsonSchema, unknown, unknown]>([
		[{}, '5', '5'],
		[{ type: 'integer' }, ' 12 ', 12],
		[{ type: 'number' }, '-1.25', -1.25],
		[{ type: 'number' }, '1.', '1.'],
		[{ type: 'number' }, 'true', 'true'],
		[{ type: 'integer' }, '9007199254740991', Number.MAX_SAFE_INTEGER],
		[{ type: 'integer' }, '9007199254740993', '9007199254740993'],
		[{ type: 'string' }, 2 ** 53, 2 ** 53],
		[{ type: ['string', 'number'] }, '12', '12'],
		[{ type: 'string' }, 5, '5'],
		[{ type: 'string' }, true, 'true'],
		[{ type: 'string' }, { a: 1 }, { a: 1 }],
		[{ type: ['string', 'integer'] }, 5, 5],
		[{ type: 'boolean' }, 'true', true],
		[{ type: 'boolean' }, 'false', false],
		[{ type: 'boolean' }, 'untrue', 'untrue'],
		[{ type: 'boolean' }, 'trueish', 'trueish'],
		[{ type: ['array', 'object'] }, 5, [5]],
		[{ type: ['boolean', 'string'] }, 5, '5'],
		[{ anyOf: [{ type: 'integer' }, { enum: ['auto'] }] }, '5', 5],
		[{ anyOf: [{ type: 'integer' }, { enum: ['auto'] }] }, 'auto', 'auto'],
		[{ anyOf: [{ type: 'integer' }, { enum: ['auto'] }] }, 'x', 'x'],
		[{ anyOf: [{ enum: ['5'] }, { type: 'boolean' }] }, 5, '5'],
		[{ anyOf: [texts, { enum: ['auto'] }] }, 'a, b', ['a', 'b']],
		[{ enum: ['auto', 5] }, '5', 5],
		[{ type: 'array' }, ' [1,2]', [1, 2]],
		[{ type: 'object' }, '[1]', '[1]'],
		[{ type: 'object' }, '{"a":1}', { a: 1 }],
		[{ type: 'object' }, '{', '{'],
		[{ anyOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'number' } }] }, '1,2', [1, 2]],
		[texts, 5, ['5']],
		[texts, ['a, b', 5], ['a, b', '5']],
		[{ properties: { n: { type: 'integer' } } }, { n: '5', m: '5' }, { n: 5, m: '5' }],
		[texts, 'a, b,c\nd,', ['a', 'b', 'c', 'd']],
		[texts, '1,a:b', ['1', 'a:b']],
		[texts, 'https://a.example/1,2,', ['https://a.example/1,2']],
		[texts, 'https://a.example/1,ftps+x.y-2://b/3', ['https://a.example/1', 'ftps+x.y-2://b/3']],
		[texts, 'https://a.example/1,2b:c', ['https://a.example/1,2b:c']],
	])('of %j, %j, is sent as %j', (schema, value, sent) => {
		expect(enter(schema, value)).toEqual(sent);
	});
});

describe('a name of a binary field', () => {
	it.each(['data', ' data ', 'c:data', '2b:data', 'my data:1'])('is taken from %j', (value) => {
		const media = enter({ type: 'string' }, value, 'image');
		expect(media).toBeInstanceOf(Media);
		expect(media).toMatchObject({ source: value.trim(), label: 'Image' });
	});

	it.each(['https://a.example/1.png', ' https://a.example/1.png', 'asset:1', 's3+x.y-2://b/3'])(
		'is not taken from the URL %j',
		(value) => expect(enter({ type: 'string' }, value, 'image')).toBe(value),
	);

	it('is taken from lists and objects, where their schema does not name the values', () => {
		const properties: JsonSchema['properties'] = {
			image: { type: 'string' },
			mask: { enum: ['no'] },
		};
		const list: JsonSchema = { type: 'array', items: { type: 'object', properties } };
		expect(enter(list, '[{"image":"data","mask":"no","more":null},{"image":" "}]')).toEqual([
			{ image: expect.any(Media) as Media, mask: 'no', more: null },
			{ image: ' ' },
		]);
		expect(
			enter({ type: 'array', items: { type: 'string', enum: ['one'] } }, 'one', 'images'),
		).toEqual(['one']);
	});
});
