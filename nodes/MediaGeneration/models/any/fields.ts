import { isObject } from '../../lib/json';
import { prompt, trimmed } from '../commonFields';
import { toBuilderHint, type Field } from '../field';

/**
 * The names of the methods by which the editor gets the list of models, the mapper's fields of a model,
 * and a list of these fields to read. The last is for people who write JSON, and for AI builders, which
 * can't read a mapper.
 */
export const SEARCH_MODELS = 'searchModels';
export const GET_MODEL_FIELDS = 'getModelFields';
export const LIST_MODEL_FIELDS = 'listModelFields';

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
	send: { schema: trimmed },
};

/**
 * Before a model is chosen. Fields that need a model are hidden by this condition, not shown by the
 * opposite one: n8n drops values whose `show` has a path that is missing.
 */
const withoutModel = { '/anyModel.value': [''] };

/** Says whether the columns of items are taken. @param mapper what the workflow stores of the fields */
export const isAutomatic = (mapper: unknown): boolean =>
	isObject(mapper) && mapper.mappingMode === 'autoMapInputData';

const byFields = { inputMode: ['fields'] };
const byJson = { inputMode: ['json'] };

/** Like `byJson`, for Input Mode itself: n8n finds the field's own parameter only by an absolute path. */
const byJsonFromRoot = { '/inputMode': ['json'] };

/** 'Input Modes' in Options is on. */
const whenAsked = { '/options.showInputModes': [true] };

/**
 * This field has the same name as the prompt of the other models, so its text stays when the user chooses
 * another model. (The mapper is emptied then.) `$noPrompt` in the mapper hides the field for a model
 * without a prompt. With JSON, n8n drops the mapper, so the field always shows.
 */
const anyPrompt: Field = {
	...prompt,
	placeholder: 'Describe the result, or enter the text to speak',
	description: 'What to generate. With JSON, it counts in place of the prompt there.',
	displayOptions: { hide: { '/anyFields.value.$noPrompt': [true] } },
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
		{ name: 'JSON', value: 'json' },
	],
	default: 'fields',
	builderHint: toBuilderHint(
		"Use 'json', with anyInput, only for a model whose fields the service doesn't list.",
	),
};

/** Where the mode is shown. */
const inputModes = [
	// Where 'Input Modes' is on.
	{ show: whenAsked },
	// With JSON.
	{ show: byJsonFromRoot, hide: whenAsked },
	// Until a model is chosen.
	{ show: withoutModel, hide: { ...whenAsked, ...byJsonFromRoot } },
].map((displayOptions): Field => ({ ...inputMode, displayOptions }));

/** What to do where the service lists no fields. */
export const USE_JSON = "add 'Input Modes' in Options and set 'Input Mode' to JSON";

export const anyInput: Field = {
	displayName: 'Input (JSON)',
	name: 'anyInput',
	type: 'json',
	// Blank, because n8n switches a pasted text with {{ }} to Expression only in a blank field.
	default: '',
	hint: 'For example { "prompt": "A red fox in snow" }, or a whole body',
	description:
		"The model's input, or the whole body that the service's documentation shows, whose model counts if 'Choose Model' is blank",
	displayOptions: { show: byJson },
};

const listOptions = {
	loadOptionsMethod: LIST_MODEL_FIELDS,
	loadOptionsDependsOn: [`${anyModel.name}.value`],
};

/**
 * The list that says what the fields take. Never sent. The list is outside the mapper, whose fields n8n
 * stores: reading there would change the node.
 */
const help: Field = {
	displayName: 'Help: What Fields Take',
	name: 'guide',
	type: 'options',
	noDataExpression: true,
	// Otherwise n8n's editor marks the field as wrong because nothing is chosen.
	allowArbitraryValues: true,
	default: '',
	typeOptions: listOptions,
	description: 'The fields that the model takes, what each takes, and the price',
	displayOptions: { hide: withoutModel },
};

const mapperOptions = {
	...listOptions,
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
		`Call ${LIST_MODEL_FIELDS} with { anyModel: { __rl: true, mode: 'id', value: '<model>' } } as the current parameters: each name there begins with that of a field. Then use { mappingMode: 'defineBelow', value: { '<field>': <value>, … }, schema: [] }, with the fields' own names. Where a field takes a file, give a URL or the name of the item's field that has the file, such as data.`,
	),
	typeOptions: mapperOptions,
	displayOptions: { show: byFields, hide: { ...withoutModel, ...whenAsked } },
};

/** `anyFields` with n8n's choice between filling in and Map Automatically. */
const mappedFields: Field = {
	...anyFields,
	typeOptions: {
		...mapperOptions,
		resourceMapper: { ...mapperOptions.resourceMapper, supportAutoMap: true },
	},
	displayOptions: { show: { ...byFields, ...whenAsked }, hide: withoutModel },
};

/** In Options: what most users of the list don't need. */
export const inputModesOption: Field = {
	displayName: 'Input Modes',
	name: 'showInputModes',
	type: 'boolean',
	default: true,
	description:
		"Whether to show 'Input Mode', to write JSON, and 'Mapping Column Mode', to take the columns of each item",
	displayOptions: { show: { '/model': ['any'] } },
};

/** In the order of the editor. */
export const anyModelFields = [
	{ ...anyModel, displayOptions: { hide: byJson } },
	// The JSON may name the model, so with JSON the field may be blank.
	{ ...anyModel, required: false, displayOptions: { show: byJson } },
	...inputModes,
	// n8n keeps the mode as long as one definition of it isn't hidden by `displayOptions`.
	{ ...inputMode, type: 'hidden' } satisfies Field,
	anyPrompt,
	anyInput,
	anyFields,
	mappedFields,
	help,
];
