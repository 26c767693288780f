import type { JsonSchema } from '../../nodes/MediaGeneration/models/any/jsonSchema';
import { judgeMedia } from '../../nodes/MediaGeneration/models/any/mediaProperty';

const judge = (name: string, schema: JsonSchema = {}) =>
	judgeMedia(name, { type: 'string', ...schema });

describe('judgeMedia by the name of a text', () => {
	it.each(
		`image IMAGE photos mask2 first_frame lastFrame video-clip image_reference imageSources
		url uri url_ image_url imageUrls inputURL reference-uri src_url hyperlink_image linked_video`.split(
			/\s+/,
		),
	)('%s is media', (name) => expect(judge(name)).toBe('sure'));

	it.each(
		`prompt endpoint_url image_curls image_urlish image_resource image_sourced images_per_prompt
		link_image page_image callback_url websites`.split(/\s+/),
	)('%s is not', (name) => expect(judge(name)).toBe('none'));
});

describe('judgeMedia', () => {
	const prose = 'URL of the image.';
	it.each<[string, JsonSchema, string]>([
		['subject', { description: 'Who is seen. URL of the image' }, 'none'],
		['subject', { description: prose }, 'likely'],
		['subject', { description: `${'Very '.repeat(40)}${prose}` }, 'none'],
		['subject', { type: 'array', items: { type: 'string' }, description: prose }, 'likely'],
		['subject', { type: 'array', items: { type: 'string', description: prose } }, 'likely'],
		['subject', { description: 'Links to your two short videos' }, 'likely'],
		['subject', { description: "The images' file URLs" }, 'likely'],
		['subtext', { description: prose }, 'likely'],
		['texture', { description: prose }, 'likely'],
		['text', { description: prose }, 'none'],
		['subject', { description: 'URL of the image of a page' }, 'none'],
		['subject', { description: 'URL of the image of a webpage' }, 'none'],
		['subject', { description: 'URL of the image of web sites' }, 'none'],
		['subject', { format: 'uri' }, 'sure'],
		['subject', { format: 'url' }, 'sure'],
		['subject', { type: 'array', items: { type: 'string', format: 'uri' } }, 'sure'],
		['callback', { format: 'uri' }, 'none'],
		['subject', { format: 'date' }, 'none'],
		['image', { type: 'integer' }, 'none'],
		['image', { type: undefined }, 'sure'],
		['image', { type: undefined, properties: { url: {} } }, 'none'],
		['image', { enum: ['one', 'two'] }, 'none'],
		['images', { type: 'array', items: { type: 'string', enum: ['one'] } }, 'none'],
		['images', { type: 'array', items: { type: 'number' } }, 'none'],
	])('of %s, %j, is %s', (name, schema, evidence) => {
		expect(judge(name, schema)).toBe(evidence);
	});
});
