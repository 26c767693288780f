import { z } from 'zod';
import { isObject } from '../../lib/json';
import { toBuilderHint } from '../builders';
import { trimmed, type Field } from '../field';
import { prompt } from '../commonFields';

/**
 * The node's look-ups: the list of models, the fields of one, the same fields for AI builders, which
 * can't read a resource mapper, and for a person who writes JSON.
 */
export const SEARCH_MODELS = 'searchModels';
export const GET_MODEL_FIELDS = 'getModelFields';
export const LIST_MODEL_FIELDS = 'listModelFields';
export const GUIDE_JSON = 'guideJson';

/** A resource locator, or plain text. */
const locator = z.preprocess(
	(value) =>
		typeof value === 'object' && value !== null && 'value' in value ? value.value : value,
	trimmed.refine(Boolean, 'is required'),
);

export const anyModel: Field = {
	displayName: 'Choose Model',
	name: 'anyModel',
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

/** Before a model is chosen. It is no `show`: n8n drops values where that path is missing. */
const withoutModel = { '/anyModel.value': [''] };

/** The list that says what the fields take. Never sent. */
export const HELP = 'Help: What Fields Take';

/** How n8n's mapper stores Map Automatically. */
const AUTOMATIC = 'autoMapInputData';

/** Says whether the columns of items are taken. @param mapper what the workflow stores of the fields */
export const isAutomatic = (mapper: unknown): boolean =>
	isObject(mapper) && mapper.mappingMode === AUTOMATIC;

const byFields = { inputMode: ['fields'] };
const byJson = { inputMode: ['json'] };

// Paths of the node, because a definition may ask for its own field. n8n keeps a field's value as long
// as one of its definitions is shown, or hidden by its type. `unit/models/builders` fails first.
const fromList = { '/anyModel.mode': ['list'] };
const byStoredJson = { '/inputMode': ['json'] };
const automatically = { '/anyFields.mappingMode': [AUTOMATIC] };
const askedFor = { '/options.showInputModes': [true] };

/**
 * The same field as the other models' prompt, so its text stays when the model changes, which empties
 * the mapper. With Fields it is hidden for a model without a prompt; with JSON nothing hides it, so
 * these are two.
 */
export const anyPrompt: Field = {
	...prompt,
	placeholder: 'e.g. A red fox in snow',
	description: 'What to generate. Left blank, it is not sent.',
	displayOptions: { show: byFields, hide: { '/anyFields.value.$noPrompt': [true] } },
};

const anyPromptForJson: Field = {
	...anyPrompt,
	description: 'What to generate. Filled in, it counts in place of the prompt in the JSON.',
	displayOptions: { show: byJson },
};

export const inputMode: Field = {
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
	displayOptions: { hide: { ...withoutModel, ...fromList } },
	builderHint: toBuilderHint(
		"Use 'fields' with anyFields. Use 'json' with anyInput only for a model whose fields the service doesn't list.",
	),
};

/**
 * Models of the list have fields, so the mode isn't shown for them, unless it is JSON or Options asks
 * for it. The last definition keeps its value where it isn't shown.
 */
const inputModesFromList: Field[] = [
	{ ...inputMode, displayOptions: { show: { ...fromList, ...byStoredJson }, hide: withoutModel } },
	{
		...inputMode,
		displayOptions: {
			show: { ...fromList, ...askedFor },
			hide: { ...withoutModel, ...byStoredJson },
		},
	},
	{
		...{ displayName: inputMode.displayName, name: inputMode.name },
		...{ type: 'hidden', default: inputMode.default },
		displayOptions: { show: fromList, hide: { ...byStoredJson, ...askedFor } },
	},
];

export const anyInput: Field = {
	displayName: 'Input (JSON)',
	name: 'anyInput',
	type: 'json',
	// Blank, because n8n switches a pasted text with {{ }} to Expression only in a blank field.
	default: '',
	hint: 'For example { "prompt": "A red fox in snow" }',
	description:
		"The model's input as a JSON object, or the whole body that the service's documentation shows, with model and input",
	displayOptions: { show: byJson },
};

const jsonGuide: Field = {
	displayName: HELP,
	name: 'jsonGuide',
	type: 'options',
	noDataExpression: true,
	default: '',
	typeOptions: {
		loadOptionsMethod: GUIDE_JSON,
		// By its path: n8n's editor fails for a plain name whose expression has no data yet.
		loadOptionsDependsOn: [`${anyModel.name}.value`, `&${anyInput.name}`],
	},
	description: 'The names of the fields that the model takes. Choosing one changes nothing.',
	builderHint: toBuilderHint('For people to read: leave it out.'),
	displayOptions: { show: byJson },
};

/** Columns need the same names. */
const columnsGuide: Field = {
	...jsonGuide,
	displayOptions: { show: { ...byFields, ...automatically }, hide: withoutModel },
};

const mapperOptions = {
	loadOptionsMethod: LIST_MODEL_FIELDS,
	loadOptionsDependsOn: [`${anyModel.name}.value`],
	resourceMapper: {
		resourceMapperMethod: GET_MODEL_FIELDS,
		mode: 'add' as const,
		valuesLabel: 'Input',
		fieldWords: { singular: 'field', plural: 'fields' },
		supportAutoMap: false,
	},
};

export const anyFields: Field = {
	displayName: 'Input',
	name: 'anyFields',
	type: 'resourceMapper',
	noDataExpression: true,
	default: { mappingMode: 'defineBelow', value: null },
	builderHint: toBuilderHint(
		`Call ${LIST_MODEL_FIELDS} with { anyModel: { __rl: true, mode: 'id', value: '<model>' } } as the current parameters: it lists the fields that the model takes, with type, limits and which are required. Then use { mappingMode: 'defineBelow', value: { '<field>': <value>, … }, schema: [] }, with the fields' own names. Lists and objects are given as they are. Where a field takes a file, give a URL or the name of the item's field that has the file, such as data. Other names are refused. Where the input items have columns with the fields' own names, use { mappingMode: '${AUTOMATIC}', value: null, schema: [] }: other columns are left out.`,
	),
	typeOptions: mapperOptions,
	displayOptions: { show: byFields, hide: { ...withoutModel, ...askedFor, ...automatically } },
};

/** The same with n8n's choice between filling in and Map Automatically. */
const mappedFields: Field = {
	...anyFields,
	typeOptions: {
		...mapperOptions,
		resourceMapper: { ...mapperOptions.resourceMapper, supportAutoMap: true },
	},
	displayOptions: { show: { ...byFields, ...askedFor }, hide: withoutModel },
};

const automaticFields: Field = {
	...mappedFields,
	displayOptions: {
		show: { ...byFields, ...automatically },
		hide: { ...withoutModel, ...askedFor },
	},
};

/** In Options: what most users of the list don't need. */
export const inputModesOption: Field = {
	displayName: 'Input Modes',
	name: 'showInputModes',
	type: 'boolean',
	default: true,
	description:
		"Whether to show 'Input Mode', to write JSON, and 'Mapping Column Mode', whose Map Automatically takes the columns of each item that are named as the service names its fields",
	displayOptions: { show: { '/model': ['any'] } },
};

/** In the order of the editor. */
export const anyModelFields = [
	anyModel,
	anyPrompt,
	anyPromptForJson,
	inputMode,
	...inputModesFromList,
	jsonGuide,
	columnsGuide,
	anyInput,
	anyFields,
	mappedFields,
	automaticFields,
];
