import { isExpression } from 'n8n-workflow';
import { isObject } from '../../lib/json';
import { collectProperties, type JsonSchema, type Property } from './jsonSchema';
import { getPart, readSchema } from './readSchema';

/** What a model takes as its input. */
export interface ModelInput {
	model: string;
	schema: JsonSchema;
	properties: Property[];
}

/** A model whose document has another path answers at once. */
const TASK_PATH = /\/jobs\/createTask$/i;

/** Recognizes an entry of the fields that the node itself adds, for example `$schema`. */
export const isOwnEntry = (name: string): boolean => name.startsWith('$');

export const describeTooLarge = (model: string): string =>
	`The service's description of ${model} is too large to make fields of it`;

/**
 * Finds what a model takes as its input. Whatever the service says, this never throws and takes
 * milliseconds.
 * @param document its OpenAPI document; null: the service has none yet
 * @returns why not, for a model that can't be filled in: the beginning of a sentence
 */
export function findInput(model: string, document: unknown): ModelInput | string {
	if (document === null) return `The service doesn't say yet which fields ${model} takes`;
	const all = getPart(document, 'paths');
	const paths = Object.entries(isObject(all) ? all : {});
	const [path = '', methods] = paths.find(([name]) => TASK_PATH.test(name)) ?? paths[0] ?? [];
	if (path && !TASK_PATH.test(path))
		return `${model} answers at once and makes no task, so this node can't use it: choose another model`;
	const steps = ['post', 'requestBody', 'content', 'application/json', 'schema'];
	const body = readSchema(steps.reduce(getPart, methods), document);
	if (!body) return describeTooLarge(model);
	const schema = body.properties?.input;
	if (!schema) return `The service describes ${model} in a way that can't be understood`;
	if (hasExpression(schema))
		return `The service's description of ${model} has texts that n8n would run as expressions`;
	// A property whose name is like an entry of ours has no field. Extra Fields can give it.
	const properties = [...collectProperties(schema).values()].filter(
		({ name }) => !isOwnEntry(name),
	);
	return properties.length
		? { model, schema, properties }
		: `The service names no fields of ${model}`;
}

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
