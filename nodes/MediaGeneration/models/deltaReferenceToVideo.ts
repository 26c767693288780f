import {
	aspectRatio,
	buildFileList,
	duration,
	file,
	prompt,
	resolution,
	seed,
} from './commonFields';
import type { Model } from './field';

/** Both models have these fields, behind a prompt of their own. */
const sharedFields = [
	file({
		label: 'Reference Images',
		name: 'referenceImages',
		as: 'reference_image',
		required: true,
		schema: buildFileList(),
		typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Image' },
		default: [''],
		placeholder: 'e.g. https://example.com/character.png',
		description: 'The images that the video is made from',
	}),
	resolution,
	aspectRatio,
	duration,
];

export const delta11ReferenceToVideo: Model = {
	id: 'delta-1-1/reference-to-video',
	name: 'Delta 1.1 Reference to Video',
	description: 'Makes a video from reference images; the newer version, without a seed',
	fields: [{ ...prompt, placeholder: 'e.g. The knight bows to the queen' }, ...sharedFields],
};

export const deltaReferenceToVideo: Model = {
	id: 'delta/reference-to-video',
	name: 'Delta Reference to Video',
	description: 'Makes a video from reference images',
	fields: [
		// Only this model is known to take labels.
		{
			...prompt,
			placeholder: 'e.g. The knight character1 bows to the queen character2',
			description:
				'What the video should show. Refer to the reference images by character1, character2 and so on, right after what they show.',
		},
		...sharedFields,
		seed,
	],
};
