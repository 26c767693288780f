import {
	describeProperty,
	findPurpose,
} from '../../../../nodes/MediaGeneration/models/any/property';
import { readSchema, type JsonSchema } from '../../../../nodes/MediaGeneration/models/any/schema';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };
const boolean: JsonSchema = { type: 'boolean' };
const object: JsonSchema = { type: 'object' };
const list = (items?: JsonSchema, more?: JsonSchema) => ({ type: 'array', items, ...more });
const shot = { ...object, properties: { isOn: boolean, from: number }, required: ['isOn'] };
const ofShot = 'with isOn (required; true or false), from (optional; a number)';
const long = 'd'.repeat(24);

const FILE = 'URL, or a field such as data';

it.each<[name: string, schema: JsonSchema, type: string, brief: string, facts: string]>([
	['mood', {}, 'string', '', ''],
	['mood', { type: 'unheard-of' }, 'string', '', ''],
	['mood', boolean, 'boolean', '', 'true or false'],
	['seed', { type: 'integer', minimum: 1 }, 'number', 'at least 1', 'a whole number; at least 1'],
	['seed', { ...number, maximum: 2 }, 'number', 'up to 2', 'a number; up to 2'],
	['seed', { ...number, minimum: 5, maximum: 5 }, 'number', '5', 'a number; 5'],
	['cfg', { ...number, minimum: 0.1234 }, 'number', 'at least 0.1234', 'a number; at least 0.1234'],
	['mood', { ...text, minLength: 1, maxLength: 2500 }, 'string', '', 'text; 1 to 2,500 characters'],
	['mood', { ...text, deprecated: true }, 'string', 'deprecated', 'text; deprecated'],
	['mood', { ...text, default: '' }, 'string', '', 'text'],
	['mood', { ...text, default: long }, 'string', `default ${long}`, `text; default ${long}`],
	['mood', { ...text, default: `${long}d` }, 'string', '', `text; default ${long}d`],
	[
		'size',
		{ enum: ['s', 5], default: 5 },
		'string',
		'default 5',
		'text or a number; s, 5; default 5',
	],
	['image_url', text, 'string', 'or a field such as data', FILE],
	['images', list(text, { maxItems: 1 }), 'string', FILE, FILE],
	[
		'images',
		list(text, { maxItems: 3 }),
		'string',
		`${FILE}; separate with commas`,
		`list, up to 3; ${FILE}`,
	],
	['tags', list({ enum: ['a'] }, { minItems: 1 }), 'string', 'separate with commas', 'list; a'],
	[
		'tags',
		list(undefined, { minItems: 1, maxItems: 3 }),
		'array',
		'JSON list, 1 to 3',
		'JSON list, 1 to 3',
	],
	['tags', list(list()), 'array', 'JSON list', 'JSON list'],
	['tags', list({ type: ['object', 'null'] }), 'array', 'JSON list', 'JSON list'],
	['tags', { type: ['array', 'string'] }, 'string', 'JSON list', 'JSON list'],
	['shot', object, 'object', 'JSON', 'JSON'],
	['shot', { type: ['object', 'string'] }, 'string', 'text or JSON', 'text or JSON'],
	['shots', list(shot), 'array', 'JSON list', `JSON list; ${ofShot}`],
	['task_id', text, 'string', 'earlier task', 'earlier task; its ID is {{ $json.taskId }}'],
])('%s %j is entered as %s, and described as %j and %j', (name, schema, type, brief, facts) => {
	const read = readSchema(schema, undefined) ?? {};
	const described = describeProperty({ name, schema: read, isRequired: false });
	expect(described).toMatchObject({ type, brief });
	expect(described.facts).toBe(['optional', facts].filter(Boolean).join('; '));
});

it('the words of the service stay, and names are cut', () => {
	const property = { name: 'a'.repeat(200), schema: { description: '<b> &' }, isRequired: true };
	const { prose, title, facts } = describeProperty(property);
	expect([prose, title.length, facts]).toEqual(['<b> &', 100, 'required']);
});

/** What a property is for, in a word. */
function nameKind(name: string, schema: JsonSchema): string {
	const purpose = findPurpose(name, schema);
	return purpose.kind === 'earlierResult' ? purpose.title : purpose.kind;
}

describe('a text is recognized by its name', () => {
	it.each(
		`image IMAGE photos mask2 first_frame lastFrame video-clip image_reference imageSources
		url uri url_ image_url imageUrls inputURL reference-uri src_url hyperlink_image linked_video`.split(
			/\s+/,
		),
	)('%s takes a file', (name) => expect(nameKind(name, text)).toBe('file'));

	it.each(
		`endpoint_url image_curls image_urlish image_resource image_sourced images_per_prompt
		link_image page_image callback_url websites`.split(/\s+/),
	)('%s takes no file', (name) => expect(nameKind(name, text)).toBe('value'));
});

const described = (words: string) => ({ ...text, description: words });

it.each<[name: string, schema: JsonSchema, kind: string]>([
	['subject', described('URL of the image.'), 'value'],
	['subject', { ...text, format: 'uri' }, 'file'],
	['subject', { ...text, format: 'url' }, 'file'],
	['subject', list({ ...text, format: 'uri' }), 'file'],
	['callback', { ...text, format: 'uri' }, 'value'],
	['subject', { ...text, format: 'date' }, 'value'],
	['image', { type: 'integer' }, 'value'],
	['image', {}, 'file'],
	['image', { properties: { url: {} } }, 'value'],
	['image', { ...text, enum: ['one', 'two'] }, 'value'],
	['images', list({ ...text, enum: ['one'] }), 'value'],
	['images', list(number), 'value'],
	['prompt', text, 'prompt'],
	['prompt', {}, 'prompt'],
	['prompt', described('What the task ID stands for'), 'prompt'],
	['prompt', { ...text, format: 'uri' }, 'file'],
	['prompt', { enum: ['a'] }, 'value'],
	['prompt', list(text), 'value'],
	['Prompt', text, 'value'],
	['task_id', text, 'earlier task'],
	['taskId', {}, 'earlier task'],
	['parent_task_id', text, 'earlier task'],
	['audio_id', text, 'earlier file'],
	['audioId', described('The task ID of the song'), 'earlier file'],
	['clip', described('ID of the song to continue'), 'file'],
	['voice_id', described('The speaker'), 'value'],
	['seed', { type: 'integer', description: 'As of the earlier task ID' }, 'value'],
	['task_id', { type: 'integer' }, 'value'],
	['task_id', { enum: ['a', 'b'] }, 'value'],
	['task_ids', list(text), 'value'],
	['image_url', described('URL of the image, or a task ID'), 'file'],
])('the purpose of %s %j is: %s', (name, schema, kind) => {
	expect(nameKind(name, schema)).toBe(kind);
});
