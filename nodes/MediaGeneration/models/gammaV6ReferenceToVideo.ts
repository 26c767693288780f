import { isObject } from '../lib/json';
import {
	aspectRatio,
	duration,
	file,
	prompt,
	resolution,
	seed,
	toOptions,
	trimmed,
} from './commonFields';
import { toInputSchema, toNodeProperty, toRequestKey, type Field, type Model } from './field';
import { isBlank, Nothing } from './values';

/** What a row of the editor's collection has. */
const rowFields: Field[] = [
	file({
		label: 'Image',
		name: 'image',
		as: 'image_url',
		required: true,
		placeholder: 'e.g. https://example.com/character.png',
		description: 'The reference image',
	}),
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
		description: 'What the image stands for in the video',
	},
	{
		displayName: 'Reference Name',
		name: 'refName',
		type: 'string',
		default: '',
		placeholder: 'e.g. hero',
		description: 'Short label by which the prompt can refer to the image',
		send: { schema: trimmed },
	},
];

/** Turns the rows of the editor into reference images as the request has them. */
function unpackRows(value: unknown): unknown {
	if (!isObject(value) || !Array.isArray(value.reference)) return value;
	return value.reference.map((row: unknown) => {
		if (!isObject(row)) return row;
		const pairs = rowFields.map((field) => [toRequestKey(field), row[field.name]] as const);
		return Object.fromEntries(
			pairs.filter(([, part]) => part instanceof Nothing || !isBlank(part)),
		);
	});
}

export const gammaV6ReferenceToVideo: Model = {
	id: 'gamma-v6/reference-to-video',
	name: 'Gamma V6 Reference to Video',
	description: 'Makes a video from named reference images, with sound if wanted',
	fields: [
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
					values: rowFields.map(toNodeProperty),
				},
			],
			send: {
				schema: { type: 'array', minItems: 1, items: toInputSchema(rowFields) },
				unpack: unpackRows,
			},
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
	],
};
