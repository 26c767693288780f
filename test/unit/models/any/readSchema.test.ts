import type { JsonSchema } from '../../../../nodes/MediaGeneration/models/any/jsonSchema';
import { readSchema } from '../../../../nodes/MediaGeneration/models/any/readSchema';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };

const document = {
	parts: {
		'a/b ~c': { type: 'string', minLength: 1 },
		'%': number,
		list: { items: { $ref: '#/parts/%' } },
	},
};
it.each<[object, JsonSchema]>([
	[
		{ $ref: '#/parts/a~1b%20~0c', maxLength: 2 },
		{ type: 'string', minLength: 1, maxLength: 2 },
	],
	[{ $ref: '#/parts/%' }, number],
	[{ $ref: '#/parts/list' }, { items: number }],
	[{ $ref: '#/parts/none/deeper', maxLength: 2 }, { maxLength: 2 }],
	[{ $ref: 'parts', maxLength: 2 }, { maxLength: 2 }],
])('finds what %j refers to', (value, schema) => {
	expect(readSchema(value, document)).toStrictEqual(schema);
});

const parts = { items: text, properties: { a: text } };
const branches = { anyOf: [number], allOf: [{}] };
const lengths = {
	minLength: 1,
	maxLength: 1,
	minItems: 1,
	maxItems: 1,
	format: 'a',
};
const bounds = {
	minimum: 1,
	maximum: 1,
	multipleOf: 1,
};
it.each<JsonSchema>([
	{ ...parts, ...branches, ...lengths, ...bounds },
	{ type: ['string'], enum: [1], default: null, required: ['a'], deprecated: false },
	{ type: 'object', description: 'a' },
])('keeps %j', (schema) => expect(readSchema(schema, document)).toStrictEqual(schema));

const list = [text];
it.each<unknown>([
	list,
	'text',
	{ items: list, properties: list, oneOf: [], anyOf: text, allOf: 1, not: text },
	{ noneOf: list, allOfThem: list, type: ['string', 1], enum: 'a', required: [1] },
	{ minLength: '1', maxLength: '1', minItems: '1', maxItems: '1', format: 1 },
	{ minimum: '1', maximum: '1', multipleOf: 0 },
	{ type: 5, multipleOf: '2', description: 1, deprecated: 1 },
])('takes nothing from %j', (value) => expect(readSchema(value, document)).toStrictEqual({}));

it('takes of a part what it understands', () => {
	const part = { type: 'string', more: 1 };
	const branches = { anyOf: [part], allOf: [part] };
	const read = readSchema({ items: part, properties: { part }, ...branches }, document);
	expect(Object.values(read ?? {}).flatMap((one) => ('part' in one ? one.part : one))).toEqual(
		Array(4).fill(text),
	);
});

it('an only value is a list of one, and a reference that no one can decode ends the reading', () => {
	expect(readSchema({ const: 'x' }, document)).toStrictEqual({ enum: ['x'] });
	expect(readSchema({ properties: { a: { $ref: '#/%FF' } } }, document)).toBeUndefined();
});

it('a schema that holds itself is read once', () => {
	const layer = {
		type: 'object',
		properties: { name: text, children: { type: 'array', items: { $ref: '#/layer' } } },
	};
	const children = { type: 'array', items: {} };
	const read = { type: 'object', properties: { name: text, children } };
	expect(readSchema(layer, { layer })).toEqual(read);
	expect(readSchema({ $ref: '#/layer', required: ['name'] }, { layer })).toEqual({
		...read,
		required: ['name'],
	});
});

it('a reference that leads to itself takes anything, and what stands beside it counts', () => {
	const circle = { one: { $ref: '#/two', minLength: 1 }, two: { $ref: '#/one', maxLength: 2 } };
	expect(readSchema({ $ref: '#/one' }, circle)).toEqual({ minLength: 1, maxLength: 2 });
	expect(readSchema({ $ref: '#/none' }, circle)).toStrictEqual({});
});

