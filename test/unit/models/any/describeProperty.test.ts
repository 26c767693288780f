import { describeProperty } from '../../../../nodes/MediaGeneration/models/any/describeProperty';
import type { JsonSchema } from '../../../../nodes/MediaGeneration/models/any/jsonSchema';

const text: JsonSchema = { type: 'string' };

it.each<[string, JsonSchema, brief: string, facts: string]>([
	['mood', {}, '', 'optional'],
	['seed', { type: 'integer', minimum: 1 }, 'at least 1', 'optional; a whole number; at least 1'],
	['scale', { type: 'number', maximum: 2 }, 'up to 2', 'optional; a number; up to 2'],
	[
		'mood',
		{ ...text, minLength: 1, maxLength: 2_500 },
		'',
		'optional; text; 1 to 2,500 characters',
	],
	[
		'size',
		{ enum: ['s', 5], default: 5 },
		'default 5',
		'optional; text or a number; s, 5; default 5',
	],
	['image_url', text, 'file', 'optional; file'],
	[
		'images',
		{ type: 'array', items: text, maxItems: 3 },
		'files, up to 3',
		'optional; files, up to 3',
	],
	['images', { type: 'array', items: text, maxItems: 1 }, 'file', 'optional; file'],
	['tags', { type: 'array', items: { enum: ['a'] } }, 'list', 'optional; list; a'],
	['shot', { type: 'object' }, 'JSON', 'optional; JSON'],
	['task_id', text, 'earlier task', 'optional; earlier task; its ID is {{ $json.taskId }}'],
	['mood', { ...text, deprecated: true }, 'deprecated', 'optional; text; deprecated'],
])('%s %j is described as %j and %j', (name, schema, brief, facts) => {
	expect(describeProperty({ name, schema, isRequired: false })).toMatchObject({ brief, facts });
});

it('the words of the service are HTML once, and names are cut', () => {
	const property = { name: 'a'.repeat(200), schema: { description: '<b> &' }, isRequired: true };
	const { prose, title, facts } = describeProperty(property);
	expect([prose, title.length, facts]).toEqual(['&lt;b> &amp;', 100, 'required']);
});
