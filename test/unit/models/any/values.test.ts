import { UserError } from 'n8n-workflow';
import {
	checkInput,
	nameFiles,
	toInput,
} from '../../../../nodes/MediaGeneration/models/any/values';
import { readSchema } from '../../../../nodes/MediaGeneration/models/any/schema';
import { Media } from '../../../../nodes/MediaGeneration/models/media';

/** Reads a schema as the service wrote it. */
const read = (schema: object) => readSchema(schema, undefined) ?? {};

/** Enters a value in a field of this name, and returns it as it is sent. */
const enter = (schema: object, value: unknown, name = 'subject') =>
	toInput(read({ type: 'object', properties: { [name]: schema } }), { [name]: value })[name];

const texts = { type: 'array', items: { type: 'string' } };

describe('an entered value', () => {
	it.each<[object, unknown, unknown]>([
		[{}, '5', '5'],
		[{ type: 'integer' }, ' 12 ', 12],
		[{ type: 'number' }, '-1.25', -1.25],
		[{ type: 'number' }, '1.', '1.'],
		[{ type: 'number' }, 'true', 'true'],
		[{ type: 'integer' }, '9007199254740991', Number.MAX_SAFE_INTEGER],
		[{ type: 'integer' }, '9007199254740993', '9007199254740993'],
		[{ type: 'string' }, 2 ** 53, 2 ** 53],
		[{ type: ['string', 'number'] }, '12', 12],
		[{ type: ['string', 'number'] }, '007', '007'],
		[{ type: 'number' }, '007', 7],
		[{ type: ['string', 'boolean'] }, 'true', true],
		[{ type: 'string' }, 5, '5'],
		[{ type: 'string' }, true, 'true'],
		[{ type: 'string' }, { a: 1 }, { a: 1 }],
		[{ type: ['string', 'integer'] }, 5, 5],
		[{ type: ['string', 'number'] }, 5, 5],
		[{ type: 'boolean' }, 'true', true],
		[{ type: 'boolean' }, 'false', false],
		[{ type: 'boolean' }, 'TRUE', true],
		[{ type: 'boolean' }, 'False', false],
		[{ type: 'boolean' }, 'untrue', 'untrue'],
		[{ type: 'boolean' }, 'trueish', 'trueish'],
		[{ type: ['array', 'object'] }, 5, [5]],
		[{ type: ['boolean', 'string'] }, 5, '5'],
		[{ anyOf: [{ type: 'integer' }, { enum: ['auto'] }] }, '5', 5],
		[{ anyOf: [{ type: 'integer' }, { enum: ['auto'] }] }, 'auto', 'auto'],
		[{ anyOf: [{ type: 'integer' }, { enum: ['auto'] }] }, 'x', 'x'],
		[{ anyOf: [{ enum: ['5'] }, { type: 'boolean' }] }, 5, '5'],
		[{ anyOf: [texts, { enum: ['auto'] }] }, '["a"]', ['a']],
		[{ anyOf: [texts, { enum: ['auto'] }] }, 'auto', 'auto'],
		[{ enum: ['auto', 5] }, '5', 5],
		[{ type: 'array' }, ' [1,2]', [1, 2]],
		[{ type: 'object' }, '[1]', '[1]'],
		[{ type: 'object' }, '{"a":1}', { a: 1 }],
		[{ type: 'object' }, '{', '{'],
		[{ anyOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'number' } }] }, '1,2', [1, 2]],
		[texts, 5, ['5']],
		[texts, ['a, b', 5], ['a, b', '5']],
		[{ properties: { n: { type: 'integer' } } }, { n: '5', m: '5' }, { n: 5, m: '5' }],
		[{ properties: { n: { enum: ['a', null] } } }, '{"n":null}', '{"n":null}'],
		[{ type: 'object', properties: { n: { enum: ['a', null] } } }, '{"n":null}', { n: null }],
		[{ type: 'object', properties: { n: { enum: ['a', null] } } }, { n: null }, { n: null }],
		[texts, 'a, b,c\nd,', ['a', 'b', 'c', 'd']],
		[texts, '1,a:b', ['1', 'a:b']],
		[texts, 'https://a.example/1,2,', ['https://a.example/1,2']],
		[texts, 'https://a.example/1,ftps+x.y-2://b/3', ['https://a.example/1', 'ftps+x.y-2://b/3']],
		[texts, 'https://a.example/1,2b:c', ['https://a.example/1,2b:c']],
		[texts, 'data:image/png;base64,AA==', ['data:image/png;base64,AA==']],
		[
			texts,
			'data:image/png;base64,AA==,https://a.example/1, b',
			['data:image/png;base64,AA==', 'https://a.example/1', 'b'],
		],
		[texts, ' data:,a,b\nDATA:,c', ['data:,a,b', 'DATA:,c']],
		[texts, ['a', '', null, ' ', undefined, 'b'], ['a', 'b']],
		[texts, '["a", null, ""]', ['a']],
		[{ type: 'array', items: texts }, [['a', ''], [null]], [['a'], []]],
		[{ type: 'array', items: { type: 'number' } }, [0, '', '1'], [0, 1]],
		[{ type: 'array', items: { type: 'boolean' } }, [false, null], [false]],
		[texts, [], []],
		[texts, ['', null], undefined],
		[texts, '"a, b", "c",', ['a, b', 'c']],
		[texts, 'a "b", c', ['a "b"', 'c']],
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

	const url = 'https://a.example/1.png';

	it.each<[object, unknown, unknown]>([
		[{ type: 'string' }, { url }, url],
		[{ type: 'string' }, [{ url, type: 'image/png' }], url],
		[{ type: 'string' }, JSON.stringify({ url }), url],
		[texts, { url }, [url]],
		[texts, [{ url }, 'asset:1', { url }], [url, 'asset:1', url]],
		[texts, JSON.stringify([{ url }, { url }]), [url, url]],
		[{ anyOf: [{ type: 'string' }, texts] }, { url }, url],
		[{ type: 'object' }, { url }, { url }],
		[{ type: 'array', items: { type: 'object' } }, [{ url }], [{ url }]],
		[{ type: 'string' }, { a: 1 }, { a: 1 }],
	])('is not taken from a file object with a URL: %j, %j', (schema, value, sent) => {
		expect(enter(schema, value, 'image_urls')).toEqual(sent);
		const input = { image_urls: value };
		const document = read({ type: 'object', properties: { image_urls: schema } });
		const named = nameFiles(document, input, () => false).input.image_urls;
		// JSON is sent as it is, save for objects where the model takes none.
		expect([sent, typeof value === 'string' ? value : sent]).toContainEqual(named);
	});

	it("is taken from n8n's own object of a file, as text", () => {
		const own = { fileName: 'a.png', mimeType: 'image/png', data: 'x' };
		const media = expect.objectContaining({ source: JSON.stringify(own) }) as Media;
		expect(enter({ type: 'string' }, own, 'image')).toEqual(media);
		expect(enter(texts, own, 'images')).toEqual([media]);
		expect(enter(texts, [own, url], 'images')).toEqual([media, url]);
		for (const value of [own, JSON.stringify(own)]) {
			const document = read({ type: 'object', properties: { image: { type: 'string' } } });
			const { input } = nameFiles(document, { image: value }, () => false);
			expect(input.image).toEqual(media);
		}
	});

	it.each(['https://a.example/1.png', ' https://a.example/1.png', 'asset:1', 's3+x.y-2://b/3'])(
		'is not taken from the URL %j',
		(value) => expect(enter({ type: 'string' }, value, 'image')).toBe(value),
	);

	it('is taken from lists and objects, where their schema does not name the values', () => {
		const properties = {
			image: { type: 'string' },
			mask: { enum: ['no'] },
		};
		const list = { type: 'array', items: { type: 'object', properties } };
		expect(enter(list, '[{"image":"data","mask":"no","more":null},{"image":" "}]')).toEqual([
			{ image: expect.any(Media) as Media, mask: 'no', more: null },
			{ image: ' ' },
		]);
		expect(
			enter({ type: 'array', items: { type: 'string', enum: ['one'] } }, 'one', 'images'),
		).toEqual(['one']);
	});
});

