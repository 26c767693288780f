import fc from 'fast-check';
import { UserError } from 'n8n-workflow';
import { buildDocument, buildPost, TASK_PATH } from '../../../../dev/service/catalogue.cts';
import { findStoredSchema } from '../../../../nodes/MediaGeneration/models/any/views';
import { checkInput } from '../../../../nodes/MediaGeneration/models/check';
import { InputReader } from '../../../../nodes/MediaGeneration/models/inputReader';
import { findInput, readSchema } from '../../../../nodes/MediaGeneration/models/readSchema';
import type { ItemFiles } from '../../../../nodes/MediaGeneration/models/values';
import { fake } from '../../n8n.ts';
import { readFields } from './modelFields.ts';

const MAX_STORED = 64_000;
const MAX_NOTICE = 1_000;
const MAX_LABEL = 26;

const times = <T,>(count: number, make: (index: number) => T): T[] =>
	Array.from({ length: count }, (_, index) => make(index));

const fill = (count: number, make: (index: number) => unknown, name = 'p') =>
	Object.fromEntries(times(count, (index) => [`${name}${index}`, make(index)]));

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
		const input = new InputReader(schema ?? {}, NO_FILES).read(values);
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
			'notice',
			refersTo('p0'),
			fill(40, (index) => ({
				properties: { a: refersTo(`p${index + 1}`), b: refersTo(`p${index + 1}`) },
			})),
		],
		[
			'has 100,000 properties that 500 refer to',
			'notice',
			{ properties: fill(500, () => refersTo('a')) },
			{ a: { properties: fill(100_000, () => ({})) } },
		],
		['has 20,000 values', 'notice', { properties: { a: { enum: times(20_000, (at) => at) } } }],
		[
			'requires 20,000 properties',
			'notice',
			{ properties: { a: {} }, required: times(20_000, (index) => `p${index}`) },
		],
		[
			'has a property in 200 choices',
			'fields',
			{ oneOf: times(200, (maximum) => ({ properties: { a: { maximum } } })) },
		],
		['has a name of a megabyte', 'notice', { properties: { [long]: {} } }],
		['has a description of a megabyte', 'fields', { properties: { a: { description: long } } }],
	];

describe('a description that', () => {
	// As rows of it.each they would be printed, which takes forever.
	for (const [what, outcome, input, parts] of hostile)
		it(`${what} ends in ${outcome === 'fields' ? 'fields' : 'a notice'}, at once`, () => {
			const document = buildDocument(input, { parts });
			const { fields, emptyFieldsNotice = '' } = readFields('any/model', document);
			expect(fields.length > 0 ? 'fields' : 'notice').toBe(outcome);
			expect(emptyFieldsNotice).toMatch(outcome === 'notice' ? /'Input Mode' to JSON\.$/ : /^$/);
			holdToPromise(document, { a: { a: [1, '2'] }, p0: 'x' });
		});
});

const code = '={{ 40 + 2 }}';

it.each<[string, object]>([
	['a name', { properties: { [code]: {} } }],
	['a name behind a space', { properties: { [` ${code}`]: {} } }],
	['a value within values', { properties: { a: { enum: [{ b: [code] }] } } }],
	['a default', { properties: { a: { default: code } } }],
])('a model with an expression in %s has no fields', (_, input) => {
	const { fields, emptyFieldsNotice } = readFields('any/model', buildDocument(input));
	expect(fields).toEqual([]);
	expect(emptyFieldsNotice).toMatch(/expressions\. .*'Input Mode' to JSON\.$/);
});

it('n8n takes no description for an expression', () => {
	const input = { properties: { a: { description: ` =${code}`, [code]: code } } };
	const { fields } = readFields('any/model', buildDocument(input));
	expect(fields).toHaveLength(3);
	expect(listTexts(fields).filter((text) => text.startsWith('='))).toEqual([]);
});

describe('whatever the service says of a model, reading it throws nothing and stores little', () => {
	const pick = (words: string) => fc.constantFrom(...words.split(' '));
	const names = pick(
		'type enum const minLength maxItems minimum required default description items properties oneOf anyOf allOf $ref a b image_url $schema __proto__ constructor length',
	);
	const texts = fc.oneof(
		pick('={{ 1 }} string array object integer uri <b> #/paths #/parts/a #/parts/b/items #/% %'),
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
	['has no body', { paths: { [TASK_PATH]: { post: null } } }, 'names no fields'],
	['is text', '<html>', 'names no fields'],
	['does not exist yet', null, "doesn't say yet"],
])('a document that %s is read, or the reason says why not', (_, document, reason) => {
	const found = findInput('any', document);
	if (reason) expect(found).toEqual({ reason: expect.stringContaining(reason) as string });
	else expect(found).toEqual({ schema: { properties: { x: {} } } });
});
