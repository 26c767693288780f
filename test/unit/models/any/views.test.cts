import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { readExample } from '../../../../dev/fixtures/examples.cts';
import { buildDocument } from '../../../../dev/service/catalogue.cts';
import {
	listFieldItems,
	listHelp,
	toMapperFields,
} from '../../../../nodes/MediaGeneration/models/any/views';
import { modelOptions, models } from '../../../../nodes/MediaGeneration/models/index';
import { findInput } from '../../../../nodes/MediaGeneration/models/readSchema';
import { PNG, prepare, show } from '../../run/input/prepareInput.cts';
import { findModel, modelsWithFields } from './modelFields.ts';

/** Reads a document whose model has these properties. */
function read(properties: object, required: string[] = []) {
	const found = findInput('any/m', buildDocument({ properties, required }));
	if ('reason' in found) throw new Error(found.reason);
	return found.schema;
}

const readFields = (properties: object, filled: string[] = [], required: string[] = []) =>
	toMapperFields('any/m', read(properties, required), filled).fields;

const text = { type: 'string' };
const number = { type: 'number' };
const object = { type: 'object', properties: { is_on: { type: 'boolean' }, from: number } };
const list = (items?: object, more?: object) => ({ type: 'array', items, ...more });
const choice = (value: string) => ({ enum: [value], default: value });
const FILE = 'URL, or a field such as data';

it.each<[name: string, schema: object, label: string, type: string, takes: string]>([
	['mood', {}, 'Mood', 'string', ''],
	['seed', { type: 'integer', minimum: 1 }, 'Seed', 'number', 'a whole number of at least 1'],
	['cfg-scale.v2', { ...number, maximum: 2 }, 'CFG Scale V2', 'number', 'a number of at most 2'],
	['seed', { ...number, minimum: 0.1234, maximum: 5 }, 'Seed', 'number', 'a number of 0.1234 to 5'],
	['seed', { ...number, minimum: 5, maximum: 5 }, 'Seed', 'number', 'a number of 5'],
	[
		'style_of_a_song',
		{ ...text, maxLength: 2500 },
		'Style of a Song',
		'string',
		'text; at most 2,500 characters',
	],
	['mood', { ...text, default: '' }, 'Mood', 'string', 'text'],
	[
		'size',
		{ enum: ['s', 5], default: 5 },
		'Size (5)',
		'options',
		'text or a number; s, 5; default 5',
	],
	['image', text, 'Image (URL or data)', 'string', FILE],
	['imageURL', text, 'Image URL (or data)', 'string', FILE],
	['images', list(text, { maxItems: 1 }), 'Images (URL or data)', 'string', FILE],
	[
		'svg_images',
		list(text, { maxItems: 3 }),
		'SVG Images (URL or data)',
		'string',
		`with commas; ${FILE}; at most 3 entries`,
	],
	['tags', list({ enum: ['a'] }), 'Tags (with commas)', 'string', 'with commas; a'],
	[
		'tags',
		list(undefined, { minItems: 2, maxItems: 3 }),
		'Tags (JSON list)',
		'array',
		'JSON list; 2 to 3 entries',
	],
	['tags', { type: ['array', 'string'] }, 'Tags (JSON list)', 'string', 'JSON list'],
	['shot', object, 'Shot (JSON)', 'object', 'JSON; with is_on, from'],
	['shot', { type: ['object', 'string'] }, 'Shot (text or JSON)', 'string', 'text or JSON'],
	['shots', list(object), 'Shots (JSON list)', 'array', 'JSON list; with is_on, from'],
	[
		'task_id',
		text,
		'Task ID (earlier task)',
		'string',
		'earlier task; its ID is {{ $json.taskId }}',
	],
	[
		'output_video_resolution',
		choice('720p'),
		'Output Video Resolution',
		'options',
		'text; 720p; default 720p',
	],
	['mask_of_the_picture', text, 'Mask of the Picture', 'string', FILE],
	['a'.repeat(27), number, `A${'a'.repeat(24)}…`, 'number', 'a number'],
	['__', {}, '__', 'string', ''],
])('the field of %s %j is named %j, is a %s, and takes: %s', (name, schema, label, type, takes) => {
	const input = read({ [name]: schema });
	expect(toMapperFields('any/m', input).fields[0]).toMatchObject({ displayName: label, type });
	const [item] = listFieldItems(input);
	expect(item?.summary).toBe(`optional${takes && `; ${takes}`}`);
});

const named = (value: unknown, name = String(value)) => ({ name, value });

it.each<[name: string, schema: object, required: string[], more: object]>([
	['x', { enum: ['a', null] }, [], { options: [named('a')] }],
	['x', { type: 'boolean', default: true }, [], { options: [named(true), named(false)] }],
	['x', { type: 'boolean', default: true }, ['x'], { defaultValue: true, required: true }],
	['x', { type: 'boolean' }, ['x'], { required: true }],
	['x', { ...text, default: 'a' }, [], {}],
	['task_id', text, [], { defaultValue: '={{ $json.taskId }}' }],
	['audio_id', text, [], { defaultValue: '={{ $json.file.id }}' }],
	['shots', list(object), ['shots'], {}],
	['prompt', text, ['prompt'], { display: false }],
	['prompt', { enum: ['a'] }, [], { options: [named('a')] }],
	[
		'x',
		{
			enum: ['a1', '2:3', '5', 'b'],
			description: 'A voice:\n\na1 - Ann - calm\n* `2:3`: =wide\n- **5**: 5',
		},
		[],
		{
			options: [named('a1', 'a1 - Ann - calm'), named('2:3', '2:3 - wide'), named('5'), named('b')],
		},
	],
])('a field %s of %j with %j required is filled in so: %j', (name, schema, names, more) => {
	const [field] = readFields({ [name]: schema }, [], names);
	const { options, defaultValue, required, display } = field ?? {};
	const usual = { required: false, display: true };
	expect({ options, defaultValue, required, display }).toEqual({ ...usual, ...more });
});

