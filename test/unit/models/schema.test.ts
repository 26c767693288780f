import {
	listProperties,
	listTypes,
	readSchema,
	type JsonSchema,
} from '../../../nodes/MediaGeneration/models/schema';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };

const one = (): JsonSchema => ({ type: 'string', maxLength: 1 });
const choose = (type: JsonSchema['type'], ...values: unknown[]): JsonSchema => ({
	type,
	enum: values,
});

const longName = 'a'.repeat(201);
const document = {
	parts: {
		'a/b ~c': { type: 'string', minLength: 1 },
		number,
		list: { items: { $ref: '#/parts/number' } },
		'50%': number,
	},
	circle: { $ref: '#/back', minLength: 1 },
	back: { $ref: '#/circle', maxLength: 2 },
	[longName]: text,
};

it.each<[object, JsonSchema | undefined]>([
	[
		{ $ref: '#/parts/a~1b%20~0c', maxLength: 2 },
		{ type: 'string', minLength: 1, maxLength: 2 },
	],
	[{ $ref: '#/parts/list' }, { items: number }],
	[{ $ref: '#/parts/50%' }, number],
	[
		{ items: { $ref: '#/parts/number' }, anyOf: [{ $ref: '#/parts/number' }] },
		{ items: number, type: 'number' },
	],
	[{ $ref: '#/circle' }, { minLength: 1, maxLength: 2 }],
	[{ $ref: '#/parts/none/deeper', maxLength: 2 }, { maxLength: 2 }],
	[{ $ref: 'parts', maxLength: 2 }, { maxLength: 2 }],
	[{ $ref: '#/__proto__' }, {}],
	[{ $ref: '#/parts/constructor/prototype' }, {}],
	[{ $ref: `#/${longName}` }, {}],
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
	expect(readSchema({ $ref: '#/layer', required: ['name'] }, { layer })).toEqual({
		...read,
		required: ['name'],
	});
});

const bounds = { minimum: 1, maximum: 1 };
const lengths = { minLength: 1, maxLength: 1, minItems: 1, maxItems: 1 };
it.each<JsonSchema>([
	{ items: text, properties: { a: text }, ...bounds, ...lengths },
	{ type: ['number', 'null'], enum: [1, null], default: null, required: ['a'] },
	{ type: 'object', description: 'a', format: 'a' },
])('keeps %j, and adds nothing when it reads it again', (schema) => {
	expect(readSchema(schema, document)).toStrictEqual(schema);
});

const list = [text];
it.each<unknown>([
	list,
	'text',
	{
		items: list,
		properties: list,
		oneOf: [],
		anyOf: text,
		allOf: 1,
		enum: [],
		type: ['string', 'file'],
	},
	{ noneOf: list, allOfThem: list, enum: 'a', required: [1], multipleOf: 2, format: 1 },
	{ minLength: '1', maxLength: '1', minItems: '1', maxItems: '1', minimum: Infinity },
	{ type: 5, description: 1, deprecated: true, maximum: '1' },
	{ pattern: '^(a+)+$', not: text, additionalProperties: false, exclusiveMinimum: 1 },
	JSON.parse('{ "constructor": {}, "toString": {}, "__defineGetter__": {}, "__proto__": {} }'),
])('takes nothing from %j', (value) => {
	const schema = readSchema(value, document);
	expect(schema).toStrictEqual({});
	expect(Object.getPrototypeOf(schema)).toBe(Object.prototype);
});

it('takes of each part what it understands', () => {
	const part = { type: 'string', more: 1 };
	const read = readSchema({ items: part, properties: { part } }, document);
	expect(read).toEqual({ items: text, properties: { part: text } });
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
		{ type: ['integer', 'null'], const: '5' },
		{ type: ['string'], enum: ['5'] },
	],
	[
		{ enum: [1, null, [1], {}] },
		{ type: ['number', 'null', 'array', 'object'], enum: [1, null, [1], {}] },
	],
	[{ type: ['string', 'null', 'string'] }, { type: ['string', 'null'] }],
	[{ description: ' =={{ 1 }} a \n b ' }, { description: '{{ 1 }} a b' }],
	[{ description: longName }, { description: `${longName.slice(0, 199)}…` }],
])('reads %j as %j', (value, schema) => expect(readSchema(value, {})).toEqual(schema));

