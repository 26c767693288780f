import { describeProperty } from '../../../../nodes/MediaGeneration/models/any/describeProperty';
import type { JsonSchema } from '../../../../nodes/MediaGeneration/models/any/jsonSchema';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };
const boolean: JsonSchema = { type: 'boolean' };
const object: JsonSchema = { type: 'object' };
const list = (items?: JsonSchema, more?: JsonSchema) => ({ type: 'array', items, ...more });
const shot = { ...object, properties: { isOn: boolean, from: number }, required: ['isOn'] };
const ofShot = 'with isOn (required; true or false), from (optional; a number)';
const long = 'd'.repeat(24);

it.each<[name: string, schema: JsonSchema, type: string, brief: string, facts: string]>([
	['mood', {}, 'string', '', ''],
	['mood', { type: 'unheard-of' }, 'string', '', 'unheard-of'],
	['mood', { type: ['unheard-of', 'number'] }, 'number', '', 'unheard-of or a number'],
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
	['image_url', text, 'string', 'file', 'file'],
	['images', list(text, { maxItems: 1 }), 'string', 'file', 'file'],
	['images', list(text, { maxItems: 3 }), 'string', 'files, up to 3', 'files, up to 3'],
	['tags', list({ enum: ['a'] }, { minItems: 1 }), 'string', 'list', 'list; a'],
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
	const described = describeProperty({ name, schema, isRequired: false });
	expect(described).toMatchObject({ type, brief });
	expect(described.facts).toBe(['optional', facts].filter(Boolean).join('; '));
});

it('the words of the service stay, and names are cut', () => {
	const property = { name: 'a'.repeat(200), schema: { description: '<b> &' }, isRequired: true };
	const { prose, title, facts } = describeProperty(property);
	expect([prose, title.length, facts]).toEqual(['<b> &', 100, 'required']);
});
