import type {
	FieldType,
	INodePropertyOptions,
	ResourceMapperField,
	ResourceMapperFields,
} from 'n8n-workflow';
import {
	collectProperties,
	formatValue,
	getItems,
	listTypes,
	listValues,
	readSchema,
	removeProse,
	toTitle,
	type JsonSchema,
	type Property,
} from './jsonSchema';
import { judgeMedia } from './mediaProperty';

/** An entry of the mapper that the editor stores and doesn't show. With it a run needs no catalogue. */
export interface StoredSchema extends ResourceMapperField {
	/** The model whose fields these are. */
	model: string;
	/** Its input, for the checks before a task is paid for. */
	inputSchema: JsonSchema;
}

const STORED_SCHEMA = '$schema';

/** Finds the model's schema among the entries of a mapper. */
export const findStoredSchema = (fields: ResourceMapperField[]): StoredSchema | undefined =>
	fields.find((field): field is StoredSchema => field.id === STORED_SCHEMA);

/** A document with another path is of a model that answers at once. */
const TASK_PATH = /\/jobs\/createTask$/i;

const USE_JSON = 'To use it, set Input Mode to JSON.';

/**
 * Makes the editor's fields of a model.
 * @param document its OpenAPI document; null: the service has none yet
 * @returns no fields, and why, for a model that can't be filled in
 */
export function toMapperFields(model: string, document: unknown): ResourceMapperFields {
	if (document === null)
		return refuse(`The service doesn't say yet which fields ${model} takes. ${USE_JSON}`);
	const [path, body] = findRequest(document);
	if (path !== undefined && !TASK_PATH.test(path))
		return refuse(
			`${model} answers at once and makes no task, so this node can't use it. Choose another model.`,
		);
	const input = body?.properties?.input;
	if (!input)
		return refuse(`The service describes ${model} in a way that can't be understood. ${USE_JSON}`);
	const properties = [...collectProperties(input)];
	if (!properties.length) return refuse(`The service names no fields of ${model}. ${USE_JSON}`);
	const stored: StoredSchema = {
		...toEntry(STORED_SCHEMA, '', 'object'),
		display: false,
		model,
		inputSchema: removeProse(input, (name, schema) => judgeMedia(name, schema) === 'likely'),
	};
	return { fields: [...properties.map(([name, property]) => toField(name, property)), stored] };
}

const refuse = (emptyFieldsNotice: string): ResourceMapperFields => ({
	fields: [],
	emptyFieldsNotice,
});

/** Finds the path of a document's request, and the schema of its body. */
function findRequest(document: unknown): [path?: string, body?: JsonSchema] {
	const paths = Object.entries(get(document, 'paths') ?? {});
	const [path, methods] = paths.find(([name]) => TASK_PATH.test(name)) ?? paths[0] ?? [];
	const content = get(get(get(methods, 'post'), 'requestBody'), 'content');
	const schema = get(get(content, 'application/json'), 'schema');
	return [path, schema && readSchema(schema, document)];
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

/**
 * Makes a field of a property. The editor shows no description of a mapper's field, so what can be entered stands in its name.
 * Nothing is sent that the user did not set: only a switch has a value from the start, so it is used where off is what the service
 * takes anyway.
 */
function toField(name: string, { schema, isRequired }: Property): ResourceMapperField {
	const values = listValues(schema)?.filter((value) => value !== null);
	const types = listTypes(schema);
	const isSwitch =
		!values && types.join() === 'boolean' && (isRequired || schema.default === false);
	const options = values ?? (types.join() === 'boolean' && !isSwitch ? [true, false] : undefined);
	return {
		...toEntry(name, describeField(name, schema), options ? 'options' : chooseType(schema, types)),
		required: isRequired,
		...(options && { options: options.map(toOption) }),
		...(isSwitch && !isRequired && { defaultValue: null }),
		...(schema.deprecated && !isRequired && { removed: true }),
	};
}

const toOption = (value: unknown): INodePropertyOptions => ({
	name: typeof value === 'boolean' ? toTitle(String(value)) : formatValue(value),
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

const isListOfWords = (schema: JsonSchema): boolean => {
	const types = listTypes(getItems(schema));
	return types.length > 0 && !types.includes('object') && !types.includes('array');
};

/** The longest default that is shown, in characters. */
const SHOWN_DEFAULT = 24;

/** Names a field, with what can be entered and what the service takes when it is left blank. */
function describeField(name: string, schema: JsonSchema): string {
	const isList = listTypes(schema).includes('array');
	const byDefault = schema.default === undefined ? '' : formatValue(schema.default);
	const facts = [
		describeEntry(name, schema, isList),
		describeLimits(schema),
		byDefault && byDefault.length <= SHOWN_DEFAULT && `default ${byDefault}`,
		schema.deprecated && 'deprecated',
	].filter(Boolean);
	return `${toTitle(name)}${facts.length ? ` (${facts.join('; ')})` : ''}`;
}

/** Says how a value is entered, where its name doesn't. */
function describeEntry(name: string, schema: JsonSchema, isList: boolean): string | undefined {
	const types = listTypes(schema);
	if (judgeMedia(name, schema) !== 'none')
		return isList ? 'URLs or binary fields, separated by commas' : 'URL or binary field';
	if (isList) {
		const items = getItems(schema);
		const values = listValues(items);
		if (values) return `${values.map(formatValue).join(', ')}; separated by commas`;
		return isListOfWords(schema) ? 'separated by commas' : `JSON list${describeKeys(items)}`;
	}
	return types.includes('object') ? `JSON${describeKeys(schema)}` : undefined;
}

const describeKeys = (schema: JsonSchema): string => {
	const keys = [...collectProperties(schema).keys()].map((key) => key.trim());
	return keys.length ? ` with ${keys.join(', ')}` : '';
};

/** Says what the schema allows. That something must be given is no news. */
function describeLimits(schema: JsonSchema): string | undefined {
	const { maxLength, maxItems } = schema;
	const atLeast = (min = 0, max?: number) => (min > (max === undefined ? 1 : 0) ? min : undefined);
	return (
		describeRange(atLeast(schema.minLength, maxLength), maxLength, 'characters') ??
		describeRange(
			atLeast(schema.minItems, maxItems),
			maxItems,
			maxItems === 1 ? 'entry' : 'entries',
		) ??
		describeRange(
			schema.minimum ?? schema.exclusiveMinimum,
			schema.maximum ?? schema.exclusiveMaximum,
		)
	);
}

function describeRange(min?: number, max?: number, unit = ''): string | undefined {
	const format = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 20 });
	const numbers =
		min !== undefined && max !== undefined
			? min === max
				? format(min)
				: `${format(min)} to ${format(max)}`
			: max !== undefined
				? `up to ${format(max)}`
				: min !== undefined && `at least ${format(min)}`;
	return numbers ? [numbers, unit].filter(Boolean).join(' ') : undefined;
}
