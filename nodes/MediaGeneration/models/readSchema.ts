import { TASK_PATH } from '../api/service';
import { dropUndefined, isObject, mapValues } from '../lib/json';
import { cutText } from '../lib/text';
import { getPart, getType, hasType, isEqual, listProperties, type JsonSchema } from './schema';

/* Reads what a model takes, from the service's document or from a workflow. */

/** The schema of a model's input, or why it isn't known: the beginning of a sentence. */
export type FoundInput = { schema: JsonSchema } | { reason: string };

/**
 * Finds what a model takes as its input. Whatever the document is, this takes milliseconds and never
 * throws.
 * @param document its OpenAPI document; null: the service has none yet
 */
export function findInput(model: string, document: unknown): FoundInput {
	if (document === null)
		return { reason: `The service doesn't say yet which fields ${model} takes` };
	const [path, methods] = findTaskPath(document);
	if (path && !TASK_PATH.test(path))
		return {
			reason: `${model} answers at once and makes no task, so this node can't use it: choose another model`,
		};
	const body = readSchema(STEPS_TO_BODY.reduce(getPart, methods), document);
	const schema = body?.properties?.input ?? {};
	if (hasExpression(schema))
		return {
			reason: `The service's description of ${model} has texts that n8n would run as expressions`,
		};
	return listProperties(schema).length
		? { schema }
		: { reason: `The service names no fields of ${model} that this node can understand` };
}

/** The keys that lead from a path's methods to the schema of its request's body. */
const STEPS_TO_BODY = ['post', 'requestBody', 'content', 'application/json', 'schema'];

/** Finds the path that creates tasks, else the first one, with its methods. */
function findTaskPath(document: unknown): [path: string, methods: unknown] {
	const paths = Object.entries(getPart(document, 'paths') ?? {});
	return paths.find(([path]) => TASK_PATH.test(path)) ?? paths[0] ?? ['', undefined];
}

/**
 * Says whether a value has a text or name that n8n would run once a workflow stores it: one that begins
 * with `=`. A quote within a text has a backslash before it in JSON, so only a text's first quote matches.
 */
