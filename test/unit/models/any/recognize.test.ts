import type { JsonSchema } from '../../../../nodes/MediaGeneration/models/any/jsonSchema';
import { findEarlierResult, isMedia } from '../../../../nodes/MediaGeneration/models/any/recognize';

const judge = (name: string, schema: JsonSchema = {}) =>
	isMedia(name, { type: 'string', ...schema });

describe('the name of a text', () => {
	it.each(
		`image IMAGE photos mask2 first_frame lastFrame video-clip image_reference imageSources
		url uri url_ image_url imageUrls inputURL reference-uri src_url hyperlink_image linked_video`.split(
			/\s+/,
		),
	)('%s is media', (name) => expect(judge(name)).toBe(true));

	it.each(
		`prompt endpoint_url image_curls image_urlish image_resource image_sourced images_per_prompt
		link_image page_image callback_url websites`.split(/\s+/),
	)('%s is not', (name) => expect(judge(name)).toBe(false));
});

it.each<[string, JsonSchema, boolean]>([
	['subject', { description: 'URL of the image.' }, false],
	['subject', { format: 'uri' }, true],
	['subject', { format: 'url' }, true],
	['subject', { type: 'array', items: { type: 'string', format: 'uri' } }, true],
	['callback', { format: 'uri' }, false],
	['subject', { format: 'date' }, false],
	['image', { type: 'integer' }, false],
	['image', { type: undefined }, true],
	['image', { type: undefined, properties: { url: {} } }, false],
	['image', { enum: ['one', 'two'] }, false],
	['images', { type: 'array', items: { type: 'string', enum: ['one'] } }, false],
	['images', { type: 'array', items: { type: 'number' } }, false],
])('%s, %j, takes a file: %s', (name, schema, isFile) => {
	expect(judge(name, schema)).toBe(isFile);
});

const text = (description = '') => ({ type: 'string', description });

it.each<[string, object, string | undefined]>([
	['task_id', text(), 'task'],
	['taskId', {}, 'task'],
	['parent_task_id', text(), 'task'],
	['audio_id', text(), 'file'],
	['audioId', text('The task ID of the song'), 'file'],
	['clip', text('ID of the song to continue'), undefined],
	['prompt', text('What the task ID stands for'), undefined],
	['voice_id', text('The speaker'), undefined],
	['seed', { type: 'integer', description: 'As of the earlier task ID' }, undefined],
	['task_id', { type: 'integer' }, undefined],
	['task_id', { enum: ['a', 'b'] }, undefined],
	['task_ids', { type: 'array', items: { type: 'string' } }, undefined],
	['image_url', text('URL of the image, or a task ID'), undefined],
])('%s %j takes of an earlier result: %s', (name, schema, part) => {
	expect(findEarlierResult(name, schema)?.kind).toBe(part);
});
