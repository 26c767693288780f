import { lowerCaseLabel, ratio, type Field } from './field';
import { media } from './media';
import { defineModel } from './model';
import { seed } from './sharedFields';

const fields: Field[] = [
	{
		displayName: 'Image',
		name: 'image',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://example.com/photo.png',
		hint: 'URL, or name of a binary field',
		description: 'The image to edit',
		send: { as: 'image_url', shape: media() },
	},
	{
		displayName: 'Prompt',
		name: 'prompt',
		type: 'string',
		typeOptions: { rows: 4 },
		default: '',
		placeholder: 'e.g. Turn the sky into a starry night',
		description: 'What to change in the image. May be left blank.',
		send: { blank: true },
	},
	{
		displayName: 'Image Size',
		name: 'imageSize',
		type: 'string',
		default: '1:1',
		placeholder: 'e.g. 16:9',
		description: 'Aspect ratio of the result, written as width:height',
		send: { shape: ratio },
	},
	{
		displayName: 'Output Format',
		name: 'outputFormat',
		type: 'string',
		default: 'png',
		placeholder: 'e.g. png',
		description: 'Image format of the result, in lower case',
		send: { shape: lowerCaseLabel },
	},
	seed,
];

export const beta2ImageEdit = defineModel({
	id: 'beta2/image-edit',
	name: 'Beta2 Image Edit',
	description: 'Edits an image as a prompt says',
	fields,
});
