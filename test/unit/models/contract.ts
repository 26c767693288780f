export type Values = Record<string, unknown>;

export const image = 'https://media.example/subject.png';
export const second = 'https://media.example/background.jpg';
const video = 'https://media.example/motion.mp4';

export const alpha = 'alpha-3.0/motion-control';
export const beta = 'beta2/image-edit';
export const delta = 'delta/reference-to-video';
export const gamma = 'gamma-v6/reference-to-video';

const knight = {
	filled: {
		referenceImages: [image, second],
		prompt: 'A knight character1',
		resolution: '1080p',
		aspectRatio: '9:16',
		duration: 8,
	},
	input: {
		reference_image: [image, second],
		prompt: 'A knight character1',
		resolution: '1080p',
		aspect_ratio: '9:16',
		duration: 8,
	},
};

/** The contract's field table of each model: what a user fills in, and the `input` that the service takes for it. */
export const contract: Record<string, { filled: Values; input: Values }> = {
	[alpha]: {
		filled: { image, video, prompt: 'Dance', mode: '720p', characterOrientation: 'image' },
		input: {
			input_urls: [image],
			video_urls: [video],
			prompt: 'Dance',
			mode: '720p',
			character_orientation: 'image',
		},
	},
	[beta]: {
		filled: { image, prompt: 'Night', imageSize: '16:9', outputFormat: 'png', seed: 7 },
		input: { image_url: image, prompt: 'Night', image_size: '16:9', output_format: 'png', seed: 7 },
	},
	'delta-1-1/reference-to-video': knight,
	[delta]: { filled: { ...knight.filled, seed: 0 }, input: { ...knight.input, seed: 0 } },
	[gamma]: {
		filled: {
			imageReferences: {
				reference: [
					{ image, type: ' subject ', refName: 'hero' },
					{ image: second, type: '', refName: '' },
				],
			},
			prompt: 'The hero walks',
			aspectRatio: '16:9',
			quality: '540p',
			duration: 5,
			generateAudio: true,
			seed: 42,
		},
		input: {
			image_references: [
				{ image_url: image, type: 'subject', ref_name: 'hero' },
				{ image_url: second },
			],
			prompt: 'The hero walks',
			aspect_ratio: '16:9',
			quality: '540p',
			duration: 5,
			generate_audio_switch: true,
			seed: 42,
		},
	},
};
