import {
	collectProperties,
	listTypes,
	removeProse,
	type JsonSchema,
} from '../../nodes/MediaGeneration/models/any/jsonSchema';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };

it('a property that many branches have is a flat choice of its forms', () => {
	const forms = Array.from({ length: 400 }, (_, index) => ({ maximum: index % 300 }));
	const schema = { oneOf: forms.map((a) => ({ properties: { a } })) };
	const { anyOf } = collectProperties(schema).get('a')?.schema ?? {};
	expect(anyOf).toEqual(forms.slice(0, 300));
});

it('prose is removed at any depth, save where it is needed', () => {
	const build = (prose: JsonSchema, kept: JsonSchema): JsonSchema => {
		const part = { type: 'string', ...prose };
		return {
			...prose,
			properties: { a: part, b: { type: 'string', ...kept }, c: { additionalProperties: false } },
			additionalProperties: part,
			items: part,
			oneOf: [part],
			anyOf: [part],
			allOf: [part],
		};
	};
	const prose = { default: 1, deprecated: true };
	const written = build({ ...prose, description: 'a' }, { ...prose, description: 'b' });
	expect(removeProse(written, (name, { type }) => name === 'b' && type === 'string')).toEqual(
		build({}, { description: 'b' }),
	);
});

it.each<[JsonSchema, string[]]>([
	[{}, []],
	[{ type: ['string', 'null'], enum: [1] }, ['string']],
	[{ enum: [1, 2, null, [1], {}] }, ['number', 'array', 'object']],
	[{ const: true }, ['boolean']],
	[{ oneOf: [text], anyOf: [number, text], allOf: [{ type: 'null' }] }, ['string', 'number']],
])('the types of %j are %j', (schema, types) => expect(listTypes(schema)).toEqual(types));

it('the properties of an object are those of all its branches', () => {
	const both = { properties: { a: text, b: {} }, required: ['a'] };
	const schema: JsonSchema = {
		properties: { a: {}, c: text },
		required: ['c', 'd'],
		allOf: [{ properties: { e: text }, required: ['e'] }],
		oneOf: [both, { properties: { a: number, f: text }, required: ['a', 'f'] }],
		anyOf: [{ properties: { c: text, b: number, e: {} } }],
	};
	expect(Object.fromEntries(collectProperties(schema))).toEqual({
		a: { schema: { anyOf: [text, number] }, isRequired: true },
		b: { schema: number, isRequired: false },
		c: { schema: text, isRequired: true },
		d: { schema: {}, isRequired: true },
		e: { schema: text, isRequired: true },
		f: { schema: text, isRequired: false },
	});
	expect([...collectProperties(schema).keys()].join('')).toBe('acebfd');
});
