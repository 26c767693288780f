import type { FileLimits } from '../media/inspect';
import { buildFileList, file, prompt, resolution, toOptions } from './commonFields';
import type { Model } from './field';

/** The contract's limits for both files ("Limits"). */
const common = { minSide: 340, aspect: [5, 2] } as const;

const LIMITS =
	', over 340 px, aspect ratio 2:5 to 5:2. Head, shoulders and torso must be clearly visible.';

const imageLimits: FileLimits = { ...common, formats: ['JPG', 'PNG'], maxMegabytes: 10 };

const videoLimits: FileLimits = {
	...common,
	formats: ['MP4', 'MOV'],
	maxMegabytes: 100,
	duration: { min: 3, max: 30 },
};

export const alpha3MotionControl: Model = {
	id: 'alpha-3.0/motion-control',
	name: 'Alpha 3.0 Motion Control',
	description: 'Makes the figure in an image copy the movements in a video',
	fields: [
		{
			...prompt,
			placeholder: 'e.g. The dancer moves through a sunlit studio',
			description: 'What the result should show',
		},
		// The model wants a single file as a list of one.
		file({
			label: 'Image',
			name: 'image',
			as: 'input_urls',
			required: true,
			schema: buildFileList({ maxItems: 1, limits: imageLimits }),
			placeholder: 'e.g. https://example.com/subject.png',
			description: `The subject that is to move. JPEG or PNG, up to 10 MB${LIMITS}`,
		}),
		file({
			label: 'Video',
			name: 'video',
			as: 'video_urls',
			required: true,
			schema: buildFileList({ maxItems: 1, limits: videoLimits }),
			placeholder: 'e.g. https://example.com/motion.mp4',
			description: `The movements that the subject copies. MP4 or QuickTime, 3 to 30 seconds, up to 100 MB${LIMITS}`,
		}),
		{ ...resolution, name: 'mode', options: toOptions('720p', '1080p') },
		{
			displayName: 'Character Orientation',
			name: 'characterOrientation',
			type: 'options',
			allowArbitraryValues: true,
			options: [
				{ name: 'Image', value: 'image', description: 'As in the subject image' },
				{ name: 'Video', value: 'video', description: 'As in the motion video' },
			],
			default: 'image',
			hint: 'With Image, give a video of up to about 10\u00a0seconds',
			description: 'Which way the character faces',
		},
	],
};