it('the same part is read wherever something refers to it', () => {
	const twice = { properties: { a: { $ref: '#/x' }, b: { items: { $ref: '#/x' } } } };
	expect(readSchema(twice, { x: text })).toEqual({ properties: { a: text, b: { items: text } } });
});

it.each(['#/__proto__', '#/constructor', '#/x/constructor/prototype', `#/${'a'.repeat(1000)}`])(
	'a reference %.30s finds nothing',
	(reference) => {
		const document = { x: {}, ['a'.repeat(1000)]: text };
		expect(readSchema({ $ref: reference }, document)).toStrictEqual({});
	},
);

it.each(['constructor', 'toString', 'hasOwnProperty', '__defineGetter__', '__proto__'])(
	'a keyword %s is none',
	(keyword) => {
		const value: unknown = JSON.parse(`{ "type": "string", "${keyword}": { "type": "number" } }`);
		const schema = readSchema(value, {});
		expect(Object.entries(schema ?? {})).toEqual([['type', 'string']]);
		expect(Object.getPrototypeOf(schema)).toBe(Object.prototype);
	},
);

it('a property __proto__ is left out, as n8n would lose it, and no other name is', () => {
	const value: unknown = JSON.parse('{ "properties": { "__proto__": {}, "toString": {} } }');
	expect(Object.entries(readSchema(value, {})?.properties ?? {})).toEqual([['toString', {}]]);
});

it.each([
	{ pattern: '^(a+)+$' },
	{ not: text },
	{ additionalProperties: false },
	{ exclusiveMinimum: 1 },
])('%j is left to the service', (value) => expect(readSchema(value, {})).toStrictEqual({}));

it('of branches, one of which is to be met, any counts: documents tell them apart by keywords that are not read', () => {
	expect(readSchema({ oneOf: [text, number] }, {})).toEqual({ anyOf: [text, number] });
});

it('numbers that JSON does not have are no limits', () => {
	const value: unknown = JSON.parse('{ "minimum": 1e999, "multipleOf": 1e999, "maximum": 5 }');
	expect(readSchema(value, {})).toEqual({ maximum: 5 });
});

it('a description is cut, and none where it is not asked for', () => {
	expect(readSchema({ description: 'a', type: 'string' }, {}, false)).toStrictEqual(text);
	expect(readSchema({ description: 'a'.repeat(1_000_000) }, {})?.description).toHaveLength(200);
});

it('a description is one line that n8n runs as no expression', () => {
	expect(readSchema({ description: ' =={{ 1 }} a \n b ' }, {})?.description).toBe('{{ 1 }} a b');
});

it('names are without the blanks around them, as the service takes them', () => {
	const value = { properties: { 'image_urls ': text }, required: ['image_urls '] };
	const read = { properties: { image_urls: text }, required: ['image_urls'] };
	expect(readSchema(value, {})).toEqual(read);
});

const file = { type: 'string' };
const files = { type: 'array', items: text };
it.each<[string, JsonSchema, JsonSchema]>([
	['loses it', { type: 'object', anyOf: [{ type: 'string' }] }, { type: 'object', anyOf: [{}] }],
	[
		'loses it in a branch of a branch, for a property too',
		{
			type: 'object',
			properties: { files },
			allOf: [{ anyOf: [{ type: 'object', required: ['files'], properties: { files: file } }] }],
		},
		{
			type: 'object',
			properties: { files },
			allOf: [{ anyOf: [{ type: 'object', required: ['files'], properties: { files: {} } }] }],
		},
	],
	['keeps another', { anyOf: [text, number] }, { anyOf: [text, number] }],
	[
		'keeps one of several',
		{ type: ['string', 'number'], anyOf: [text, number] },
		{ type: ['string', 'number'], anyOf: [text, number] },
	],
])('a branch whose type contradicts what is around it %s', (_, value, schema) => {
	expect(readSchema(value, {})).toStrictEqual(schema);
});
