import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { readExample } from '../../../../dev/fixtures/examples.cts';
import { buildDocument } from '../../../../dev/service/catalogue.cts';
import { modelOptions, models } from '../../../../nodes/MediaGeneration/models/index';
import { findInput } from '../../../../nodes/MediaGeneration/models/schema';
import {
	listFields,
	toFieldItems,
	toMapperFields,
} from '../../../../nodes/MediaGeneration/models/any/views';
import { findModel, modelsWithFields, readFields } from './modelFields.ts';

/** Makes the fields of a model with these properties. */
const readProperties = (properties: object, required: string[] = []) =>
	readFields('any', buildDocument({ properties, required })).fields;

const text = { type: 'string' };
const boolean = { type: 'boolean', default: true };
const offer = [
	{ name: 'True', value: true },
	{ name: 'False', value: false },
];
it.each<[name: string, schema: object, required: string[], more: object]>([
	['x', { enum: ['a', null] }, [], { options: [{ name: 'a', value: 'a' }] }],
	[
		'x',
		{
			enum: ['a1', '2:3', '5', 'b'],
			description: 'A voice:\n\na1 - Ann - calm\n* `2:3`: =wide\n- **5**: 5',
		},
		[],
		{
			options: [
				{ name: 'a1 - Ann - calm', value: 'a1' },
				{ name: '2:3 - wide', value: '2:3' },
				{ name: '5', value: '5' },
				{ name: 'b', value: 'b' },
			],
		},
	],
	['x', boolean, [], { options: offer }],
	['x', boolean, ['x'], { defaultValue: true }],
	['x', { type: 'boolean' }, ['x'], {}],
	['x', { ...text, default: 'a' }, [], {}],
	['task_id', text, [], { defaultValue: '={{ $json.taskId }}' }],
	['audio_id', text, [], { defaultValue: '={{ $json.file.id }}' }],
	['task_id', { ...text, default: 'a' }, [], {}],
])('a field %s of %j with %j required is filled in so: %j', (name, schema, required, more) => {
	const [{ options, defaultValue } = {}] = readProperties({ [name]: schema }, required);
	expect({ options, defaultValue }).toEqual(more);
});

it('hundreds of values with their meanings are still a field', () => {
	const values = Array.from({ length: 450 }, (_, index) => `voice-${index}-${'n'.repeat(12)}`);
	const lines = values.map((value) => `${value}: ${'calm '.repeat(20)}`);
	for (const description of ['', lines.join('\n'), lines.join('\n').repeat(9)]) {
		const [field] = readProperties({ voice: { enum: values, description } });
		expect(field?.options).toHaveLength(450);
	}
});

it('a prompt of fixed values is a field of the model', () => {
	expect(readProperties({ prompt: { enum: ['a'] } })[0]).toMatchObject({ display: true });
});

it('the editor takes the fields for outdated whenever the schema is another one', () => {
	const nameHidden = (maximum: number, description: string) =>
		readProperties({ x: { maximum, description } }).find(({ id }) => id === '$schema')?.displayName;
	expect(nameHidden(2, 'a')).not.toEqual(nameHidden(3, 'a'));
	expect(nameHidden(2, 'a')).toEqual(nameHidden(2, 'b'));
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
	[{ a: text, b: text, task_id: text, image: text }, [], [], ['task_id', 'image']],
	[{ first_image: text, last_image: text }, ['first_image'], [], ['first_image', 'last_image']],
	[{ a: text, b: text, c: text }, [], ['c'], ['c']],
	[{ a: { enum: ['x', 'y'], default: 'x' }, b: { enum: ['x', 'y'] } }, [], [], ['a']],
])(
	'of %j with %j required and %j filled in, a person sees at first what matters: %j',
	(properties, required, filled, seen) => {
		const found = findInput('any', buildDocument({ properties, required }));
		const { fields } = 'input' in found ? toMapperFields(found.input, filled) : { fields: [] };
		const shown = fields.filter(({ display, removed }) => display && !removed);
		expect(shown.map(({ id }) => id)).toEqual(seen);
	},
);

