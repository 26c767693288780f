import { describeModel, inFields, readInput, texts } from './prepareInput.cts';

const read = async (schema: object, value: unknown) => {
	const openapi = describeModel({ subject: schema });
	const input = await readInput({ ...inFields({ subject: value }), openapi });
	return (input as { subject?: unknown }).subject;
};

const integer = { type: 'integer' };

it.each<[object, unknown, unknown]>([
	[integer, ' 12 ', 12],
	[integer, '9007199254740991', Number.MAX_SAFE_INTEGER],
	[{ type: ['string', 'number'] }, '007', '007'],
	[{ type: 'number' }, '007', 7],
	[{ type: ['string', 'boolean'] }, 'true', true],
	[{ type: 'string' }, 5, '5'],
	[{ type: 'boolean' }, ' False\n', false],
	[{ type: ['array', 'object'] }, 5, [5]],
	[{ anyOf: [integer, { enum: ['auto'] }] }, '5', 5],
	[{ anyOf: [texts, { enum: ['auto'] }] }, 'auto', 'auto'],
	[{ enum: ['auto', 5] }, '5', 5],
	[{ type: 'object' }, '{"a":1}', { a: 1 }],
	[{ anyOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'number' } }] }, '1,2', [1, 2]],
	[{ properties: { n: integer } }, { n: '5', m: '5' }, { n: 5, m: '5' }],
	[{ properties: { n: { enum: ['a', null] } } }, { n: null }, { n: null }],
	[texts, 'a, b,c\nd,', ['a', 'b', 'c', 'd']],
	[texts, 'https://a.example/1,ftps+x.y-2://b/3', ['https://a.example/1', 'ftps+x.y-2://b/3']],
	[texts, ['a', '', null, ' ', undefined, 'b'], ['a', 'b']],
	[{ type: 'array', items: texts }, [['a', ''], [null]], [['a'], []]],
	[texts, ['', null], undefined],
	[texts, '"a", "b",', ['a', 'b']],
	[texts, '"a, b",\n"c"', ['a, b', 'c']],
	// A list of one is its entry, where a number or a choice is meant.
	[integer, '[8]', 8],
	[{ type: 'array', items: { enum: ['a', 'b'] } }, ['\u00a0b\r\n'], ['b']],
	[{ enum: [5, 10] }, ['10 '], 10],
])('by the schema %j, the value %j is sent as %j', async (schema, value, sent) => {
	expect(await read(schema, value)).toEqual(sent);
});

const number = { type: 'number' };
const shots = {
	type: 'array',
	items: { type: 'object', properties: { prompt: { type: 'string' }, seconds: number } },
};

describe('is an error before anything is paid for:', () => {
	it.each<[schema: object, value: unknown, message: string]>([
		[{ type: 'string' }, { a: 1 }, "'Subject' must be text, but is"],
		[integer, 1.5, 'must be a whole number, but'],
		[{ type: 'object' }, '[1]', 'must be a JSON object'],
		[{ enum: [1, 'a', { b: 1 }] }, 2, 'must be one of 1, a, {"b":1}'],
		[{ type: 'string', minLength: 2 }, '😀', 'must have at least 2 characters'],
		[{ type: 'string', maxLength: 2 }, 'abc', 'must have at most 2 characters'],
		[{ ...texts, maxItems: 1 }, ['a', 'b'], 'must have at most 1 entries'],
		[{ ...number, minimum: 1 }, 0.9, 'must be a number of at least 1, but is "0.9"'],
		[shots, '[{"prompt":"a"},{"prompt":"b","seconds":"x"}]', "'Subject 2 › Seconds' must be"],
		[{ properties: { a: number }, required: ['a'] }, {}, "'Subject › A' is required"],
		[{}, '={{ new Map() }}', 'must be a value that JSON has'],
		[{}, JSON.parse('['.repeat(70) + ']'.repeat(70)), 'nested less than 64 levels deep'],
	])('by the schema %j, the value %j: %s', async (schema, value, message) => {
		await expect(read(schema, value)).rejects.toThrow(message);
	});

	it('a name that the document lacks, whatever the workflow stores of another model', async () => {
		const openapi = describeModel({ prompt: {}, seed: number });
		const schema = [{ id: '$schema', model: 'brand/other', inputSchema: {} }];
		const anyFields = { mappingMode: 'defineBelow', value: { prompt: 'x', sed: 1 }, schema };
		await expect(readInput({ ...inFields({}, { anyFields }), openapi })).rejects.toThrow(
			'sed in Input is no field of brand/any. Its fields are prompt, seed',
		);
	});

	it('fields that the workflow stores of another model, where the service says nothing of this one', async () => {
		const schema = [{ id: '$schema', model: 'brand/other', inputSchema: {} }];
		const anyFields = { mappingMode: 'defineBelow', value: { prompt: 'x' }, schema };
		await expect(readInput({ ...inFields({}, { anyFields }), openapi: null })).rejects.toThrow(
			'The fields in Input are those of brand/other, but the model is brand/any',
		);
	});

	it('a model that the node does not have, with an error that leads to all others', async () => {
		const description: unknown = expect.stringContaining('such as Any Model of Your Service');
		await expect(readInput({ parameters: { model: 'no-such' } })).rejects.toMatchObject({
			description,
		});
	});
});

it('a date is sent as text, before its schema checks it', async () => {
	const at = "={{ new Date('2026-11-02T10:00:00Z') }}";
	expect(await read({ type: 'string', maxLength: 24 }, at)).toBe('2026-11-02T10:00:00.000Z');
});

describe('Extra Fields', () => {
	const openapi = describeModel({ a: { enum: ['x', 'b'] }, n: { maximum: 5 } });
	const send = async (extraFields: unknown, document = openapi) =>
		await readInput({ ...inFields({ a: 'x' }, { options: { extraFields } }), openapi: document });

	it.each<[string, unknown, object]>([
		['are merged over the input', '{"a":"b","c":[1]}', { a: 'b', c: [1] }],
		['are sent as they are', { d: ' 5 ', e: ['1'] }, { a: 'x', d: ' 5 ', e: ['1'] }],
		['may be blank', ' ', { a: 'x' }],
		['may stand in a code fence', '```json\n{"b":1}\n```', { a: 'x', b: 1 }],
	])('%s', async (_, extraFields, input) => {
		expect(await send(extraFields)).toEqual(input);
	});

	it('may give what is required', async () => {
		const needy = describeModel({ a: {} }, ['r']);
		expect(await send('{"r":1}', needy)).toEqual({ a: 'x', r: 1 });
	});

	it('are checked by the document, and are an error where digits are lost', async () => {
		await expect(send({ n: 6 })).rejects.toThrow("'N' must be a number of at most 5");
		await expect(send('{"seed":9007199254740993}')).rejects.toThrow("'Seed' must be between");
	});
});
