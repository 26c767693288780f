import { describeModel, inFields, readInput, texts } from './door.cts';

const read = async (schema: object, value: unknown) => {
	const openapi = describeModel({ subject: schema });
	const input = await readInput({ ...inFields({ subject: value }), openapi });
	return (input as { subject?: unknown }).subject;
};

it.each<[object, unknown, unknown]>([
	[{}, '5', '5'],
	[{ type: 'integer' }, ' 12 ', 12],
	[{ type: 'number' }, '-1.25', -1.25],
	[{ type: 'integer' }, '9007199254740991', Number.MAX_SAFE_INTEGER],
	[{ type: ['string', 'number'] }, '12', 12],
	[{ type: ['string', 'number'] }, '007', '007'],
	[{ type: 'number' }, '007', 7],
	[{ type: ['string', 'boolean'] }, 'true', true],
	[{ type: 'string' }, 5, '5'],
	[{ type: 'string' }, true, 'true'],
	[{ type: ['string', 'integer'] }, 5, 5],
	[{ type: 'boolean' }, 'TRUE', true],
	[{ type: 'boolean' }, ' False\n', false],
	[{ type: ['array', 'object'] }, 5, [5]],
	[{ type: ['boolean', 'string'] }, 5, '5'],
	[{ anyOf: [{ type: 'integer' }, { enum: ['auto'] }] }, '5', 5],
	[{ anyOf: [{ type: 'integer' }, { enum: ['auto'] }] }, 'auto', 'auto'],
	[{ anyOf: [texts, { enum: ['auto'] }] }, 'auto', 'auto'],
	[{ enum: ['auto', 5] }, '5', 5],
	[{ type: 'array' }, ' [1,2]', [1, 2]],
	[{ type: 'object' }, '{"a":1}', { a: 1 }],
	[{ anyOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'number' } }] }, '1,2', [1, 2]],
	[texts, ['a, b', 5], ['a, b', '5']],
	[{ properties: { n: { type: 'integer' } } }, { n: '5', m: '5' }, { n: 5, m: '5' }],
	[{ type: 'object', properties: { n: { enum: ['a', null] } } }, '{"n":null}', { n: null }],
	[texts, 'a, b,c\nd,', ['a', 'b', 'c', 'd']],
	[texts, '1,a:b', ['1', 'a:b']],
	[texts, 'https://a.example/1,2,', ['https://a.example/1,2']],
	[texts, 'https://a.example/1,ftps+x.y-2://b/3', ['https://a.example/1', 'ftps+x.y-2://b/3']],
	[texts, ['a', '', null, ' ', undefined, 'b'], ['a', 'b']],
	[{ type: 'array', items: texts }, [['a', ''], [null]], [['a'], []]],
	[texts, [], []],
	[texts, ['', null], undefined],
	[texts, '"a", "b",', ['a', 'b']],
	// A list of one is its entry, where a number or a choice is meant.
	[{ enum: ['1K', '4K'] }, ['4K'], '4K'],
	[{ type: 'integer' }, '[8]', 8],
	[{ type: 'boolean' }, ['true'], true],
	[{ type: 'array', items: { enum: ['a', 'b'] } }, ['\u00a0b\r\n'], ['b']],
	[{ enum: ['16:9', '1:1'] }, '\u00a016:9\r\n', '16:9'],
	[{ enum: [5, 10] }, ['10 '], 10],
])('of %j, %j, is sent as %j', async (schema, value, sent) => {
	expect(await read(schema, value)).toEqual(sent);
});

const number = { type: 'number' };
const shots = {
	type: 'array',
	items: { type: 'object', properties: { prompt: { type: 'string' }, seconds: number } },
};

