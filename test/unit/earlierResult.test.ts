import { findEarlierPart } from '../../nodes/MediaGeneration/models/any/earlierResult';
import { toMapperFields } from '../../nodes/MediaGeneration/models/any/schemaFields';

const text = (description = '') => ({ type: 'string', description });

it.each<[string, object, string | undefined]>([
	['task_id', text(), 'task'],
	['taskId', {}, 'task'],
	['parent_task_id', text(), 'task'],
	['audio_id', text(), 'file'],
	['audioId', text('The task ID of the song'), 'file'],
	['source', text('Task ID of the video to extend.'), 'task'],
	['origin', text('The ID of the earlier task'), 'task'],
	['clip', text('ID of the song to continue'), undefined],
	['from', text('The ID of the song to continue'), 'file'],
	['prompt', text('Words. No task ID is needed'), undefined],
	['prompt', text('What the task ID stands for'), undefined],
	['voice_id', text('The speaker'), undefined],
	['seed', { type: 'integer', description: 'As of the earlier task ID' }, undefined],
	['task_id', { type: 'integer' }, undefined],
	['task_id', { enum: ['a', 'b'] }, undefined],
	['task_ids', { type: 'array', items: { type: 'string' } }, undefined],
	['image_url', text('URL of the image, or a task ID'), undefined],
])('%s %j takes of an earlier result: %s', (name, schema, part) => {
	expect(findEarlierPart(name, schema)).toBe(part);
});

/** Makes the fields of a model with these properties. */
function read(properties: object, body: object = {}) {
	const schema = {
		...body,
		properties: { callBackUrl: {}, input: { type: 'object', properties } },
	};
	const content = { 'application/json': { schema } };
	const paths = { '/api/v1/jobs/createTask': { post: { requestBody: { content } } } };
	return toMapperFields('any', { paths });
}

it('fields of an earlier result say so and are filled in; the guide says where the ID is', () => {
	const { fields } = read({ task_id: text(), audio_id: text(), mood: text() });
	const guide = fields.find(({ id }) => id === '$guide');
	const others = fields.filter(({ id }) => !id.startsWith('$'));
	expect(others.map(({ displayName, defaultValue }) => [displayName, defaultValue])).toMatchObject([
		['Task ID (earlier task)', '={{ $json.taskId }}'],
		['Audio ID (earlier file)', '={{ $json.file.id }}'],
		['Mood', undefined],
	]);
	const described = guide?.options?.map(({ name }) => name).join('\n');
	expect(described).toContain('its ID is {{ $json.taskId }}');
	expect(described).toContain('its ID is {{ $json.file.id }}');
});

it('a default of the service stays, and no text of the service becomes an expression', () => {
	expect(read({ task_id: { ...text(), default: 'a' } }).fields[0]).not.toHaveProperty(
		'defaultValue',
	);
	expect(read({ task_id: { ...text(), deprecated: true } }).fields[0]).not.toHaveProperty(
		'defaultValue',
	);
	const hostile = [
		read({ task_id: { ...text(), enum: ['={{ $vars }}'] } }),
		read({ task_id: { ...text(), default: '={{ $vars }}', enum: ['={{ $vars }}'] } }),
		read({ '={{ $vars }} task_id': text() }),
		read({ task_id: text('={{ $vars }}') }),
	];
	for (const { fields } of hostile) {
		const expressions = JSON.stringify(fields).match(/"=[^"]*"/g) ?? [];
		expect(expressions.filter((one) => one !== '"={{ $json.taskId }}"')).toEqual([]);
	}
});

it.each([
	[['model', 'callBackUrl', 'input'], true],
	[['model', 'input'], undefined],
])('with %j required, a callback is needed: %s', (required, needsCallback) => {
	expect(read({ prompt: text() }, { required }).fields.at(-1)).toMatchObject({ id: '$schema' });
	const stored = read({ prompt: text() }, { required }).fields.at(-1) as {
		needsCallback?: boolean;
	};
	expect(stored.needsCallback).toBe(needsCallback);
});
