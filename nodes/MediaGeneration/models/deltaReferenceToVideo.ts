import type { Field } from './field';
import { mediaList } from './media';
import { defineModel } from './model';
import { aspectRatio, duration, seed, videoResolution } from './sharedFields';

const prompt: Field = {
	displayName: 'Prompt',
	name: 'prompt',
	type: 'string',
	typeOptions: { rows: 4 },
	default: '',
	placeholder: 'e.g. The knight bows to the queen',
	description: 'What the video should show',
};

/** Only this model is known to take labels. */
const labelledPrompt: Field = {
	...prompt,
	placeholder: 'e.g. The knight character1 bows to the queen character2',
	description:
		'What the video should show. Refer to the reference images by character1, character2 and so on, right after what they show.',
};

const fields: Field[] = [
	{
		displayName: 'Reference Images',
		name: 'referenceImages',
		type: 'string',
		typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Image' },
		default: [''],
		required: true,
		placeholder: 'e.g. https://example.com/character.png',
		hint: 'URL or input data field name',
		description: 'The images that the video is made from',
		send: { as: 'reference_image', shape: mediaList() },
	},
	videoResolution,
	aspectRatio,
	duration,
];

export const delta11ReferenceToVideo = defineModel({
	id: 'delta-1-1/reference-to-video',
	name: 'Delta 1.1 Reference to Video',
	description: 'Makes a video from reference images; the newer version, without a seed',
	fields: [prompt, ...fields],
});

export const deltaReferenceToVideo = defineModel({
	id: 'delta/reference-to-video',
	name: 'Delta Reference to Video',
	description: 'Makes a video from reference images',
	fields: [labelledPrompt, ...fields, seed],
});
