import fc from 'fast-check';
import { UserError } from 'n8n-workflow';
import { buildDocument, buildPost, TASK_PATH } from '../../../../dev/service/catalogue.cts';
import { checkInput } from '../../../../nodes/MediaGeneration/models/check';
import type { ItemFiles } from '../../../../nodes/MediaGeneration/models/files';
import { InputReader } from '../../../../nodes/MediaGeneration/models/inputReader';
import { findInput } from '../../../../nodes/MediaGeneration/models/schema';
import { readSchema } from '../../../../nodes/MediaGeneration/models/schema';
import { findStoredSchema } from '../../../../nodes/MediaGeneration/models/any/views';
import { evaluate } from '../../expression.ts';
import { fake } from '../../n8n.ts';
import { readFields } from './modelFields.ts';

const MAX_STORED = 64_000;
const MAX_NOTICE = 1_000;
const MAX_LABEL = 26;
/** In looks at a part of a document; each costs some tenths of a microsecond. */
const MAX_READS = 300_000;

const times = <T,>(count: number, make: (index: number) => T): T[] =>
	Array.from({ length: count }, (_, index) => make(index));

const fill = (count: number, make: (index: number) => unknown, name = 'p') =>
	Object.fromEntries(times(count, (index) => [`${name}${index}`, make(index)]));

/** Puts a value into itself, this number of times. */
function nest(depth: number, wrap: (inner: unknown) => unknown, innermost: unknown = {}): unknown {
	let value = innermost;
	for (let level = 0; level < depth; level++) value = wrap(value);
	return value;
}

/** Counts what is read of a document: each look at a part of it, and each list of its keys by their number. */
function observe(document: unknown) {
	const observed = { reads: 0, document };
	const proxies = new WeakMap<object, unknown>();
	const wrap = (value: unknown): unknown => {
		if (typeof value !== 'object' || value === null) return value;
		const proxy =
			proxies.get(value) ??
			new Proxy(value, {
				get(target, key) {
					observed.reads++;
					return wrap(Reflect.get(target, key));
				},
				ownKeys(target) {
					const keys = Reflect.ownKeys(target);
					observed.reads += keys.length;
					return keys;
				},
			});
		proxies.set(value, proxy);
		return proxy;
	};
	observed.document = wrap(document);
	return observed;
}

const listTexts = (value: unknown): string[] => {
	if (typeof value === 'string') return [value];
	return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
};

/** The node's own defaults of fields that continue an earlier task or file. */
const OURS = new Set(['={{ $json.taskId }}', '={{ $json.file.id }}']);

const NO_FILES = fake<ItemFiles>({
	find: () => ({ numbered: [] }),
	nameOf: () => undefined,
	listNames: () => [],
});

/** Holds the editor's fields of a document, and the checks of a run, to what they promise. */
function holdToPromise(document: unknown, values: Record<string, unknown>) {
	const { fields, emptyFieldsNotice } = readFields('any/model', document);
	expect(JSON.stringify(fields).length).toBeLessThanOrEqual(MAX_STORED);
	expect(fields.length === 0).toBe(emptyFieldsNotice !== undefined);
	expect(emptyFieldsNotice?.length ?? 0).toBeLessThan(MAX_NOTICE);
	expect(emptyFieldsNotice ?? '').not.toContain('<');
	for (const { display, displayName } of fields)
		if (display) expect(displayName.length).toBeLessThanOrEqual(MAX_LABEL);
	const expressions = listTexts(fields).filter((text) => text.startsWith('='));
	expect(expressions.filter((text) => !OURS.has(text))).toEqual([]);
	const stored: unknown = JSON.parse(JSON.stringify(findStoredSchema(fields)?.inputSchema ?? {}));
	const schema = readSchema(stored, undefined);
	expect(schema).toEqual(stored);
	try {
		const input = new InputReader(schema ?? {}, NO_FILES, 'fields').read(values);
		expect(JSON.stringify(input)).toBeDefined();
		checkInput(schema ?? {}, input);
	} catch (error) {
		expect(error).toBeInstanceOf(UserError);
		expect((error as Error).message.length).toBeLessThan(2_000);
	}
}

const long = 'x'.repeat(1_000_000);
const refersTo = (name: string) => ({ $ref: `#/parts/${name}` });

