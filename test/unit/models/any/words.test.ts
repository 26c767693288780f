import { readSchema } from '../../../../nodes/MediaGeneration/models/schema';
import { describeProperty } from '../../../../nodes/MediaGeneration/models/any/words';

const text = { type: 'string' };
const number = { type: 'number' };
const boolean = { type: 'boolean' };
const object = { type: 'object' };
const list = (items?: object, more?: object) => ({ type: 'array', items, ...more });
const shot = { ...object, properties: { is_on: boolean, from: number }, required: ['is_on'] };

/** Describes a property as it is read of a document. */
const describeField = (name: string, schema: object, isRequired = false) =>
	describeProperty({ name, schema: readSchema(schema, undefined) ?? {}, isRequired });

const FILE = 'URL, or a field such as data';

it.each<[name: string, schema: object, type: string, label: string, summary: string]>([
	['mood', {}, 'string', 'Mood', ''],
	['mood', { type: 'unheard-of' }, 'string', 'Mood', ''],
	['mood', boolean, 'boolean', 'Mood', 'true or false'],
	['seed', { type: 'integer', minimum: 1 }, 'number', 'Seed', 'a whole number; at least 1'],
	['seed', { ...number, maximum: 2 }, 'number', 'Seed', 'a number; up to 2'],
	['seed', { ...number, minimum: 5, maximum: 5 }, 'number', 'Seed', 'a number; 5'],
	['cfg', { ...number, minimum: 0.1234 }, 'number', 'CFG', 'a number; at least 0.1234'],
	[
		'mood',
		{ ...text, minLength: 1, maxLength: 2500 },
		'string',
		'Mood',
		'text; up to 2,500 characters',
	],
	['mood', { ...text, minLength: 2, maxLength: 3 }, 'string', 'Mood', 'text; 2 to 3 characters'],
	['mood', { ...text, default: '' }, 'string', 'Mood', 'text'],
	[
		'size',
		{ enum: ['s', 5], default: 5 },
		'string',
		'Size (5)',
		'text or a number; s, 5; default 5',
	],
	['image', text, 'string', 'Image (URL or data)', FILE],
	['image_url', text, 'string', 'Image URL (or data)', FILE],
	['images', list(text, { maxItems: 1 }), 'string', 'Images (URL or data)', FILE],
	[
		'images',
		list(text, { maxItems: 3 }),
		'string',
		'Images (URL or data)',
		`with commas; ${FILE}; up to 3 entries`,
	],
	[
		'tags',
		list({ enum: ['a'] }, { minItems: 1 }),
		'string',
		'Tags (with commas)',
		'with commas; a',
	],
	[
		'tags',
		list(text, { maxItems: 3 }),
		'string',
		'Tags (with commas)',
		'with commas; up to 3 entries',
	],
	[
		'tags',
		list(undefined, { minItems: 2, maxItems: 3 }),
		'array',
		'Tags (JSON list)',
		'JSON list; 2 to 3 entries',
	],
	['tags', list(list()), 'array', 'Tags (JSON list)', 'JSON list'],
	['tags', list({ type: ['object', 'null'] }), 'array', 'Tags (JSON list)', 'JSON list'],
	['tags', { type: ['array', 'string'] }, 'string', 'Tags (JSON list)', 'JSON list'],
	['shot', object, 'object', 'Shot (JSON)', 'JSON'],
	['shot', shot, 'object', 'Shot (JSON)', 'JSON; with is_on, from'],
	['shot', { type: ['object', 'string'] }, 'string', 'Shot (text or JSON)', 'text or JSON'],
	['shots', list(shot), 'array', 'Shots (JSON list)', 'JSON list; with is_on, from'],
	[
		'task_id',
		text,
		'string',
		'Task ID (earlier task)',
		'earlier task; its ID is {{ $json.taskId }}',
	],
])(
	'%s %j is entered as %s, named %j, and described as %j',
	(name, schema, type, label, summary) => {
		const described = describeField(name, schema);
		expect(described).toMatchObject({ type, label });
		expect(described.summary).toBe(['optional', summary].filter(Boolean).join('; '));
	},
);

it.each([
	['image_resolution', { enum: ['1K', '4K'], default: '1K' }, 'Image Resolution (1K)'],
	['output_video_resolution', { enum: ['720p'], default: '720p' }, 'Output Video Resol… (720p)'],
	['mode', { enum: ['a'], default: 'a'.repeat(20) }, 'Mode'],
	['a'.repeat(27), number, `A${'a'.repeat(24)}…`],
	['mask_of_the_picture', text, 'Mask of the Picture'],
	['background_sounds_of_it', { type: 'array', items: text }, 'Background Sounds of It'],
])('a title gives way to its note: %s %j is named %j', (name, schema, label) => {
	expect(describeField(name, schema).label).toBe(label);
});

it('the words of the service stay, and names are cut', () => {
	const { prose, title, summary } = describeField('a'.repeat(200), { description: '<b> &' }, true);
	expect([prose, title.length, summary]).toEqual(['<b> &', 100, 'required']);
});
