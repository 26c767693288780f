import {
	collectProperties,
	listTypes,
	readSchema,
	type JsonSchema,
} from '../../../../nodes/MediaGeneration/models/any/schema';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };

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
		{ items: number, anyOf: [number] },
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

const bounds = { minimum: 1, maximum: 1, multipleOf: 1 };
const lengths = { minLength: 1, maxLength: 1, minItems: 1, maxItems: 1 };
it.each<JsonSchema>([
	{ items: text, properties: { a: text }, anyOf: [number], allOf: [{}], ...bounds, ...lengths },
	{ type: ['number'], enum: [1, null], default: null, required: ['a'], deprecated: false },
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
		type: ['string', 1],
	},
	{ noneOf: list, allOfThem: list, enum: 'a', required: [1], multipleOf: 0, format: 1 },
	{ minLength: '1', maxLength: '1', minItems: '1', maxItems: '1', minimum: Infinity },
	{ type: 5, multipleOf: '2', description: 1, deprecated: 1, maximum: '1' },
	{ pattern: '^(a+)+$', not: text, additionalProperties: false, exclusiveMinimum: 1 },
	JSON.parse('{ "constructor": {}, "toString": {}, "__defineGetter__": {}, "__proto__": {} }'),
])('takes nothing from %j', (value) => {
	const schema = readSchema(value, document);
	expect(schema).toStrictEqual({});
	expect(Object.getPrototypeOf(schema)).toBe(Object.prototype);
});

it('takes of each part what it understands', () => {
	const part = { type: 'string', more: 1 };
	const branches = { anyOf: [part], allOf: [part] };
	const read = readSchema({ items: part, properties: { part }, ...branches }, document);
	expect(read).toEqual({ items: text, properties: { part: text }, anyOf: [text], allOf: [text] });
});

it.each<[object, JsonSchema]>([
	[{ const: 'x' }, { enum: ['x'] }],
	// Documents tell branches apart by keywords that are not read, so any counts.
	[{ oneOf: [text, number] }, { anyOf: [text, number] }],
	[
		{ properties: { 'image_urls ': text }, required: ['image_urls '] },
		{ properties: { image_urls: text }, required: ['image_urls'] },
	],
	[{ type: 'string', enum: [5, 10] }, { enum: [5, 10] }],
	[{ type: ['integer', 'null'], const: '5' }, { enum: ['5'] }],
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
	const prose = { description: 'a', default: 'b', deprecated: true };
	expect(readSchema({ ...prose, ...text }, {}, false)).toStrictEqual(text);
});

it('leaves out a property __proto__, as n8n would lose it, and no other name', () => {
	const value: unknown = JSON.parse('{ "properties": { "__proto__": {}, "toString": {} } }');
	expect(Object.entries(readSchema(value, {})?.properties ?? {})).toEqual([['toString', {}]]);
});

const files = { type: 'array', items: text };
const inBranch = (file: JsonSchema) => ({
	type: 'object',
	properties: { files },
	allOf: [{ anyOf: [{ type: 'object', required: ['files'], properties: { files: file } }] }],
});
it.each<[string, JsonSchema, JsonSchema]>([
	['loses it', { type: 'object', anyOf: [text] }, { type: 'object', anyOf: [{}] }],
	['loses it in a branch of a branch, for a property too', inBranch(text), inBranch({})],
	[
		'keeps one of several',
		{ type: ['string', 'number'], anyOf: [text, number] },
		{ type: ['string', 'number'], anyOf: [text, number] },
	],
])('a branch whose type contradicts what is around it %s', (_, value, schema) => {
	expect(readSchema(value, {})).toStrictEqual(schema);
});

it('a property that many branches have is a flat choice of its forms', () => {
	const forms = Array.from({ length: 400 }, (_, index) => ({ maximum: index % 300 }));
	const schema = { anyOf: forms.map((a) => ({ properties: { a } })) };
	const { anyOf } = collectProperties(schema).get('a')?.schema ?? {};
	expect(anyOf).toEqual(forms.slice(0, 300));
});

it.each<[JsonSchema, string[]]>([
	[{}, []],
	[{ type: ['string', 'null'], enum: [1] }, ['string']],
	[{ enum: [1, 2, null, [1], {}] }, ['number', 'array', 'object']],
	[{ anyOf: [text, number, text], allOf: [{ type: 'null' }] }, ['string', 'number']],
])('the types of %j are %j', (schema, types) => expect(listTypes(schema)).toEqual(types));

it('the properties of an object are those of all its branches', () => {
	const both = { properties: { a: text, b: {} }, required: ['a'] };
	const schema: JsonSchema = {
		properties: { a: {}, c: text },
		required: ['c', 'd'],
		allOf: [{ properties: { e: text }, required: ['e'] }],
		anyOf: [both, { properties: { a: number, f: text, c: text, e: {} }, required: ['a', 'f'] }],
	};
	expect(Object.fromEntries(collectProperties(schema))).toEqual({
		a: { name: 'a', schema: { anyOf: [text, number] }, isRequired: true },
		b: { name: 'b', schema: {}, isRequired: false },
		c: { name: 'c', schema: text, isRequired: true },
		d: { name: 'd', schema: {}, isRequired: true },
		e: { name: 'e', schema: text, isRequired: true },
		f: { name: 'f', schema: text, isRequired: false },
	});
	expect([...collectProperties(schema).keys()].join('')).toBe('acebfd');
});