/** Each ends in fields or in a notice. Its parts are what its schemas refer to. */
const hostile: Array<[what: string, outcome: 'fields' | 'notice', input: unknown, parts?: object]> =
	[
		[
			'holds itself in sixteen properties',
			'fields',
			refersTo('a'),
			{ a: { properties: fill(16, () => refersTo('a')) } },
		],
		[
			'holds sixteen schemas that hold each other',
			'notice',
			refersTo('p0'),
			fill(16, () => ({ properties: fill(16, (index) => refersTo(`p${index}`)) })),
		],
		[
			'doubles with each of forty references',
			'fields',
			refersTo('p0'),
			fill(40, (index) => ({
				properties: { a: refersTo(`p${index + 1}`), b: refersTo(`p${index + 1}`) },
			})),
		],
		[
			'refers along a chain of ten thousand references',
			'fields',
			{ properties: { a: refersTo('p0') } },
			fill(10_000, (index) => refersTo(`p${index + 1}`)),
		],
		['nests objects', 'fields', nest(25, (a) => ({ properties: { a } }))],
		['nests choices', 'fields', { properties: { a: nest(25, (one) => ({ oneOf: [one, {}] })) } }],
		['has 5,000 properties', 'notice', { properties: fill(5_000, () => ({})) }],
		[
			'has 100,000 properties that 500 refer to',
			'notice',
			{ properties: fill(500, () => refersTo('a')) },
			{ a: { properties: fill(100_000, () => ({})) } },
		],
		['has 20,000 values', 'notice', { properties: { a: { enum: times(20_000, (at) => at) } } }],
		[
			'has 3,000 values that are longer in the editor',
			'notice',
			{ properties: { a: { enum: times(3_000, (index) => `v${index}`) } } },
		],
		[
			'has 8,000 values and 3,000 types',
			'notice',
			{
				properties: {
					a: {
						enum: times(8_000, () => 1),
						type: [...times(3_000, () => 'string'), 'number'],
					},
				},
			},
		],
		[
			'requires 20,000 properties',
			'notice',
			{ properties: { a: {} }, required: times(20_000, (index) => `p${index}`) },
		],
		['has 20,000 choices', 'notice', { properties: { a: {} }, oneOf: times(20_000, () => ({})) }],
		[
			'has a property in 200 choices',
			'fields',
			{ oneOf: times(200, (maximum) => ({ properties: { a: { maximum } } })) },
		],
		['has a name of a megabyte', 'notice', { properties: { [long]: {} } }],
		['has a reference of a megabyte', 'fields', { properties: { a: { $ref: `#/${long}` } } }],
		['has a description of a megabyte', 'fields', { properties: { a: { description: long } } }],
	];

describe('a description that', () => {
	// As rows of it.each they would be printed, which takes forever.
	for (const [what, outcome, input, parts] of hostile)
		it(`${what} ends in ${outcome === 'fields' ? 'fields' : 'a notice'}, at once`, () => {
			const document = buildDocument(input, { parts });
			const observed = observe(document);
			const { fields, emptyFieldsNotice = '' } = readFields('any/model', observed.document);
			expect(observed.reads).toBeLessThan(MAX_READS);
			expect(fields.length > 0 ? 'fields' : 'notice').toBe(outcome);
			expect(emptyFieldsNotice).toMatch(outcome === 'notice' ? /'Input Mode' to JSON\.$/ : /^$/);
			holdToPromise(document, { a: { a: [1, '2'] }, p0: 'x' });
		});
});

it.each<[string, object]>([
	['forms', { anyOf: times(300, (index) => ({ type: 'object', required: [`p${index}`] })) }],
	['values', { enum: times(3_000, (index) => index) }],
	['types', { type: times(3_000, (index) => `t${index}`) }],
])('the entries of a list that may have many %s are told apart by few reads', (_, items) => {
	const schema = readSchema({ properties: { a: { type: 'array', items } } }, undefined);
	const observed = observe(schema);
	const objects = times(50, () => ({ x: 'y' }));
	const texts = times(50, () => 'x');
	const reader = new InputReader(observed.document as object, NO_FILES, 'fields');
	const inputs = [objects, texts.join(', ')].map((a) => reader.read({ a }));
	expect(inputs).toEqual([{ a: objects }, { a: texts }]);
	expect(observed.reads).toBeLessThan(MAX_READS);
});