it('reads nothing of a schema that is larger than 64,000 characters', () => {
	const long = 'a'.repeat(64_000);
	const keywords = Object.fromEntries([...long].map((_, index) => [index, 1]));
	for (const value of [{ properties: { [long]: {} } }, { enum: [long] }, keywords])
		expect(readSchema(value, {})).toBeUndefined();
});

it('leaves out what is no rule where only rules are asked for', () => {
	const prose = { description: 'a', default: 'b' };
	expect(readSchema({ ...prose, ...text }, {}, false)).toStrictEqual(text);
});

it('leaves out a property __proto__, as n8n would lose it, and no other name', () => {
	const value: unknown = JSON.parse('{ "properties": { "__proto__": {}, "toString": {} } }');
	expect(Object.entries(readSchema(value, {})?.properties ?? {})).toEqual([['toString', {}]]);
});

const nothing = { type: 'null' };
it.each<[what: string, value: object, schema: JsonSchema]>([
	['types', { oneOf: [text, number] }, { type: ['string', 'number'] }],
	['nothing, if one takes anything', { anyOf: [text, { maximum: 1 }] }, {}],
	['a range that all have', { anyOf: [text, text].map((a) => ({ ...a, maxLength: 1 })) }, one()],
	['no range that one has', { anyOf: [text, { ...text, maxLength: 1 }] }, text],
	['values', { anyOf: [{ const: 'a' }, { enum: ['b', 'a'] }] }, choose('string', 'a', 'b')],
	['no values, if one takes others', { anyOf: [{ enum: ['a'] }, text] }, text],
	['blank values', { anyOf: [one(), nothing] }, { ...one(), type: ['string', 'null'] }],
	[
		'blank beside values',
		{ anyOf: [{ const: 'a' }, nothing] },
		choose(['string', 'null'], 'a', null),
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
		'in a branch of a branch, for a property too',
		{
			type: 'object',
			properties: { files },
			allOf: [{ anyOf: [{ type: 'object', properties: { files: text } }] }],
		},
		{ type: 'object', properties: { files } },
	],
	['of values', { type: 'string', allOf: [{ enum: [1] }] }, { type: ['number'], enum: [1] }],
])('a stray branch %s changes nothing', (_, value, schema) => {
	expect(readSchema(value, {})).toStrictEqual(schema);
});

it('a property that many branches have is read once', () => {
	const oneOf = Array.from({ length: 200 }, (_, index) => ({
		properties: { a: { enum: [index % 150] } },
	}));
	const values = readSchema({ oneOf }, {})?.properties?.a?.enum;
	expect(values).toEqual(Array.from({ length: 150 }, (_, index) => index));
});

it.each<[JsonSchema, string[]]>([
	[{}, []],
	[{ type: 'string' }, ['string']],
	[{ type: ['string', 'null', 'number'] }, ['string', 'number']],
])('the types of %j are %j', (schema, types) => expect(listTypes(schema)).toEqual(types));

it('the properties of an object are those of all its branches, with what they require', () => {
	const both = { properties: { a: text, b: {} }, required: ['a', 'b'] };
	const schema = readSchema(
		{
			properties: { a: {}, c: text },
			required: ['c', 'd'],
			allOf: [{ properties: { e: text }, required: ['e'] }],
			anyOf: [both, { properties: { a: number, f: text, c: number, e: {} }, required: ['a', 'f'] }],
		},
		{},
	);
	const property = (name: string, part: JsonSchema, isRequired: boolean) => ({
		...{ name, schema: part, isRequired },
	});
	expect(listProperties(schema ?? {})).toEqual([
		property('a', { type: ['string', 'number'] }, true),
		property('c', text, true),
		property('e', text, true),
		property('b', {}, false),
		property('f', text, false),
		property('d', {}, true),
	]);
});
