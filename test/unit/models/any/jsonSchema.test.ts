import {
	collectProperties,
	listTypes,
	type JsonSchema,
} from '../../../../nodes/MediaGeneration/models/any/jsonSchema';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };

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