describe('n8n takes no text of the service for an expression', () => {
	const code = '={{ 40 + 2 }}';

	it.each<[string, object]>([
		['a name', { properties: { [code]: {} } }],
		['a name behind a space', { properties: { [` ${code}`]: {} } }],
		['a required name', { properties: { a: {} }, required: [code] }],
		['a value within values', { properties: { a: { enum: [{ b: [code] }] } } }],
		['a default', { properties: { a: { default: code } } }],
	])('in %s', (_, input) => {
		const { fields, emptyFieldsNotice } = readFields('any/model', buildDocument(input));
		expect(fields).toEqual([]);
		expect(emptyFieldsNotice).toMatch(/expressions\. .*'Input Mode' to JSON\.$/);
	});

	it.each<[string, object]>([
		['a description', { properties: { a: { description: ` =${code}` } } }],
		['an unknown keyword', { properties: { a: { [code]: code } } }],
	])('in %s, which stays', (_, input) => {
		const { fields } = readFields('any/model', buildDocument(input));
		expect(fields).toHaveLength(3);
		expect(JSON.parse(JSON.stringify(evaluate(fields)))).toEqual(
			JSON.parse(JSON.stringify(fields)),
		);
	});
});

describe('whatever the service says of a model, reading it throws nothing and stores little', () => {
	const names = fc.constantFrom(
		...'type enum const minLength maxLength pattern format minimum maximum multipleOf minItems maxItems'.split(
			' ',
		),
		...'required default description deprecated items properties additionalProperties'.split(' '),
		...'oneOf anyOf allOf $ref not a b image_url $schema $guide'.split(' '),
		...'__proto__ constructor toString hasOwnProperty __defineGetter__ length'.split(' '),
	);
	const texts = fc.oneof(
		fc.constantFrom('', '={{ 1 }}', ...'string array object integer uri <b> ^(a+)+$'.split(' ')),
		fc.constantFrom(...'#/paths #/parts #/parts/a #/parts/b/items #/__proto__ % #/%'.split(' ')),
		fc.string(),
	);
	const { anySchema } = fc.letrec((tie) => ({
		anySchema: fc.oneof(
			{ depthSize: 'small', withCrossShrink: true },
			fc.oneof(texts, fc.double(), fc.boolean(), fc.constant(null), fc.array(texts)),
			fc.array(tie('anySchema'), { maxLength: 4 }),
			fc.dictionary(names, tie('anySchema'), { maxKeys: 6 }),
			fc.record({
				type: texts,
				properties: fc.dictionary(names, tie('anySchema'), { maxKeys: 5 }),
			}),
			fc.record({ oneOf: fc.array(tie('anySchema'), { maxLength: 4 }) }),
		),
	}));
	const values = fc.dictionary(names, fc.jsonValue(), { maxKeys: 5 });
	const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

	it('any JSON', () => {
		fc.assert(fc.property(fc.jsonValue(), values, holdToPromise), { numRuns: 500 });
	});

	it('anything like a schema', () => {
		const anyParts = fc.dictionary(names, anySchema, { maxKeys: 4 });
		const property = fc.property(anySchema, anyParts, values, (input, parts, given) =>
			holdToPromise(asJson(buildDocument(input, { parts })), given),
		);
		fc.assert(property, { numRuns: 1_000 });
	});
});

const good = buildPost({ properties: { input: { properties: { x: {} } } } });
it.each<[what: string, document: unknown, reason: string | undefined]>([
	['has a task path behind others', { paths: { '/a': {}, [TASK_PATH]: good } }, undefined],
	['has more behind the task path', { paths: { [`${TASK_PATH}/a`]: good } }, 'answers at once'],
	['has a body without input', { paths: { [TASK_PATH]: buildPost({}) } }, "can't be understood"],
	['has no body', { paths: { [TASK_PATH]: { post: null } } }, "can't be understood"],
	['has paths that are text', { paths: 'x' }, "can't be understood"],
	['is text', '<html>', "can't be understood"],
	['has no properties', buildDocument({ type: 'object' }), 'names no fields'],
	['does not exist yet', null, "doesn't say yet"],
])('a document that %s is read, or the reason says why not', (_, document, reason) => {
	const found = findInput('any', document);
	if (reason) expect(found).toEqual({ reason: expect.stringContaining(reason) as string });
	else expect(found).toMatchObject({ input: { properties: [{ name: 'x' }] } });
});