describe('the fields of a model', () => {
	const video = 'epsilon-2/text-to-video';

	it.each([
		[video, true],
		['iota/remove-background', false],
	])('leave the prompt of %s to the field of the node: %p', (name, leavesIt) => {
		const { fields } = findModel(name);
		expect(fields.some(({ id, display }) => id === 'prompt' && !display)).toBe(leavesIt);
		const none = fields.find(({ id }) => id === '$noPrompt');
		expect(none).toEqual(
			leavesIt ? undefined : expect.objectContaining({ display: false, defaultValue: true }),
		);
	});

	it.each<[string, string, string, object]>([
		[video, 'prompt', 'Prompt', { display: false, required: false }],
		[video, 'duration', 'Duration (5)', { options: [{ value: '5' }, { value: '10' }] }],
		[video, 'cfg_scale', 'CFG Scale', { type: 'number', required: false }],
		['theta-pro/storyboard', 'shots', 'Shots (JSON list)', { required: false }],
		['mu/image-to-video', 'image_urls', 'Image URLs (or data)', { type: 'string', required: true }],
	])('of %s have %j, named %j, as the editor needs it', (name, id, displayName, more) => {
		const field = findModel(name).fields.find((one) => one.id === id);
		expect(field).toMatchObject({ displayName, ...more });
	});

	it('are told in a help with all that they take', () => {
		const found = findInput('x', findModel('Chi-Image/Edit-Plus').openapi);
		expect('input' in found && listFields(found.input, '8 credits\nin 4K: 20')).toEqual(
			expect.arrayContaining([
				{ name: 'Price', value: '$price', description: '8 credits\nin 4K: 20' },
				{
					name: 'image_size (optional; text or JSON; with width, height; default square)',
					value: 'image_size',
					description: 'A name, or a size in pixels.',
				},
			]),
		);
	});

	it('of the example are what its workflow stores', () => {
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

	it('are listed for AI builders with the names of the service', () => {
		const found = findInput(video, findModel(video).openapi);
		expect('input' in found ? listFields(found.input)[2] : found).toMatchObject({
			name: 'duration (optional; text; 5, 10; default 5)',
			value: 'duration',
		});
	});
});

describe('the items of the fields of a model', () => {
	const readItems = (input: object) => {
		const found = findInput('any', buildDocument(input));
		return 'input' in found ? toFieldItems(found.input) : [];
	};

	it.each(modelsWithFields)(
		'are the fields of the editor and its guide: $model',
		({ model, openapi, fields }) => {
			const found = findInput(model, openapi);
			const items = 'input' in found ? toFieldItems(found.input) : [];
			const shown = fields.filter(({ id }) => !id.startsWith('$'));
			expect(items.map(({ name }) => name)).toEqual(shown.map(({ id }) => id));
			const guide = 'input' in found ? listFields(found.input) : [];
			expect(items.map(({ name, summary }) => `${name} (${summary})`)).toEqual(
				guide.map(({ name }) => name),
			);
			for (const [index, { title }] of items.entries())
				expect(shown[index]?.displayName).toContain(title.slice(0, 9));
		},
	);

	it.each<[string, object, object]>([
		[
			'start_image_url',
			text,
			{
				title: 'Start Image URL',
				takesFile: true,
				summary: 'optional; URL, or a field such as data',
			},
		],
		[
			'images',
			{ type: 'array', items: { ...text, format: 'uri' }, maxItems: 3 },
			{
				type: 'array',
				takesFile: true,
				summary: 'optional; with commas; URL, or a field such as data; up to 3 entries',
			},
		],
		['sizes', { type: 'array', items: { enum: ['a', 'b'] } }, { options: ['a', 'b'] }],
		['size', { enum: ['a', 1] }, { type: 'string or number', options: ['a', 1] }],
		[
			'seed',
			{ type: 'integer', minimum: 0, maximum: 9, default: 0 },
			{ type: 'integer', default: 0, summary: 'optional; a whole number; 0 to 9; default 0' },
		],
		[
			'words',
			{ ...text, minLength: 1, maxLength: 9, description: 'Some words.' },
			{ description: 'Some words.' },
		],
		['anything', {}, { type: 'any' }],
	])('say of %s what its schema says', (name, schema, more) => {
		const [item] = readItems({ properties: { [name]: schema } });
		expect(item).toMatchObject({ name, required: false, ...more });
		expect(Object.values(item ?? {})).not.toContain(undefined);
		const known = [...Object.keys(more), 'name', 'title', 'type', 'required', 'summary'];
		expect(Object.keys(item ?? {}).filter((key) => !known.includes(key))).toEqual([]);
	});
});