const hasExpression = (value: unknown): boolean => /[{[:,]"=/.test(JSON.stringify(value));

/** The most schemas that are read of a document, because every check walks all of them. */
const MOST_SCHEMAS = 640;

/** The longest description that is searched for what values mean, in characters. */
const LONGEST_DESCRIPTION = 16_000;

const isText = (value: unknown): value is string => typeof value === 'string';

const TYPE = /^(string|number|integer|boolean|array|object|null)$/;

/**
 * Reads a schema and resolves its references. Unreadable parts allow anything, and so does a schema
 * inside itself. Names are trimmed, as the service trims them.
 * @param value the schema, whatever the service wrote
 * @param document the whole document, in which `$ref` is looked up
 * @returns undefined when the schema is too large, or a reference can't be decoded
 */
export function readSchema(value: unknown, document: unknown): JsonSchema | undefined {
	try {
		return new SchemaReader(document).read(value, []);
	} catch {
		return undefined;
	}
}

class SchemaReader {
	/** How many schemas may still be read. */
	private budget = MOST_SCHEMAS;

	constructor(private readonly document: unknown) {}

	/** @param around the schemas that contain this schema. If this schema is among them, it contains itself */
	read(value: unknown, around: unknown[]): JsonSchema {
		if (--this.budget < 0) throw new RangeError('The schema is too large');
		if (!isObject(value)) return {};
		const { $ref, ...keywords } = value;
		const target = isText($ref) ? findPart(this.document, $ref) : undefined;
		if (isObject(target) && !around.includes(target))
			return this.read({ ...target, ...keywords }, [...around, target]);
		const inside = [...around, value];
		if ('const' in keywords) keywords.enum = [keywords.const];
		const schema: JsonSchema = dropUndefined(
			mapValues(keywords, (part, keyword) => this.readKeyword(keyword, part, inside)),
		);
		const { description, anyOf, oneOf, allOf } = keywords;
		if (schema.enum && isText(description) && description.includes('\n'))
			schema.meanings = readMeanings(schema.enum, description.slice(0, LONGEST_DESCRIPTION));
		const readAll = (branches: unknown) =>
			Array.isArray(branches) ? branches.map((branch) => this.read(branch, inside)) : [];
		const choices = [anyOf, oneOf].map((branches) => joinChoices(readAll(branches)));
		return joinAll([schema, joinAll(readAll(allOf)), ...choices]);
	}

	/** @returns undefined for a keyword that isn't read, or says nothing that can be understood */
	private readKeyword(keyword: string, value: unknown, around: unknown[]): unknown {
		switch (keyword) {
			case 'type':
				return [value].flat().every((one) => isText(one) && TYPE.test(one)) ? value : undefined;
			case 'enum':
				return Array.isArray(value) && value.length ? value : undefined;
			case 'required':
				return Array.isArray(value) && value.every(isText)
					? value.map((name) => name.trim())
					: undefined;
			case 'items':
				return isObject(value) ? this.read(value, around) : undefined;
			case 'properties':
				return isObject(value) ? this.readProperties(value, around) : undefined;
			case 'description':
			case 'format':
				return isText(value) ? cleanProse(value) : undefined;
			case 'default':
				return value;
		}
		const isBound = /^(min|max)(imum|Length|Items)$/.test(keyword);
		return isBound && Number.isFinite(value) ? value : undefined;
	}

	private readProperties(properties: object, around: unknown[]): Record<string, JsonSchema> {
		const pairs = Object.entries(properties).map(([name, value]): [string, JsonSchema] => [
			name.trim(),
			this.read(value, around),
		]);
		// n8n copies parameters by assignment, which would drop this name.
		return Object.fromEntries(pairs.filter(([name]) => name !== '__proto__'));
	}
}

/** What stands between a value and its meaning, in code or Markdown. */
const MEANING = /^[`"'*]*(?: [-–—] |[:：])[*\s]*(.+)/;

/**
 * Reads what a description says of values, each on a line of its own, such as "- fun: more playful".
 * Some values, such as IDs of voices, mean nothing to a user without the description.
 */
function readMeanings(values: unknown[], description: string): Record<string, string> {
	const lines = description.split('\n').map((line) => line.replace(/^(?:[-*•]\s+)?[`"'*]*/, ''));
	const pairs = values.map(String).flatMap((value) =>
		lines
			.filter((line) => line.startsWith(value))
			.map((line) => MEANING.exec(line.slice(value.length))?.[1] ?? '')
			.filter(Boolean)
			.map((meaning) => [value, cleanProse(meaning)]),
	);
	return Object.fromEntries(pairs) as Record<string, string>;
}

/** Makes a text one line, without a leading =, which would make n8n run it as an expression. */
function cleanProse(prose: string): string {
	const line = prose.replace(/\s+/g, ' ');
	return cutText(line.replace(/^[\s=]+|\s$/g, ''));
}

/** Looks up `#/components/…`; its segments may be percent-encoded. */
function findPart(document: unknown, reference: string): unknown {
	if (!reference.startsWith('#/')) return undefined;
	const names = decodeURIComponent(reference.slice(2)).split('/');
	const unescape = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~');
	return names.map(unescape).reduce(getPart, document);
}

/**
 * Makes one schema of several that all hold, as in `allOf`. The first wins a contradiction, because some
 * documents have a stray branch of "string" beside an object.
 */
function joinAll(schemas: JsonSchema[]): JsonSchema {
	const filled = schemas.filter((schema) => Object.keys(schema).length > 0);
	const [first, ...others] = filled;
	if (!first) return {};
	if (!others.length) return mendType(first);
	const joined = Object.assign({}, ...[...filled].reverse()) as JsonSchema;
	setParts(joined, filled, joinAll, () => true);
	if (first.properties && !first.type) joined.type = 'object';
	return mendType(joined);
}

/**
 * Makes one schema of several of which one holds, as in `anyOf`. A range counts only if all have the
 * same, and the values of all are allowed.
 */
function joinChoices(schemas: JsonSchema[]): JsonSchema {
	const choices = schemas.filter((schema) => !isNull(schema));
	const [first, ...others] = choices;
	if (!first) return {};
	const isShared = ([name, value]: [string, unknown]) =>
		others.every((other) => isEqual(getPart(other, name), value));
	const joined: JsonSchema = Object.fromEntries(Object.entries(first).filter(isShared));
	const isRequiredByAll = (name: string) =>
		choices.every(({ required }) => required?.includes(name));
	setParts(joined, choices, joinChoices, isRequiredByAll);
	return joinValues(joined, schemas);
}

/**
 * Sets the parts that several schemas have: properties, items, and the names of required properties.
 * @param isRequired says whether a property is required that at least one schema requires
 */
function setParts(
	joined: JsonSchema,
	schemas: JsonSchema[],
	join: (schemas: JsonSchema[]) => JsonSchema,
	isRequired: (name: string) => boolean,
): void {
	const names = Object.assign({}, ...schemas.map((one) => one.properties)) as object;
	const properties = mapValues(names, (_, name) =>
		join(schemas.flatMap((one) => (getPart(one.properties, name) as JsonSchema) ?? [])),
	);
	if (Object.keys(properties).length) joined.properties = properties;
	const items = schemas.flatMap((schema) => schema.items ?? []);
	if (items.length) joined.items = join(items);
	const required = schemas.flatMap((schema) => schema.required ?? []).filter(isRequired);
	// Always the last key, because the order of keys counts in the digest that workflows store.
	delete joined.required;
	if (required.length) joined.required = [...new Set(required)];
}

/** Gives a schema all types, and all values, of several schemas. */
function joinValues(joined: JsonSchema, schemas: JsonSchema[]): JsonSchema {
	const types = [...new Set(schemas.flatMap(({ type = [] }) => type))];
	if (schemas.every(({ type }) => type)) joined.type = types.length > 1 ? types : types[0];
	const values = schemas.map((schema) => (isNull(schema) ? [null] : (schema.enum ?? [])));
	if (values.every(({ length }) => length > 0)) joined.enum = [...new Set(values.flat())];
	return joined;
}

/**
 * Corrects the type of a schema that lists values: some documents list numbers for a "string", or texts
 * for a number. The values are right then, so the type becomes theirs.
 */
function mendType(schema: JsonSchema): JsonSchema {
	const { type, enum: values } = schema;
	const isOfOtherType = (value: unknown) => value !== null && !hasType(schema, value);
	if (values && (!type || values.some(isOfOtherType)))
		schema.type = [...new Set(values.map(getType))];
	return schema;
}

const isNull = ({ type }: JsonSchema): boolean => String(type) === 'null';
