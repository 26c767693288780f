import { readExample } from '../../../../dev/fixtures/examples.cts';
import { buildDocument, buildPost, corpus, TASK_PATH } from '../../../../dev/service/catalogue.cts';
import { findInput } from '../../../../nodes/MediaGeneration/models/any/modelInput';
import {
	listFields,
	listJsonGuide,
} from '../../../../nodes/MediaGeneration/models/any/schemaFields';
import { readFields } from './modelFields.ts';

/** Makes the fields of a model whose document has these paths. */
const readPaths = (paths: unknown) => readFields('any', { paths });

/** Makes the fields of a model with these properties. */
const readProperties = (properties: object, required: string[] = []) =>
	readPaths({
		[TASK_PATH]: buildPost({
			required: ['callBackUrl'],
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

it('the guide shows what the objects in a list have', () => {
	const properties = { isOn: { type: 'boolean' }, from: { type: 'integer', minimum: 3 } };
	const { entry } = read(list({ type: 'object', properties, required: ['isOn'] }));
	const parts = 'isOn (required; true or false), from (optional; a whole number; at least 3)';
	expect(entry?.name).toBe(`X (optional; JSON list; with ${parts})`);
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
		'Mood (optional; text)',
	]);
});

it.each([{ default: 'a' }, { deprecated: true }])(
	'a field of an earlier task with %j is not filled in',
	(more) => {
		const [field] = readProperties({ task_id: { ...text, ...more } });
		expect(field).not.toHaveProperty('defaultValue');
	},
);

const modelsWithFields = corpus.flatMap(({ entry: { model }, openapi }) => {
	const { fields } = readFields(model, openapi);
	return fields.length && openapi !== null && typeof openapi === 'object'
		? [{ model, openapi, fields }]
		: [];
});

const findModel = (name: string) => {
	const found = modelsWithFields.find(({ model }) => model === name);
	if (!found) throw new Error(`The corpus has no fields of ${name}`);
	return found;
};

function findFields(document: unknown) {
	const input = findInput('any', document);
	if (typeof input === 'string') throw new Error(input);
	return input;
}

describe('the fields of a model', () => {
	it.each([
		['kappa-7/preview', "doesn't say yet"],
		['nu/broken-input', "can't be understood"],
		['xi-sketch', "can't be understood"],
		['mu-random/postcard', 'names no fields'],
		['sigma-chat-5', 'answers at once'],
		['psi-reader/recognize', 'answers at once'],
	])('of %s are none, and the reason leads on', (name, reason) => {
		const found = corpus.find(({ entry }) => entry.model === name);
		const { fields, emptyFieldsNotice } = readFields(name, found?.openapi);
		expect(fields).toEqual([]);
		expect(emptyFieldsNotice).toMatch(reason);
		expect(emptyFieldsNotice).toMatch(/'Input Mode' to JSON|another model/);
	});

	it.each([
		['epsilon-2/text-to-video', true],
		['iota/remove-background', false],
		// Its name ends in a blank.
		['mu/image-to-video', true],
	])('leave the prompt of %s to the field of the node: %p', (name, leavesIt) => {
		const { fields } = findModel(name);
		expect(fields.some(({ id, display }) => id === 'prompt' && !display)).toBe(leavesIt);
		const none = fields.find(({ id }) => id === '$noPrompt');
		expect(none).toEqual(
			leavesIt ? undefined : expect.objectContaining({ display: false, defaultValue: true }),
		);
	});

	it.each<[string, string, string, object]>([
		['epsilon-2/text-to-video', 'prompt', 'Prompt', { display: false, required: false }],
		[
			'epsilon-2/text-to-video',
			'duration',
			'Duration (default 5)',
			{ type: 'options', options: [{ value: '5' }, { value: '10' }] },
		],
		[
			'epsilon-2/text-to-video',
			'cfg_scale',
			'CFG Scale (0 to 1; default 0.5)',
			{ type: 'number', required: false },
		],
		['epsilon-2/image-to-video', 'image_url', 'Image URL (file)', {}],
		['zeta-song-v5', 'instrumental', 'Instrumental', { type: 'boolean', required: true }],
		[
			'theta-pro/storyboard',
			'shots',
			'Shots (JSON list, 1 to 6)',
			{ type: 'array', required: false },
		],
		['epsilon-canvas/text-to-image', 'colors', 'Colors (list, up to 5)', { type: 'string' }],
		['Iota.HD/Text-2-Video', 'quality', 'Quality (deprecated)', { removed: true }],
		['mu/image-to-video', 'image_urls', 'Image URLs (file)', { type: 'string', required: true }],
		['Chi-Image/Edit-Plus', 'input_urls', 'Input URLs (files, 1 to 3)', {}],
	])('of %s have %j, named %j, as the editor needs it', (name, id, displayName, more) => {
		const field = findModel(name).fields.find((one) => one.id === id);
		expect(field).toMatchObject({ displayName, ...more });
	});

	it.each([
		[
			'epsilon-2/text-to-video',
			'prompt',
			'Prompt (required; text; 1 to 2,500 characters)',
			'The scene, the action and the camera, in plain language.',
		],
		[
			'Chi-Image/Edit-Plus',
			'image_size',
			'Image Size (optional; text or JSON; with width (optional; a whole number; 64 to 4,096), height (optional; a whole number; 64 to 4,096); default square)',
			'A name, or a size in pixels.',
		],
	])('of %s say in a guide all that is known of %j', (name, id, title, description) => {
		const guide = findModel(name).fields.find(({ id }) => id === '$guide');
		expect(guide?.options).toContainEqual({ name: title, value: id, description });
	});

	it('say in the guide which of them belong together', () => {
		const { fields } = findModel('kappa-6/reference-to-video');
		const guide = fields.find(({ id }) => id === '$guide');
		expect(guide?.options?.[0]?.name).toBe(
			'Fill in one of: Prompt + Reference Image URLs; or Reference Video; or First Frame URL + Last Frame URL',
		);
	});

	it('of the example are what its workflow stores', () => {
		const node = readExample('any-model').nodes.find(({ name }) => name === 'Any model');
		const { fields } = findModel('epsilon-2/image-to-video');
		expect(node?.parameters?.customFields).toMatchObject({ schema: fields });
	});
});

it('the list for AI builders has types, choices and limits', () => {
	const { openapi } = findModel('epsilon-2/text-to-video');
	expect(listFields(findFields(openapi))).toMatchObject([
		{
			value: 'prompt',
			name: 'prompt (required; text; 1 to 2,500 characters)',
			description: 'The scene, the action and the camera, in plain language.',
		},
		{ value: 'negative_prompt' },
		{ value: 'duration', name: 'duration (optional; text; 5, 10; default 5)' },
		{ value: 'aspect_ratio' },
		{ value: 'cfg_scale', name: 'cfg_scale (optional; a number; 0 to 1; default 0.5)' },
		{ value: 'sound', name: 'sound (optional; true or false; default false)' },
	]);
});

it.each([
	[{ prompt: 'x' }, 'Required: prompt'],
	[{ promt: 'x', nsfw: false }, 'Unknown to the model: promt, nsfw. Required: prompt'],
])('the list beside the JSON %j begins with %j, and is no HTML', (written, name) => {
	const mood = { ...text, description: '<b>Mood</b>' };
	const document = buildDocument({ properties: { prompt: text, mood }, required: ['prompt'] });
	expect(listJsonGuide(findFields(document), written)).toEqual([
		{ name, value: '' },
		{ name: 'prompt (required; text)', value: 'prompt', description: '' },
		{ name: 'mood (optional; text)', value: 'mood', description: '&lt;b>Mood&lt;/b>' },
	]);
});
