import { buildPost, TASK_PATH } from '../../dev/service/catalogue.cts';
import {
	findStoredSchema,
	toMapperFields,
} from '../../nodes/MediaGeneration/models/any/schemaFields';

/** Makes the fields of a model whose document has these paths. */
const readPaths = (paths: unknown) => toMapperFields('any', { paths });

/** Makes the fields of a model with these properties. */
const readProperties = (properties: object, required: string[] = [], body: object = {}) =>
	readPaths({
		[TASK_PATH]: buildPost({
			...body,
			properties: { callBackUrl: {}, input: { properties, required } },
		}),
	}).fields;

/** Makes the field of a property `x`, its entry in the guide, and the hidden entry. */
function read(x: object, required: string[] = []) {
	const [field, guide, hidden] = readProperties({ x }, required);
	return { field, entry: guide?.options?.[0], hidden };
}

const list = (items: object) => ({ type: 'array', items });

it.each<[schema: object, displayName: string, type: string]>([
	[{}, 'X', 'string'],
	[{ type: 'number' }, 'X', 'number'],
	[{ type: ['integer', 'null'], minimum: 5, maximum: 5 }, 'X (5)', 'number'],
	[{ type: 'number', minimum: 0.12345 }, 'X (at least 0.12345)', 'number'],
	[{ type: ['unheard-of', 'number'] }, 'X', 'number'],
	[{ type: 'unheard-of' }, 'X', 'string'],
	[{ type: 'object' }, 'X (JSON)', 'object'],
	[{ type: ['object', 'string'] }, 'X (text or JSON)', 'string'],
	[{ type: 'array' }, 'X (JSON list)', 'array'],
	[list({ type: 'array' }), 'X (JSON list)', 'array'],
	[list({ type: 'string' }), 'X (list)', 'string'],
	[{ type: 'string', default: '' }, 'X', 'string'],
	[{ type: 'string', default: 'd'.repeat(24) }, `X (default ${'d'.repeat(24)})`, 'string'],
	[{ type: 'string', default: 'd'.repeat(25) }, 'X', 'string'],
])('a property %j is the field "%s", of type %s', (schema, displayName, type) => {
	expect(read(schema).field).toMatchObject({ displayName, type });
});

const offer = [
	{ name: 'True', value: true },
	{ name: 'False', value: false },
];
it.each<[schema: object, required: string[], more: object]>([
	[{ enum: ['a', null] }, [], { options: [{ name: 'a', value: 'a' }] }],
	[{ type: 'boolean', default: true }, [], { options: offer }],
	[{ type: 'boolean', default: true }, ['x'], { defaultValue: true }],
	[{ type: 'boolean' }, ['x'], {}],
	[{ type: 'string', default: 'a' }, [], {}],
])('a property %j with %j required has as its choice %j', (schema, required, more) => {
	const { options, defaultValue } = read(schema, required).field ?? {};
	expect({ options, defaultValue }).toEqual(more);
});

it('the guide shows the form of JSON, no deeper than three levels', () => {
	const properties = {
		isOn: { type: 'boolean' },
		from: { type: 'integer', minimum: 3 },
		to: { type: 'number' },
		any: {},
		lists: list(list(list({ type: 'string' }))),
		objects: list({ type: 'object', properties: { a: {} } }),
	};
	const { entry } = read(list({ type: 'object', properties }));
	const example = { isOn: true, from: 3, to: 1, any: '…', lists: [[]], objects: [{}] };
	expect(entry?.name).toBe(`X (JSON list; for example ${JSON.stringify([example])})`);
});

it.each([
	[' <b>5 & 10</b> \n  more ', '&lt;b>5 &amp; 10&lt;/b> more'],
	['a'.repeat(200), 'a'.repeat(200)],
	[`${'a'.repeat(198)} bc`, `${'a'.repeat(198)}…`],
	['a'.repeat(201), `${'a'.repeat(199)}…`],
])('the guide shows the description %j shortened, and not as HTML', (description, shown) => {
	expect(read({ description }).entry?.description).toBe(shown);
});

it('the editor takes the fields for outdated whenever the schema is another one', () => {
	const nameHidden = (maximum: number, description: string) =>
		read({ type: 'number', maximum, description }).hidden?.displayName;
	expect(nameHidden(2, 'a')).not.toEqual(nameHidden(3, 'a'));
	expect(nameHidden(2, 'a')).toEqual(nameHidden(2, 'b'));
});

const good = buildPost({ properties: { input: { properties: { x: {} } } } });
it.each<[what: string, paths: unknown, notice: RegExp | undefined]>([
	['has a task path behind others', { '/other': buildPost({}), [TASK_PATH]: good }, undefined],
	['has more behind the task path', { [`${TASK_PATH}/more`]: good }, /answers at once/],
	['has no properties', { [TASK_PATH]: buildPost({}) }, /can't be understood/],
	['has no body', { [TASK_PATH]: { post: null } }, /can't be understood/],
	['has paths that are text', 'x', /can't be understood/],
])('a document that %s can be read, or the notice says why not', (_, paths, notice) => {
	const { fields, emptyFieldsNotice = '' } = readPaths(paths);
	expect(fields).toHaveLength(notice ? 0 : 4);
	expect(emptyFieldsNotice).toMatch(notice ?? /^$/);
});

const text = { type: 'string' };

it('fields of an earlier result say so and are filled in, and the guide says where the ID is', () => {
	const [task, file, mood, guide] = readProperties({ task_id: text, audio_id: text, mood: text });
	expect([task, file, mood].map((field) => [field?.displayName, field?.defaultValue])).toEqual([
		['Task ID (earlier task)', '={{ $json.taskId }}'],
		['Audio ID (earlier file)', '={{ $json.file.id }}'],
		['Mood', undefined],
	]);
	expect(guide?.options?.map(({ name }) => name)).toEqual([
		expect.stringContaining('its ID is {{ $json.taskId }}'),
		expect.stringContaining('its ID is {{ $json.file.id }}'),
		'Mood',
	]);
});

it.each([{ default: 'a' }, { deprecated: true }])(
	'a field of an earlier task with %j is not filled in',
	(more) => {
		const [field] = readProperties({ task_id: { ...text, ...more } });
		expect(field).not.toHaveProperty('defaultValue');
	},
);

it.each([
	[['model', 'callBackUrl', 'input'], true],
	[['model', 'input'], undefined],
])('with %j required, a callback is needed: %s', (required, needsCallback) => {
	const stored = findStoredSchema(readProperties({ prompt: text }, [], { required }));
	expect(stored?.needsCallback).toBe(needsCallback);
});
