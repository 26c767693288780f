import type { ResourceMapperValue } from 'n8n-workflow';
import { z } from 'zod';
import { toBuilderHint } from '../builders';
import { isBlank, parseValue, buildFieldError, trimmed, type Field } from '../field';
import { defineModel } from '../model';
import { NO_PROMPT } from './noPrompt';

/** The node's methods by which the editor reads the service's catalogue. */
export const SEARCH_MODELS = 'searchModels';
export const GET_MODEL_FIELDS = 'getModelFields';
/** The same fields for AI builders, which can't read those of a resource mapper. */
export const LIST_MODEL_FIELDS = 'listModelFields';
/** The same fields for a person who writes JSON. */
export const GUIDE_JSON = 'guideJson';

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
	builderHint: toBuilderHint(
		`Find the model with ${SEARCH_MODELS}, whose filter takes words of its name, provider or type, for example "image to video". Use { __rl: true, mode: 'id', value: '<model>' }.`,
	),
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

/**
 * A prompt of four lines, under the name that other models use, so its text stays when another model is chosen. n8n's mapper has no
 * such text, and drops its values then. It is hidden once a model without a prompt is chosen.
 */
const prompt: Field = {
	displayName: 'Prompt',
	name: 'prompt',
	type: 'string',
	typeOptions: { rows: 4 },
	default: '',
	placeholder: 'e.g. A red fox in snow, at dawn',
	description: 'What to generate. Left blank, it is not sent.',
	displayOptions: {
		show: { inputMode: ['fields'] },
		hide: {
			// n8n needs no more than `show`. The public interface lists no prompt for Any Model, and its check skips a condition of this form.
			model: [{ _cnd: { not: 'custom' } }],
			[`/customFields.value.${NO_PROMPT}`]: [true],
		},
	},
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
	builderHint: toBuilderHint(
		"Use 'fields' with customFields. Use 'json' with customInput only for a model whose fields the service doesn't list.",
	),
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
	default: '{\n\t"prompt": ""\n}',
	required: true,
	description: "The model's input as a JSON object, sent as it is",
	displayOptions: { show: { inputMode: ['json'] } },
};

/** Says what the JSON needs. The editor gives a JSON field no default that depends on the model. It is not sent. */
const jsonGuide: Field = {
	displayName: 'Field Guide (Sends Nothing)',
	name: 'jsonGuide',
	type: 'options',
	noDataExpression: true,
	default: '',
	typeOptions: {
		loadOptionsMethod: GUIDE_JSON,
		loadOptionsDependsOn: [`${customModel.name}.value`],
	},
	description: 'The names of the fields that the model takes. Choosing one changes nothing.',
	displayOptions: { show: { inputMode: ['json'], ...hasLocator } },
};

export const customFields: Field = {
	displayName: 'Input',
	name: 'customFields',
	type: 'resourceMapper',
	noDataExpression: true,
	default: { mappingMode: 'defineBelow', value: null },
	builderHint: toBuilderHint(
		`Call ${LIST_MODEL_FIELDS} with { customModel: { __rl: true, mode: 'id', value: '<model>' } } as the current parameters: it lists the fields that the model takes, with type, limits and which are required. Then use { mappingMode: 'defineBelow', value: { '<field>': <value>, … }, schema: [] }, with the fields' own names. Lists and objects are given as they are. Where a field takes a file, give a URL or an input data field name. Other names are refused.`,
	),
	typeOptions: {
		loadOptionsMethod: LIST_MODEL_FIELDS,
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
		'Where it says file, give a URL or an input data field name. Where it says earlier task or earlier file, the item of an earlier Media Generation node fills it in. Where it says list, put commas between the entries. A field left blank is not sent. Field Guide, at the end, describes each field.',
	name: 'fieldsNotice',
	type: 'notice',
	default: '',
	displayOptions: {
		show: { inputMode: ['fields'], '/customFields.schema': [{ _cnd: { exists: true } }] },
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
	name: 'Any Model (Text to Image, Text to Video, Speech, Music)',
	description: 'Every other model of the service, with its price and its own fields',
	fields: [customModel, prompt, ...inputModes, jsonGuide, customInput, fieldsNotice, customFields],
	async request(read, option, describe) {
		const chosen = read(customModel.name);
		const model = parseValue(customModel, chosen) as string;
		const { findChecks, findStoredSchema, isOwnEntry } = await import('./schemaFields');
		const { readSchema } = await import('./readSchema');
		const { checkInput, checkNames, toInput } = await import('./fieldValues');
		// An AI, and whoever writes JSON, gives fields that the editor has not offered.
		const lookUp = async () => findChecks(model, await describe(model));
		if (read(inputMode.name) !== 'fields') {
			const input = parseValue(customInput, read(customInput.name)) as Record<string, unknown>;
			// Workflows that are older than the locator send what they always sent.
			if (typeof chosen !== 'object') return { model, input };
			const { inputSchema, needsCallback } = await lookUp();
			checkNames(inputSchema, model, input);
			return { model, input, needsCallback };
		}
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
		const { inputSchema, needsCallback } = stored
			? {
					inputSchema: readSchema(stored.inputSchema, undefined) ?? {},
					needsCallback: stored.needsCallback === true,
				}
			: await lookUp();
		const typed = read(prompt.name);
		const entered = Object.entries({
			...value,
			...(!isBlank(typed) && { [prompt.name]: typed }),
		}).filter(([name]) => !isOwnEntry(name));
		const input = toInput(inputSchema, entered, (name) => names.includes(name.trim()));
		checkNames(inputSchema, model, input);
		return { model, input, needsCallback, check: (whole) => checkInput(inputSchema, whole) };
	},
});
