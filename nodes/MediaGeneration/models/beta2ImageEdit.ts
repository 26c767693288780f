import { aspectRatio, file, lowerCaseLabel, prompt, seed, toOptions } from './commonFields';
import type { Model } from './field';

export const beta2ImageEdit: Model = {
	id: 'beta2/image-edit',
	name: 'Beta2 Image Edit',
	description: 'Changes an image as the prompt describes',
	fields: [
		{
			...prompt,
			placeholder: 'e.g. Turn the sky into a starry night',
			description: 'What to change in the image. May be left blank.',
			send: { schema: { type: 'string', isSentBlank: true } },
		},
		file({
			label: 'Image',
			name: 'image',
			as: 'image_url',
			required: true,
			description: 'The image to edit',
		}),
		{
			...aspectRatio,
			name: 'imageSize',
			options: toOptions('1:1', '16:9', '2:3', '21:9', '3:2', '3:4', '4:3', '9:16'),
			default: '1:1',
		},
		{
			displayName: 'Output Format',
			name: 'outputFormat',
			type: 'options',
			allowArbitraryValues: true,
			options: [
				{ name: 'JPEG', value: 'jpeg' },
				{ name: 'PNG', value: 'png' },
				{ name: 'WebP', value: 'webp' },
			],
			default: 'png',
			description:
				'Image format of the result. For another one, use an expression, for example avif.',
			send: { schema: lowerCaseLabel },
		},
		seed,
	],
};
