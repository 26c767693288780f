import { readSchema } from '../../../nodes/MediaGeneration/models/readSchema';
import { listProperties, type JsonSchema } from '../../../nodes/MediaGeneration/models/schema';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };
const longName = 'a'.repeat(201);
const document = {
	parts: {
		'a/b ~c': { type: 'string', minLength: 1 },
		number,
		list: { items: { $ref: '#/parts/number' } },
	},
	circle: { $ref: '#/back', minLength: 1 },
	back: { $ref: '#/circle', maxLength: 2 },
};

it.each<[object, JsonSchema | undefined]>([
	[
		{ $ref: '#/parts/a~1b%20~0c', maxLength: 2 },
		{ type: 'string', minLength: 1, maxLength: 2 },
	],
	[{ $ref: '#/parts/list' }, { items: number }],
	[{ $ref: '#/circle' }, { minLength: 1, maxLength: 2 }],
	[{ $ref: '#/parts/none/deeper', maxLength: 2 }, { maxLength: 2 }],
	[{ $ref: '#/parts/constructor/prototype' }, {}],
	[{ properties: { a: { $ref: '#/%FF' } } }, undefined],
])('reads %j with what it refers to, if it is found', (value, schema) => {
	expect(readSchema(value, document)).toStrictEqual(schema);
});

it('a schema that holds itself is read once', () => {
	const layer = {
		type: 'object',
		properties: { name: text, children: { type: 'array', items: { $ref: '#/layer' } } },
	};
	const children = { type: 'array', items: {} };
	const read = { type: 'object', properties: { name: text, children } };
	expect(readSchema(layer, { layer })).toEqual(read);
});

const lengths = { minLength: 1, maxLength: 1, minItems: 1, maxItems: 1, minimum: 1, maximum: 1 };
it.each<JsonSchema>([
	{ items: text, properties: { a: text }, ...lengths },
	{ type: ['number', 'null'], enum: [1, null], default: null, required: ['a'] },
	{ type: 'object', description: 'a', format: 'a' },
])('keeps %j, and adds nothing when it reads it again', (schema) => {
	expect(readSchema(schema, document)).toStrictEqual(schema);
});

const list = [text];
it.each<unknown>([
	list,
	'text',
	{ items: list, properties: list, oneOf: [], anyOf: text, enum: [], type: ['string', 'file'] },
	{ enum: 'a', required: [1], multipleOf: 2, format: 1, type: 5, description: 1 },
	{ type: null, items: null },
	{ type: ['string', null] },
	{ type: [['string']] },
	{ minLength: '1', maxItems: '1', minimum: Infinity, maximum: '1' },
	{ pattern: '^(a+)+$', not: text, additionalProperties: false, exclusiveMinimum: 1 },
	JSON.parse('{ "constructor": {}, "toString": {}, "__proto__": {} }'),
])('takes nothing from %j', (value) => {
	const schema = readSchema(value, document);
	expect(schema).toStrictEqual({});
	expect(Object.getPrototypeOf(schema)).toBe(Object.prototype);
});

it.each<[object, JsonSchema]>([
	[{ const: 'x' }, { type: ['string'], enum: ['x'] }],
	[
		{ properties: { 'image_urls ': text }, required: ['image_urls '] },
		{ properties: { image_urls: text }, required: ['image_urls'] },
	],
	[
		{ type: 'string', enum: [5, 10] },
		{ type: ['number'], enum: [5, 10] },
	],
	[
		{ enum: [1, null, [1], {}] },
		{ type: ['number', 'null', 'array', 'object'], enum: [1, null, [1], {}] },
	],
	[{ description: ' =={{ 1 }} a \n b ' }, { description: '{{ 1 }} a b' }],
	[{ description: longName }, { description: `${longName.slice(0, 199)}…` }],
	[
		JSON.parse('{ "properties": { "__proto__": {}, "a": {} } }') as object,
		{ properties: { a: {} } },
	],
])('reads %j as %j', (value, schema) => expect(readSchema(value, {})).toStrictEqual(schema));

const nothing = { type: 'null' };
it.each<[what: string, value: object, schema: JsonSchema]>([
	['types', { oneOf: [text, number] }, { type: ['string', 'number'] }],
	['nothing, if one takes anything', { anyOf: [text, { maximum: 1 }] }, {}],
	['a range that all have', { anyOf: [lengths, lengths] }, lengths],
	['no range that one has', { anyOf: [text, { ...text, maxLength: 1 }] }, text],
	[
		'values',
		{ anyOf: [{ const: 'a' }, { enum: ['b', 'a'] }] },
		{ type: 'string', enum: ['a', 'b'] },
	],
	['no values, if one takes others', { anyOf: [{ enum: ['a'] }, text] }, text],
	['blank values', { anyOf: [text, nothing] }, { type: ['string', 'null'] }],
	[
		'blank beside values',
		{ anyOf: [{ const: 'a' }, nothing] },
		{ type: ['string', 'null'], enum: ['a', null] },
	],
	['entries', { anyOf: [text, { items: text }] }, { items: text }],
	[
		'both keywords',
		{ anyOf: [{ minimum: 1 }], oneOf: [{ maximum: 2 }] },
		{ minimum: 1, maximum: 2 },
	],
])('branches of which one is met are read as %s', (_, value, schema) => {
	expect(readSchema(value, {})).toStrictEqual(schema);
});

const files = { type: 'array', items: text };
it.each<[string, object, JsonSchema]>([
	['beside an object', { type: 'object', allOf: [text] }, { type: 'object' }],
	[
		'beside properties',
		{ properties: { a: {} }, anyOf: [text] },
		{ type: 'object', properties: { a: {} } },
	],
	[
		'in a branch, for a property too',
		{ type: 'object', properties: { files }, allOf: [{ properties: { files: text } }] },
		{ type: 'object', properties: { files } },
	],
])('a stray branch %s changes nothing', (_, value, schema) => {
	expect(readSchema(value, {})).toStrictEqual(schema);
});

it('the properties of an object are those of all its branches, with what they require', () => {
	const both = { properties: { a: text, b: {} }, required: ['a', 'b'] };
	const schema = readSchema(
		{
			properties: { a: {}, c: text },
			required: ['c', 'd'],
			allOf: [{ properties: { e: text }, required: ['e'] }],
			anyOf: [both, { properties: { a: number, f: text, c: number }, required: ['a', 'f'] }],
		},
		{},
	);
	const found = listProperties(schema ?? {});
	expect(found.map(({ name, schema: { type }, isRequired }) => [name, type, isRequired])).toEqual([
		['a', ['string', 'number'], true],
		['c', 'string', true],
		['e', 'string', true],
		['b', undefined, false],
		['f', 'string', false],
		['d', undefined, true],
	]);
});