it('hundreds of values with their meanings are still a field', () => {
	const values = Array.from({ length: 450 }, (_, index) => `voice-${index}-${'n'.repeat(12)}`);
	const description = values.map((value) => `${value}: ${'calm '.repeat(20)}`).join('\n');
	const [field] = readFields({ voice: { enum: values, description: description.repeat(9) } });
	expect(field?.options).toHaveLength(450);
});

it('the editor takes the fields for outdated whenever what is said of them is another', () => {
	const nameHidden = (maximum: number, description: string) =>
		readFields({ x: { maximum, description } }).find(({ id }) => id === '$schema')?.displayName;
	expect(nameHidden(2, 'a')).toEqual(nameHidden(2, 'a'));
	expect(nameHidden(2, 'a')).not.toEqual(nameHidden(3, 'a'));
	expect(nameHidden(2, 'a')).not.toEqual(nameHidden(2, 'b'));
});

it('by what the editor stores, a run knows a file by its description too', async () => {
	const schema = readFields({ subject: { ...text, description: 'URL of the picture.' } });
	const anyFields = { mappingMode: 'defineBelow', value: { subject: 'data' }, schema };
	const parameters = { model: 'any', anyModel: 'any/m', anyFields };
	const { input } = await prepare({ parameters, files: { data: PNG } });
	expect(show(input)).toEqual({ subject: 'file: data' });
});

/** Lists the names of fields in the editor, with those of the fields inside. */
const listLabels = (fields: INodeProperties[]): string[] =>
	fields.flatMap(({ displayName, type, options = [] }) => [
		displayName,
		...(type === 'fixedCollection' ? (options as INodePropertyCollection[]) : []).flatMap(
			({ values }) => listLabels(values),
		),
	]);

it.each([
	...models.map(({ id, fields }) => [id, listLabels([...fields, ...modelOptions])] as const),
	...modelsWithFields.map(
		({ model, fields }) =>
			[model, fields.filter(({ display }) => display).map((field) => field.displayName)] as const,
	),
])("no field of %s has a longer name than n8n's editor shows", (_, labels) => {
	expect(labels.length).toBeGreaterThan(0);
	expect(labels.filter(({ length }) => length > 26)).toEqual([]);
});

it.each<[object, string[], string[], string[]]>([
	[{ prompt: text, a: text, b: text }, ['prompt'], [], []],
	[{ a: text, image_url: text, b: text, d: text }, ['d'], [], ['image_url', 'd']],
	[{ a: text, task_id: text, c: text }, [], ['c'], ['task_id', 'c']],
	[{ a: choice('x'), b: { enum: ['x', 'y'] } }, [], [], ['a']],
])(
	'of %j with %j required and %j filled in, a person sees at first what matters: %j',
	(properties, required, filled, seen) => {
		const fields = readFields(properties, filled, required);
		const shown = fields.filter(({ display, removed }) => display && !removed);
		expect(shown.map(({ id }) => id)).toEqual(seen);
	},
);

it.each([
	[{ prompt: text }, undefined],
	[{ image: text }, { display: false, defaultValue: true }],
])(
	'with the fields %j, the workflow stores for the prompt of the panel: %j',
	(properties, entry) => {
		const none = readFields(properties).find(({ id }) => id === '$noPrompt');
		expect(none).toEqual(entry && expect.objectContaining(entry));
	},
);

it('the help has the price, and all that the fields take', () => {
	const found = findInput('x', findModel('Chi-Image/Edit-Plus').openapi);
	expect('schema' in found && listHelp(found.schema, '8 credits\nin 4K: 20')).toEqual(
		expect.arrayContaining([
			{ name: 'Price', value: '', description: '8 credits\nin 4K: 20' },
			{
				name: 'image_size (optional; text or JSON; with width, height; default square)',
				value: '',
				description: 'A name, or a size in pixels.',
			},
		]),
	);
});

it('the fields of the example are what its workflow stores', () => {
	const node = readExample('any-model').nodes.find(({ name }) => name === 'Any model');
	const { fields } = findModel('epsilon-2/image-to-video');
	// Which fields are folded is up to the person who filled them in.
	const unfolded = fields.map((field) => {
		const copy = { ...field };
		delete copy.removed;
		return copy;
	});
	expect(node?.parameters?.anyFields).toMatchObject({ schema: unfolded });
});

it.each<[string, object, object]>([
	['start_image_url', text, { title: 'Start Image URL', type: 'string', takesFile: true }],
	['size', { enum: ['a', 1] }, { title: 'Size', type: 'string or number', options: ['a', 1] }],
	['sizes', list({ enum: ['a'] }), { title: 'Sizes', type: 'array', options: ['a'] }],
	['seed', { ...number, default: 0 }, { title: 'Seed', type: 'number', default: 0 }],
	['x', { description: 'Some <b>' }, { title: 'X', type: 'any', description: 'Some <b>' }],
])('the item of %s says what its schema says', (name, schema, more) => {
	const [item = {}] = listFieldItems(read({ [name]: schema }));
	const summary: unknown = expect.any(String);
	expect(Object.entries(item)).toHaveLength(Object.keys(more).length + 3);
	expect(item).toEqual({ name, required: false, summary, ...more });
});
