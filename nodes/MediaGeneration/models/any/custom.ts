import type { ResourceMapperValue } from 'n8n-workflow';
import { z } from 'zod';
import { parseValue, buildFieldError, trimmed, type Field } from '../field';
import { defineModel } from '../model';

/** The node's methods by which the editor reads the service's catalogue. */
export const SEARCH_MODELS = 'searchModels';
export const GET_MODEL_FIELDS = 'getModelFields';

/** A resource locator, or the plain text of a workflow that is older than the locator. */
const locator = z.preprocess(
	(value) =>
		typeof value === 'object' && value !== null && 'value' in value ? value.value : value,
	trimmed.pipe(z.string().min(1, 'is required')),
);

export const customModel: Field = {
	displayName: 'Model Name or ID',
	name: 'customModel',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	description: 'The model, as the service names it',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Choose a model…',
			typeOptions: { searchListMethod: SEARCH_MODELS, searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. epsilon-2/text-to-video',
		},
	],
	send: { shape: locator },
};

const inputMode: Field = {
	displayName: 'Input Mode',
	name: 'inputMode',
	type: 'options',
	options: [
		{
			name: 'Fields',
			value: 'fields',
			description: 'Fill in the fields that the service lists for the model',
		},
		{ name: 'JSON', value: 'json', description: "Write the model's input as a JSON object" },
	],
	default: 'fields',
};

/** A workflow that is older than the locator has a plain text there, and JSON. */
const hasLocator = { [`/${customModel.name}.mode`]: [{ _cnd: { exists: true as const } }] };

const inputModes: Field[] = [
	{ ...inputMode, displayOptions: { show: hasLocator } },
	{ ...inputMode, default: 'json', displayOptions: { hide: hasLocator } },
];

const customInput: Field = {
	displayName: 'Input',
	name: 'customInput',
	type: 'json',
	default: '{}',
	required: true,
	description: "The model's input as a JSON object, sent as it is",
	displayOptions: { show: { inputMode: ['json'] } },
};

export const customFields: Field = {
	displayName: 'Input',
	name: 'customFields',
	type: 'resourceMapper',
	noDataExpression: true,
	default: { mappingMode: 'defineBelow', value: null },
	typeOptions: {
		loadOptionsDependsOn: [`${customModel.name}.value`],
		resourceMapper: {
			resourceMapperMethod: GET_MODEL_FIELDS,
			mode: 'add',
			valuesLabel: 'Input',
			fieldWords: { singular: 'field', plural: 'fields' },
			supportAutoMap: false,
		},
	},
	displayOptions: { show: { inputMode: ['fields'] } },
};

const fieldsNotice: Field = {
	displayName:
		'Where it says file, give a URL or an input data field name. Where it says list, put commas between the entries. A field left blank is not sent. Field Guide describes each field.',
	name: 'fieldsNotice',
	type: 'notice',
	default: '',
	displayOptions: {
		show: { inputMode: ['fields'], [`/${customModel.name}.value`]: [{ _cnd: { exists: true } }] },
	},
};

/** In Options: fields that take files, though nothing says so. */
export const mediaFieldsOption: Field = {
	displayName: 'Media Fields',
	name: 'mediaFields',
	type: 'string',
	default: '',
	placeholder: 'e.g. reference, source_clip',
	description:
		'Names of further fields that take a file, as the service writes them, separated by commas. Give such a field a URL or an input data field name. Most media fields are recognized without this.',
	displayOptions: { show: { '/model': ['custom'], '/inputMode': ['fields'] } },
};

export const custom = defineModel({
	id: 'custom',
	name: 'Any Model of the Service',
	description: 'Any other model that the service offers, with its own fields',
	fields: [customModel, ...inputModes, customInput, fieldsNotice, customFields],
	async request(read, option) {
		const model = parseValue(customModel, read(customModel.name)) as string;
		if (read(inputMode.name) !== 'fields')
			return {
				model,
				input: parseValue(customInput, read(customInput.name)) as Record<string, unknown>,
			};
		const { findStoredSchema, isOwnEntry } = await import('./schemaFields');
		const { readSchema } = await import('./readSchema');
		const { checkInput, toInput } = await import('./fieldValues');
		const { value, schema } = (read(customFields.name) || {}) as Partial<ResourceMapperValue>;
		const stored = findStoredSchema(schema ?? []);
		if (stored && stored.model !== model)
			throw buildFieldError(
				`The fields in Input are those of ${stored.model}, but the model is ${model}`,
				"Nothing was sent for this item. Choose the model in the node and fill in its fields. If an expression gives the model, set 'Input Mode' to JSON.",
			);
		const names = String(option(mediaFieldsOption.name) ?? '')
			.split(',')
			.map((name) => name.trim());
		// A workflow may come from somebody else, so its stored schema is checked like the service's own.
		const inputSchema = readSchema(stored?.inputSchema, undefined) ?? {};
		const entered = Object.entries(value ?? {}).filter(([name]) => !isOwnEntry(name));
		return {
			model,
			input: toInput(inputSchema, entered, (name) => names.includes(name.trim())),
			check: (input) => checkInput(inputSchema, input),
		};
	},
});
