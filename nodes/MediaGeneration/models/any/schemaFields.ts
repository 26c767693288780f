import { createHash } from 'crypto';
import {
	isExpression,
	type FieldType,
	type INodePropertyOptions,
	type ResourceMapperField,
	type ResourceMapperFields,
} from 'n8n-workflow';
import { cutText, escapeHtml } from '../../lib/text';
import { describeForms, formatValue, listShortly, nameTypes, toTitle } from './describeSchema';
import { EARLIER_IDS, findEarlierPart } from './earlierResult';
import {
	collectProperties,
	getItems,
	listTypes,
	listValues,
	removeProse,
	type JsonSchema,
	type Property,
} from './jsonSchema';
import { judgeMedia } from './mediaProperty';
import { NO_PROMPT } from './noPrompt';
import { MAX_SIZE, readSchema } from './readSchema';

/** A mapper entry that the editor stores and doesn't show. With it, a run needs no catalogue. */
export interface StoredSchema extends ResourceMapperField {
	/** The model whose fields these are. */
	model: string;
	/** Its input, for the checks before a task is paid for. */
	inputSchema: JsonSchema;
	/** It takes no task without a callback URL. */
	needsCallback?: true;
}

const STORED_SCHEMA = '$schema';

/** Finds the model's schema among the entries of a mapper. */
export const findStoredSchema = (fields: ResourceMapperField[]): StoredSchema | undefined =>
	fields.find((field): field is StoredSchema => field.id === STORED_SCHEMA);

/** The entry with facts that the editor shows nowhere else. It is not sent. */
const GUIDE = '$guide';
const FORMS = '$forms';

/** Recognizes an entry of the mapper that is no property of the model. */
export const isOwnEntry = (id: string): boolean => [STORED_SCHEMA, GUIDE, NO_PROMPT].includes(id);

/** The property that the node has a field of its own for. A text of fixed values, or a file, is none. */
const PROMPT = 'prompt';
const isPrompt = (name: string, { schema }: Property): boolean =>
	name === PROMPT &&
	listTypes(schema).includes('string') &&
	!listValues(schema) &&
	judgeMedia(name, schema) === 'none';

/** A model whose document has another path answers at once. */
const TASK_PATH = /\/jobs\/createTask$/i;

const CALLBACK_URL = /^call_?back_?url$/i;

const USE_JSON = "To use it, set 'Input Mode' to JSON.";

/** What a model takes as its input. */
interface FoundInput {
	input: JsonSchema;
	properties: Array<[string, Property]>;
	needsCallback: boolean;
}

/**
 * Finds what a model takes as its input. Whatever the service says, this never throws and takes milliseconds.
 * @param document its OpenAPI document; null: the service has none yet
 * @returns why not, for a model that can't be filled in
 */
function findInput(model: string, document: unknown): FoundInput | string {
	if (document === null)
		return `The service doesn't say yet which fields ${model} takes. ${USE_JSON}`;
	const { path, schema } = findRequest(document);
	if (path !== undefined && !TASK_PATH.test(path))
		return `${model} answers at once and makes no task, so this node can't use it. Choose another model.`;
	const body = readSchema(schema, document);
	if (!body) return `${describeSize(model)} ${USE_JSON}`;
	const input = body.properties?.input;
	if (!input)
		return `The service describes ${model} in a way that can't be understood. ${USE_JSON}`;
	// A property with the name of an entry of ours has no field. Extra Fields can give it.
	const properties = [...collectProperties(input)].filter(([name]) => !isOwnEntry(name));
	if (!properties.length) return `The service names no fields of ${model}. ${USE_JSON}`;
	const needsCallback = [...collectProperties(body)].some(
		([name, { isRequired }]) => isRequired && CALLBACK_URL.test(name),
	);
	return { input, properties, needsCallback };
}

/** Finds what a run checks before a model is paid for; nothing where the service has no schema that can be understood. */
export function findChecks(
	model: string,
	document: unknown,
): { inputSchema: JsonSchema; needsCallback: boolean } {
	const found = findInput(model, document);
	return typeof found === 'string'
		? { inputSchema: {}, needsCallback: false }
		: { inputSchema: found.input, needsCallback: found.needsCallback };
}

