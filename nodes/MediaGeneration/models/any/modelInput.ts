import { isExpression } from 'n8n-workflow';
import { isObject } from '../../lib/json';
import { collectProperties, type JsonSchema, type Property } from './jsonSchema';
import { readSchema } from './readSchema';

/** What a model takes as its input. */
export interface ModelInput {
	model: string;
	schema: JsonSchema;
	properties: Property[];
}

/** A model whose document has another path answers at once. */
const TASK_PATH = /\/jobs\/createTask$/i;

/** The names of entries that the node itself adds to the fields. */
export const OWN_ENTRIES = { schema: '$schema', guide: '$guide', noPrompt: '$noPrompt' };

/** Recognizes an entry of the fields that is no property of the model. */
export const isOwnEntry = (name: string): boolean => Object.values(OWN_ENTRIES).includes(name);

/**
 * Finds what a model takes as its input. Whatever the service says, this never throws and takes
 * milliseconds.
 * @param document its OpenAPI document; null: the service has none yet
 * @returns why not, for a model that can't be filled in: the beginning of a sentence
 */
export function findInput(model: string, document: unknown): ModelInput | string {
	if (document === null) return `The service doesn't say yet which fields ${model} takes`;
	const paths = Object.entries(get(document, 'paths') ?? {});
	const [path = '', methods] = paths.find(([name]) => TASK_PATH.test(name)) ?? paths[0] ?? [];
	if (path && !TASK_PATH.test(path))
		return `${model} answers at once and makes no task, so this node can't use it: choose another model`;
	const steps = ['post', 'requestBody', 'content', 'application/json', 'schema'];
	const body = readSchema(steps.reduce<unknown>(get, methods), document);
	if (!body) return `The service's description of ${model} is too large to make fields of it`;
	const schema = body.properties?.input;
	if (!schema) return `The service describes ${model} in a way that can't be understood`;
	if (hasExpression(schema))
		return `The service's description of ${model} has texts that n8n would run as expressions`;
	// A property with the name of an entry of ours has no field. Extra Fields can give it.
	const all = [...collectProperties(schema).values()];
	const properties = all.filter(({ name }) => !isOwnEntry(name));
	return properties.length
		? { model, schema, properties }
		: `The service names no fields of ${model}`;
}

const get = (value: unknown, key: string): object | undefined => {
	const part = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
	return isObject(part) ? part : undefined;
};

/** Says whether n8n would run a text or name in a value, wherever the workflow stores it. */
const hasExpression = (value: unknown): boolean =>
	typeof value === 'object' && value !== null
		? Object.entries(value).some(([key, part]) => isExpression(key) || hasExpression(part))
		: isExpression(value);

/** Lists the names in an input that a model doesn't have; none where it names no fields. */
export function listUnknown(schema: JsonSchema, input: object): string[] {
	const known = collectProperties(schema);
	return known.size ? Object.keys(input).filter((name) => !known.has(name)) : [];
}
