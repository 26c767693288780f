import type { Field } from './field';
import { defineModel } from './model';

const fields: Field[] = [
	{
		displayName: 'Model ID',
		name: 'customModel',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. epsilon-2/text-to-video',
		description: "The model's identifier, exactly as the service writes it",
	},
	{
		displayName: 'Input',
		name: 'customInput',
		type: 'json',
		default: '{}',
		required: true,
		description: "The model's input as a JSON object, sent as it is",
	},
];

export const custom = defineModel({
	id: 'custom',
	name: 'Custom Model',
	description: 'Any other model of the service, with its input as JSON',
	fields,
	request: ({ customModel, customInput }) => ({
		model: (customModel as string).trim(),
		input: customInput as Record<string, unknown>,
	}),
});
