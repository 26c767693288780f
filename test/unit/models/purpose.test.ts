import { findPurpose, type JsonSchema } from '../../../nodes/MediaGeneration/models/schema';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };
const list = (items: JsonSchema) => ({ type: 'array', items });
/** What a property is for, in a word. */
function nameRole(name: string, schema: JsonSchema): string {
	const purpose = findPurpose(name, schema);
	return purpose.role === 'resultId' ? purpose.title : purpose.role;
}

describe('a text is recognized by its name', () => {
	it.each(
		`image IMAGE photos mask2 first_frame lastFrame video-clip image_reference imageSources
		url uri url_ image_url imageUrls inputURL reference-uri src_url hyperlink_image linked_video`.split(
			/\s+/,
		),
	)('%s takes a file', (name) => expect(nameRole(name, text)).toBe('file'));

	it.each(
		`endpoint_url image_curls image_urlish image_resource image_sourced images_per_prompt
		link_image page_image callback_url websites`.split(/\s+/),
	)('%s takes no file', (name) => expect(nameRole(name, text)).toBe('value'));
});

const described = (words: string) => ({ ...text, description: words });

it.each<[name: string, schema: JsonSchema, role: string]>([
	['subject', described('URL of the image.'), 'file'],
	['source', described('The public HTTPS URL of a clip'), 'file'],
	['guide', described('A link to the drawing'), 'file'],
	['takes', { ...list(text), description: 'Up to 3 URLs of takes' }, 'file'],
	['subject', described('What the URL shows'), 'value'],
	['subject', described('URL or Base64 of the picture'), 'value'],
	['subject', described('URL, or the ID of an asset'), 'value'],
	['caption', described('URLs are left out'), 'value'],
	['callback', described('URL that is called'), 'value'],
	['subject', { ...text, format: 'uri' }, 'file'],
	['subject', { ...text, format: 'url' }, 'file'],
	['subject', list({ ...text, format: 'uri' }), 'file'],
	['callback', { ...text, format: 'uri' }, 'value'],
	['image', { type: 'integer' }, 'value'],
	['image', {}, 'file'],
	['image', { properties: { url: {} } }, 'value'],
	['image', { ...text, enum: ['one', 'two'] }, 'value'],
	['images', list({ ...text, enum: ['one'] }), 'value'],
	['images', list(number), 'value'],
	['prompt', text, 'prompt'],
	['prompt', { ...text, format: 'uri', description: 'URL of a text' }, 'prompt'],
	['prompt', { enum: ['a'] }, 'value'],
	['prompt', list(text), 'value'],
	['Prompt', text, 'value'],
	['task_id', text, 'earlier task'],
	['parent_task_id', text, 'earlier task'],
	['audio_id', text, 'earlier file'],
	['clip', described('ID of the song to continue'), 'file'],
	['voice_id', described('The speaker'), 'value'],
	['task_id', { enum: ['a', 'b'] }, 'value'],
	['task_ids', list(text), 'value'],
])('the purpose of %s %j is: %s', (name, schema, role) => {
	expect(nameRole(name, schema)).toBe(role);
});