/** Checks a value. @returns what is wrong with it */
function findViolation(schema: object, value: unknown): string | undefined {
	try {
		checkInput(read(schema), value as Record<string, unknown>);
		return undefined;
	} catch (error) {
		expect(error).toBeInstanceOf(UserError);
		return (error as Error).message;
	}
}

const text = { type: 'string' };
const number = { type: 'number' };

describe('a value that its schema allows', () => {
	it.each<[object, unknown]>([
		[{}, undefined],
		[text, ''],
		[{ type: 'integer' }, 2],
		[{ type: 'null' }, null],
		// JSON Schema does not know this type.
		[{ type: 'file' }, 'x'],
		[{ enum: [{ a: [1, { b: null }] }] }, { a: [1, { b: null }] }],
		[{ minLength: 2, maxLength: 2 }, '😀😀'],
		[{ minItems: 2, maxItems: 2 }, [1, 2]],
		// The service checks the rest.
		[{ format: 'uri', pattern: 'a', multipleOf: 2 }, 'x'],
		[{ minimum: 1, maximum: 1 }, 1],
		[{ minLength: 1, minimum: 1, minItems: 1 }, {}],
		[{ items: text }, { 0: 1 }],
		[
			{ required: ['a'], properties: { a: text } },
			{ a: 'x', b: 1 },
		],
		[{ required: ['a'] }, []],
		[{ properties: { a: number } }, { b: 'x' }],
		[{ required: ['a', 'b'], properties: { a: { type: 'object' }, b: { type: 'array' } } }, {}],
		[{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, {}],
		[{ anyOf: [text, { minLength: 1 }] }, 'x'],
		[{ anyOf: [text, number, {}], allOf: [text, {}] }, 'x'],
	])('%j: %j', (schema, value) => {
		expect(findViolation(schema, value)).toBeUndefined();
	});

	it('is a file that is not uploaded yet, wherever a text may be', () => {
		const file = new Media('data');
		for (const schema of [
			text,
			{ enum: ['x'] },
			{ maxLength: 1 },
			{ format: 'uri' },
			{ required: ['a'] },
		])
			expect(findViolation(schema, file)).toBeUndefined();
		expect(findViolation(number, file)).toBe("'Input' must be a number");
		const url = new Media('https://a.example/1.png');
		expect(findViolation({ maxLength: 1 }, url)).toContain('at most 1');
	});
});

describe('a value that its schema does not allow', () => {
	const object = { type: 'object', properties: { a: number } };
	it.each<[object, unknown, string, string?]>([
		[text, 5, 'must be text'],
		[number, '5', 'must be a number'],
		[{ type: 'integer' }, 1.5, 'must be a whole number'],
		[{ type: 'boolean' }, 0, 'must be true or false'],
		[{ type: 'array' }, {}, 'must be a list'],
		[{ type: 'object' }, [], 'must be a JSON object'],
		[{ type: 'object' }, null, 'must be a JSON object'],
		[{ type: 'null' }, 0, 'must be null'],
		[{ type: ['string', 'number'] }, true, 'must be text or a number'],
		[{ enum: [1, 'a', { b: 1 }] }, 2, 'must be one of 1, a, {"b":1}'],
		[{ enum: [{ a: 1 }] }, { b: 1 }, 'must be {"a":1}'],
		[{ enum: [[1]] }, { 0: 1, length: 1 }, 'must be a list'],
		[{ enum: [{}] }, 5, 'must be a JSON object'],
		[{ minLength: 2 }, 'a', 'needs at least 2 characters'],
		[{ maxLength: 2 }, 'abc', 'may have at most 2 characters'],
		[{ minItems: 2 }, [1], 'needs at least 2 entries'],
		[{ maxItems: 1 }, [1, 2], 'may have at most 1 entries'],
		[{ minimum: 1 }, 0.9, 'must be at least 1'],
		[{ maximum: 1 }, 1.1, 'must be at most 1'],
		[{ properties: { a: { items: text } } }, { a: ['a', 1] }, 'must be text', 'A 2'],
		[{ required: ['a'] }, {}, 'is required', 'A'],
		[{ properties: { a: object } }, { a: { a: 'x' } }, 'must be a number', 'A › A'],
		[{ allOf: [text, { minLength: 2 }] }, 'x', 'needs at least 2 characters'],
		[{ anyOf: [text, { type: ['number', 'null'] }] }, {}, 'must be text or a number or null'],
	])('%j: %j %s', (schema, value, message, place = 'Input') => {
		expect(findViolation(schema, value)).toContain(`'${place}' ${message}`);
	});
});

describe('what every object inherits', () => {
	it('is no property that was given', () => {
		expect(findViolation({ required: ['toString'] }, {})).toBe("'To String' is required");
		expect(findViolation({ required: ['toString'] }, { toString: 1 })).toBeUndefined();
	});
});

it('a message names some of many values', () => {
	const values = Array.from({ length: 5_000 }, (_, index) => `value ${index}`);
	const message = findViolation({ enum: values }, 'x') ?? '';
	expect(message).toMatch(/must be one of value 0, value 1, .*…$/);
	expect(message.length).toBeLessThan(600);
});

it.each([
	[
		'audio_id',
		"set 'Output Items' in its Options to One per File, and fill in {{ $json.file.id }}",
	],
	['task_id', 'the Media Generation node that created the earlier task'],
	['mood', 'Correct the field'],
])('where %s is missing, the error says how to fill it in', (name, help) => {
	const check = () => checkInput(read({ properties: { [name]: text }, required: [name] }), {});
	const description: unknown = expect.stringContaining(help);
	expect(check).toThrow(expect.objectContaining({ description }) as Error);
});