/**
 * Lists the fields of a model for an AI builder, by the names that the service gives them.
 * @param document as in `toMapperFields`
 * @returns why not, for a model that can't be filled in
 */
export function listFields(model: string, document: unknown): INodePropertyOptions[] | string {
	const found = findInput(model, document);
	return typeof found === 'string' ? found : describeFields(found);
}

const describeFields = ({ input, properties }: FoundInput): INodePropertyOptions[] => [
	...listForms(input),
	...properties.map(([name, property]) => ({
		name: addFacts(name, [
			property.isRequired ? 'required' : 'optional',
			nameTypes(listTypes(property.schema)),
			listShortly(listValues(property.schema) ?? []),
			...describeFacts(name, property),
		]),
		value: name,
		description: shortenProse(property.schema.description),
	})),
];

/**
 * Lists the same fields for a person who writes JSON. The editor shows the first entry before the list is opened: what is required.
 * @param document as in `toMapperFields`
 */
export function listJsonGuide(model: string, document: unknown): INodePropertyOptions[] {
	const found = findInput(model, document);
	if (typeof found === 'string') return [{ name: found.replace(USE_JSON, ''), value: '' }];
	const required = found.properties.flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
	const summary = required.length ? `Required: ${required.join(', ')}` : 'No field is required';
	return [{ name: cutText(summary, SHOWN_PROSE), value: '' }, ...describeFields(found)];
}

/**
 * Makes the editor's fields of a model. Whatever the service says, this never throws and takes milliseconds.
 * @param document its OpenAPI document; null: the service has none yet
 * @returns no fields, and why, for a model that can't be filled in
 */
export function toMapperFields(model: string, document: unknown): ResourceMapperFields {
	const found = findInput(model, document);
	if (typeof found === 'string') return buildNotice(found);
	const { input, properties, needsCallback } = found;
	const inputSchema = removeProse(input, (name, schema) => judgeMedia(name, schema) === 'likely');
	const stored: StoredSchema = {
		...toEntry(STORED_SCHEMA, computeHash(inputSchema), 'object'),
		display: false,
		model,
		inputSchema,
		...(needsCallback && { needsCallback }),
	};
	const guide = {
		...toEntry(GUIDE, 'Field Guide (Sends Nothing)', 'options'),
		options: [
			...listForms(input),
			...properties.map(([name, property]) => toGuideOption(name, property)),
		],
	};
	const hasPrompt = properties.some((property) => isPrompt(...property));
	const fields = [
		...properties.map(([name, property]) => ({
			...toField(name, property),
			// A value that a builder has stored there counts where the node's own field is blank.
			...(isPrompt(name, property) && { display: false, required: false }),
		})),
		guide,
		stored,
		...(hasPrompt
			? []
			: [{ ...toEntry(NO_PROMPT, 'No Prompt', 'boolean'), display: false, defaultValue: true }]),
	];
	if (JSON.stringify(fields).length > MAX_SIZE)
		return buildNotice(`${describeSize(model)} ${USE_JSON}`);
	if (hasExpression(fields))
		return buildNotice(
			`The service's description of ${model} has texts that n8n would run as expressions. ${USE_JSON}`,
		);
	// After that check: these are the only expressions.
	return { fields: fields.map((field) => fillIn(field, properties)) };
}

/** Gives a field that takes an earlier task or file the ID of the item before. The editor fills it in when it first shows the field. */
function fillIn(
	field: ResourceMapperField,
	properties: Array<[string, Property]>,
): ResourceMapperField {
	const [, property] = properties.find(([name]) => name === field.id) ?? [];
	const part =
		property?.schema.default === undefined &&
		property &&
		findEarlierPart(field.id, property.schema);
	return part && !field.removed ? { ...field, defaultValue: EARLIER_IDS[part] } : field;
}

/** Says which properties go together, where the model has several forms of input. */
function listForms({ oneOf, anyOf }: JsonSchema): INodePropertyOptions[] {
	const forms = oneOf ?? anyOf;
	return forms ? [{ name: `Fill in one of: ${describeForms(forms)}`, value: FORMS }] : [];
}

const describeSize = (model: string): string =>
	`The service's description of ${model} is too large to make fields of it.`;