describe('is refused before anything is paid for:', () => {
	it.each<[schema: object, value: unknown, message: string]>([
		[{ type: 'string' }, { a: 1 }, "'Subject' must be text, but is"],
		[number, '1.', '\'Subject\' must be a number, but is "1."'],
		[{ type: 'integer' }, 1.5, 'must be a whole number, but'],
		[{ type: 'boolean' }, 'untrue', 'must be true or false'],
		[{ type: 'object' }, '[1]', 'must be a JSON object'],
		[{ type: ['string', 'number'] }, [1, 2], 'must be text or a number'],
		[{ enum: [1, 'a', { b: 1 }] }, 2, 'must be one of 1, a, {"b":1}'],
		[{ enum: [{ a: 1 }] }, { b: 1 }, 'must be {"a":1}'],
		[{ type: 'string', minLength: 2 }, '😀', 'must have at least 2 characters'],
		[{ type: 'string', maxLength: 2 }, 'abc', 'must have at most 2 characters'],
		[{ ...texts, minItems: 2 }, 'a', 'must have at least 2 entries'],
		[{ ...texts, maxItems: 1 }, ['a', 'b'], 'must have at most 1 entries'],
		[{ ...number, minimum: 1 }, 0.9, 'must be a number of at least 1, but is "0.9"'],
		[{ ...number, maximum: 1 }, 1.1, 'must be a number of at most 1'],
		[{ type: 'integer', minimum: 1, maximum: 9 }, 10, 'must be a whole number of 1 to 9'],
		[shots, '[{"prompt":"a"},{"prompt":"b","seconds":"x"}]', "'Subject 2 › Seconds' must be"],
		[shots, '[{"seconds":9007199254740993}]', "'Subject 1 › Seconds' must be between -900"],
		[{ properties: { a: number }, required: ['a'] }, {}, "'Subject › A' is required"],
		[{}, '={{ new Map() }}', 'must be a value that JSON has'],
		[{}, JSON.parse('['.repeat(70) + ']'.repeat(70)), 'nested less than 64 levels deep'],
	])('of %j, %j: %s', async (schema, value, message) => {
		await expect(read(schema, value)).rejects.toThrow(message);
	});

	it('a name that a document lacks, and the error lists those that it has', async () => {
		const openapi = describeModel({ prompt: {}, seed: number }, ['prompt']);
		const sent = readInput({ ...inFields({ prompt: 'x', sed: 1 }), openapi });
		await expect(sent).rejects.toThrow(
			'sed in Input is no field of brand/any. Its fields are prompt (required), seed',
		);
	});

	it('fields that the workflow stores of another model', async () => {
		const stored = { id: '$schema', model: 'brand/other', inputSchema: {} };
		const anyFields = { mappingMode: 'defineBelow', value: { a: 1 }, schema: [stored] };
		await expect(readInput(inFields({}, { anyFields }))).rejects.toThrow(
			'The fields in Input are those of brand/other, but the model is brand/any',
		);
	});

	it('a model that the node does not have, and the error leads to all others', async () => {
		const description: unknown = expect.stringContaining('choose All Models of Your Service');
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
	it.each<[string, object, unknown, object]>([
		['are merged over the input', { a: {} }, '{"a":"b","c":[1]}', { a: 'b', c: [1] }],
		[
			'are sent as they are',
			{ a: { enum: ['x'] } },
			{ d: ' 5 ', e: ['1'] },
			{ a: 'x', d: ' 5 ', e: ['1'] },
		],
		['may give what is required', {}, '{"r":1}', { a: 'x', r: 1 }],
		['may be blank', { a: {} }, ' ', { a: 'x' }],
		['may stand in a code fence', {}, '```json\n{"b":1}\n```', { a: 'x', b: 1 }],
	])('%s', async (what, properties, extraFields, input) => {
		const openapi = describeModel(properties as never, what.includes('required') ? ['r'] : []);
		const known = Object.keys(properties).length ? openapi : describeModel({ a: {}, r: {} });
		const given = inFields({ a: 'x' }, { options: { extraFields } });
		expect(await readInput({ ...given, openapi: known })).toEqual(input);
	});

	it('are checked for what a document limits, and refused where digits are lost', async () => {
		const given = (extraFields: unknown) =>
			readInput({
				...inFields({}, { options: { extraFields } }),
				openapi: describeModel({ n: { ...number, maximum: 5 } }),
			});
		await expect(given({ n: 6 })).rejects.toThrow("'N' must be a number of at most 5");
		await expect(given('{"seed":9007199254740993}')).rejects.toThrow("'Seed' must be between");
	});
});
