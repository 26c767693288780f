import { z } from 'zod';
import type { Field } from './field';
import { media } from './media';
import { defineModel } from './model';
import { aspectRatio, duration, image, prompt, resolution, seed, toOptions } from './commonFields';

const label = z.string().trim().optional();

const NONE = { message: 'needs at least one reference' };

/** The reference image items of the contract, from the rows of the editor's collection. */
const references = z
	.object({
		reference: z
			.array(z.object({ image: media(), type: label, refName: label }), NONE)
			.nonempty(NONE),
	})
	.transform(({ reference }) =>
		reference.map(({ image, type, refName }) => ({
			image_url: image,
			...(type && { type }),
			...(refName && { ref_name: refName }),
		})),
	);

const fields: Field[] = [
	{ ...prompt, placeholder: 'e.g. The hero walks through the market at dawn' },
	{
		displayName: 'Reference Images',
		name: 'imageReferences',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		default: { reference: [{ image: '', type: 'subject', refName: '' }] },
		required: true,
		placeholder: 'Add Reference',
		description: 'Images that the video is made from',
		options: [
			{
				displayName: 'Reference',
				name: 'reference',
				values: [
					{
						...image,
						placeholder: 'e.g. https://example.com/character.png',
						description: 'The reference image',
					},
					{
						displayName: 'Type',
						name: 'type',
						type: 'options',
						allowArbitraryValues: true,
						options: [
							{ name: 'Background', value: 'background' },
							{ name: 'None', value: '', description: 'The service decides' },
							{ name: 'Subject', value: 'subject' },
						],
						default: 'subject',
						description:
							'What the image stands for in the video. For another value of the service, use an expression.',
					},
					{
						displayName: 'Reference Name',
						name: 'refName',
						type: 'string',
						default: '',
						placeholder: 'e.g. hero',
						description: 'Short label by which the prompt can refer to the image',
					},
				],
			},
		],
		send: { shape: references },
	},
	{ ...resolution, name: 'quality', options: toOptions('360p', '540p', '720p', '1080p') },
	aspectRatio,
	duration,
	{
		displayName: 'Generate Audio',
		name: 'generateAudio',
		type: 'boolean',
		default: false,
		description: 'Whether the video gets a sound track',
		send: { as: 'generate_audio_switch' },
	},
	seed,
];

export const gammaV6ReferenceToVideo = defineModel({
	id: 'gamma-v6/reference-to-video',
	name: 'Gamma V6 Reference to Video',
	description: 'Makes a video from named reference images, with sound if wanted',
	fields,
});
