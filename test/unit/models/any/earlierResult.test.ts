import { findEarlierResult } from '../../../../nodes/MediaGeneration/models/any/earlierResult';
import { checkInput } from '../../../../nodes/MediaGeneration/models/any/checkInput';

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

it.each([
	['audio_id', 'in its Options to One per File, and fill in {{ $json.file.id }}'],
	['task_id', 'the Media Generation node that created the earlier task'],
	['mood', 'Correct the field'],
])('where %s is missing, the error says how to fill it in', (name, help) => {
	const check = () => checkInput({ properties: { [name]: text() }, required: [name] }, {});
	const description: unknown = expect.stringContaining(help);
	expect(check).toThrow(expect.objectContaining({ description }) as Error);
});
