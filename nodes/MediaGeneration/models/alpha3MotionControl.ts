import { listOfOne, resolution, webUrl, type Field } from './field';
import { defineModel } from './model';

const fields: Field[] = [
	{
		displayName: 'Image',
		name: 'image',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://example.com/subject.png',
		description:
			"URL of the subject image. JPEG or PNG up to 10 MB, over 340 px, aspect 2:5 to 5:2; the subject's head, shoulders and torso clearly visible.",
		send: { as: 'input_urls', shape: webUrl.transform(listOfOne) },
	},
	{
		displayName: 'Video',
		name: 'video',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://example.com/motion.mp4',
		description:
			"URL of the motion video. MP4 or QuickTime up to 100 MB, 3 to 30 seconds, over 340 px, aspect 2:5 to 5:2; the subject's head, shoulders and torso clearly visible.",
		send: { as: 'video_urls', shape: webUrl.transform(listOfOne) },
	},
	{
		displayName: 'Prompt',
		name: 'prompt',
		type: 'string',
		typeOptions: { rows: 4 },
		default: '',
		placeholder: 'e.g. The dancer moves through a sunlit studio',
		description: 'What the result should show',
	},
	{
		displayName: 'Mode',
		name: 'mode',
		type: 'string',
		default: '720p',
		placeholder: 'e.g. 720p',
		description: 'Resolution of the result, written as digits followed by p',
		send: { shape: resolution },
	},
	{
		displayName: 'Character Orientation',
		name: 'characterOrientation',
		type: 'string',
		default: 'image',
		placeholder: 'e.g. image',
		description: 'Which input the character is oriented by; "image" follows the subject image',
	},
];

export const alpha3MotionControl = defineModel({
	id: 'alpha-3.0/motion-control',
	name: 'Alpha 3.0 Motion Control',
	description: 'Makes the subject of an image move as in a video',
	fields,
});
