import { ratio, resolution, type Field } from './field';

/** Fields that several models have in common, in name, form and meaning. */
export const aspectRatio: Field = {
	displayName: 'Aspect Ratio',
	name: 'aspectRatio',
	type: 'string',
	default: '16:9',
	placeholder: 'e.g. 16:9',
	description: 'Aspect ratio of the video, written as width:height',
	send: { shape: ratio },
};

export const duration: Field = {
	displayName: 'Duration',
	name: 'duration',
	type: 'number',
	typeOptions: { numberPrecision: 0, minValue: 1 },
	default: 5,
	hint: 'As a rule in seconds',
	description: 'Length of the video, a whole number',
};

export const videoResolution: Field = {
	displayName: 'Resolution',
	name: 'resolution',
	type: 'string',
	default: '720p',
	placeholder: 'e.g. 720p',
	description: 'Resolution of the video, written as digits followed by p',
	send: { shape: resolution },
};

export const seed: Field = {
	displayName: 'Seed',
	name: 'seed',
	type: 'number',
	typeOptions: { numberPrecision: 0 },
	default: '',
	placeholder: 'e.g. 42',
	description: 'Whole number that makes results repeatable. Left blank, the service picks one.',
};