/** n8n evaluates every text of a parameter that looks like an expression, also in stored fields. */
const hasExpression = (value: unknown): boolean =>
	typeof value === 'object' && value !== null
		? Object.values(value).some(hasExpression)
		: isExpression(value);

/** The longest notice, in characters. */
const SHOWN_NOTICE = 500;

/** Shows why there are no fields. */
export const buildNotice = (text: string): ResourceMapperFields => ({
	fields: [],
	emptyFieldsNotice: escapeHtml(cutText(text, SHOWN_NOTICE)),
});

/** The editor notices outdated fields only by their names, so the hidden entry's name is the schema's hash. */
const computeHash = (schema: JsonSchema): string =>
	createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 16);

/** Finds the path of a document's request, and the schema of its body. */
function findRequest(document: unknown): { path?: string; schema: unknown } {
	const paths = Object.entries(get(document, 'paths') ?? {});
	const [path, methods] = paths.find(([name]) => TASK_PATH.test(name)) ?? paths[0] ?? [];
	const content = get(get(get(methods, 'post'), 'requestBody'), 'content');
	return { path, schema: get(get(content, 'application/json'), 'schema') };
}

const get = (value: unknown, key: string): object | undefined => {
	const part = (value as Record<string, unknown> | null | undefined)?.[key];
	return typeof part === 'object' && part !== null ? part : undefined;
};

const toEntry = (id: string, displayName: string, type: FieldType): ResourceMapperField => ({
	id,
	displayName,
	type,
	required: false,
	defaultMatch: false,
	canBeUsedToMatch: false,
	display: true,
	readOnly: false,
});

/** Makes a field of a property. The editor shows an unset switch as on, so only a required boolean is a switch. */
function toField(name: string, { schema, isRequired }: Property): ResourceMapperField {
	const types = listTypes(schema);
	const isBoolean = types.join() === 'boolean';
	const values =
		listValues(schema)?.filter((value) => value !== null) ??
		(isBoolean && !isRequired ? [true, false] : undefined);
	return {
		...toEntry(name, nameField(name, schema), values ? 'options' : chooseType(schema, types)),
		required: isRequired,
		...(values && { options: values.map(toOption) }),
		...(typeof schema.default === 'boolean' && !values && { defaultValue: schema.default }),
		...(schema.deprecated && !isRequired && { removed: true }),
	};
}

/** The longest name of a field or choice, in characters. */
const SHOWN_NAME = 100;

const toOption = (value: unknown): INodePropertyOptions => ({
	name:
		typeof value === 'boolean' ? toTitle(String(value)) : cutText(formatValue(value), SHOWN_NAME),
	value: value as string | number | boolean,
});

/** Lists of single values are entered as text. */
function chooseType(schema: JsonSchema, types: string[]): FieldType {
	if (types.includes('string') || !types.length) return 'string';
	if (types.includes('object')) return 'object';
	if (types.includes('array')) return isListOfWords(schema) ? 'string' : 'array';
	if (types.includes('boolean')) return 'boolean';
	return types.some((type) => type === 'number' || type === 'integer') ? 'number' : 'string';
}

const takesJson = (schema: JsonSchema): boolean => {
	const types = listTypes(schema);
	return types.includes('object') || (types.includes('array') && !isListOfWords(schema));
};

const isListOfWords = (schema: JsonSchema): boolean => {
	const types = listTypes(getItems(schema));
	return types.length > 0 && !types.includes('object') && !types.includes('array');
};

/** Names a field briefly. The editor cuts names off after about 26 characters and has no other text. */
function nameField(name: string, schema: JsonSchema): string {
	const facts = [describeEntry(name, schema), describeDefault(schema)];
	return addFacts(nameProperty(name), schema.deprecated ? ['deprecated'] : facts);
}

const nameProperty = (name: string): string => cutText(toTitle(name), SHOWN_NAME);

const addFacts = (title: string, facts: Array<string | undefined>): string => {
	const known = facts.filter(Boolean).join('; ');
	return known ? `${title} (${known})` : title;
};

