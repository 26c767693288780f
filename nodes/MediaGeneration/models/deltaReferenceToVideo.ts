import { aspectRatio, duration, file, image, prompt, resolution, seed } from './commonFields';
import type { Field, Model } from './field';

const fields: Field[] = [
	{
		...image,
		displayName: 'Reference Images',
		name: 'referenceImages',
		typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Image' },
		default: [''],
		placeholder: 'e.g. https://example.com/character.png',
		description: 'The images that the video is made from',
		send: {
			as: 'reference_image',
			schema: { ...file, type: 'array', items: { type: 'string' }, minItems: 1 },
		},
	},
	resolution,
	aspectRatio,
	duration,
];

export const delta11ReferenceToVideo: Model = {
	id: 'delta-1-1/reference-to-video',
	name: 'Delta 1.1 Reference to Video',
	description: 'Makes a video from reference images; the newer version, without a seed',
	fields: [{ ...prompt, placeholder: 'e.g. The knight bows to the queen' }, ...fields],
};

/** Only this model is known to take labels. */
const labelledPrompt: Field = {
	...prompt,
	placeholder: 'e.g. The knight character1 bows to the queen character2',
	description:
		'What the video should show. Refer to the reference images by character1, character2 and so on, right after what they show.',
};

export const deltaReferenceToVideo: Model = {
	id: 'delta/reference-to-video',
	name: 'Delta Reference to Video',
	description: 'Makes a video from reference images',
	fields: [labelledPrompt, ...fields, seed],
};