/** Says how to enter a value, if the field doesn't show it, and its limits besides a text's length. */
function describeEntry(name: string, schema: JsonSchema): string | undefined {
	const types = listTypes(schema);
	const isMedia = judgeMedia(name, schema) !== 'none';
	if (types.includes('array')) {
		const { minItems, maxItems } = schema;
		const range = describeCount(minItems, maxItems);
		const form = isMedia ? 'files' : takesJson(schema) ? 'JSON list' : 'list';
		return maxItems === 1 && isMedia ? 'file' : [form, range].filter(Boolean).join(', ');
	}
	if (isMedia) return 'file';
	const earlier = findEarlierPart(name, schema);
	if (earlier) return `earlier ${earlier}`;
	if (types.includes('object')) return types.includes('string') ? 'text or JSON' : 'JSON';
	return describeRange(
		schema.minimum ?? schema.exclusiveMinimum,
		schema.maximum ?? schema.exclusiveMaximum,
	);
}

/** The longest default in a name, in characters. */
const SHOWN_DEFAULT = 24;

const describeDefault = ({ default: byDefault }: JsonSchema, longest = SHOWN_DEFAULT) => {
	const text = byDefault === undefined ? '' : formatValue(byDefault);
	return text && text.length <= longest ? `default ${text}` : undefined;
};

/** Says how many there may be. A minimum of one is not worth saying. */
const describeCount = (min = 0, max?: number): string | undefined =>
	describeRange(min > (max ? 0 : 1) ? min : undefined, max);

const NUMBER_FORMAT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

function describeRange(min?: number, max?: number): string | undefined {
	const { format } = NUMBER_FORMAT;
	if (min === undefined) return max === undefined ? undefined : `up to ${format(max)}`;
	if (max === undefined) return `at least ${format(min)}`;
	return min === max ? format(min) : `${format(min)} to ${format(max)}`;
}

/** The longest text of the guide, in characters: it is stored in the workflow, and the editor shows two lines of it. */
const SHOWN_PROSE = 200;

/** Says all that is known of a property: how it is entered, its limits and default, and what the service writes about it. */
function toGuideOption(name: string, property: Property): INodePropertyOptions {
	const { isRequired, schema } = property;
	return {
		name: addFacts(nameProperty(name), [
			isRequired ? 'required' : undefined,
			...describeFacts(name, property),
		]),
		value: name,
		description: escapeHtml(shortenProse(schema.description)),
	};
}

/** Says how a property is entered, its limits and its default. */
function describeFacts(name: string, { schema }: Property): Array<string | undefined> {
	const length = describeCount(schema.minLength, schema.maxLength);
	return [
		describeEntry(name, schema),
		describeSource(name, schema),
		takesJson(schema) ? `for example ${describeExample(schema)}` : undefined,
		listShortly(listValues(getItems(schema)) ?? []),
		length && `${length} characters`,
		describeDefault(schema, SHOWN_PROSE),
		schema.deprecated ? 'deprecated' : undefined,
	];
}

/** Says where the item of an earlier task has what a property takes. */
function describeSource(name: string, schema: JsonSchema): string | undefined {
	const earlier = findEarlierPart(name, schema);
	return earlier && `its ID is ${EARLIER_IDS[earlier].slice(1)}`;
}

/** The longest example, in characters. */
const SHOWN_EXAMPLE = 500;

const describeExample = (schema: JsonSchema): string =>
	cutText(JSON.stringify(makeExample(schema)), SHOWN_EXAMPLE);

/** Objects nested deeper in an example are empty. */
const EXAMPLE_DEPTH = 3;

/** Makes an example value of a property. */
function makeExample(schema: JsonSchema, depth = 0): unknown {
	const [value = schema.default] = listValues(schema) ?? [];
	if (value !== undefined) return value;
	const types = listTypes(schema);
	const inner = depth < EXAMPLE_DEPTH;
	if (types.includes('array')) return inner ? [makeExample(getItems(schema), depth + 1)] : [];
	if (types.includes('object'))
		return Object.fromEntries(
			[...(inner ? collectProperties(schema) : [])].map(([key, property]) => [
				key,
				makeExample(property.schema, depth + 1),
			]),
		);
	if (types.includes('boolean')) return true;
	return types.includes('string') || !types.length ? '…' : (schema.minimum ?? 1);
}

/** A text that begins with = would run as an expression. */
const shortenProse = (prose = ''): string =>
	cutText(prose.replace(/\s+/g, ' ').replace(/^[\s=]+|\s$/g, ''), SHOWN_PROSE);
