import { isExpression } from 'n8n-workflow';
import { TASK_PATH } from '../api/service';
import { isObject, mapValues } from '../lib/json';
import { cutText } from '../lib/text';
import type { MediaLimits } from '../media/limits';
import { readMeanings } from './any/meanings';

/** What a model takes: reading the service's document, and questions about its schemas. */

/** What limits a text (in characters), a list, or a number. */
export type Limit = `${'min' | 'max'}${'imum' | 'Length' | 'Items'}`;

/**
 * The keywords of JSON Schema 2020-12 (OpenAPI 3.1) that are read here, with every `$ref` resolved,
 * and the branches of `anyOf`, `oneOf` and `allOf` joined. The service checks the rest.
 */
export interface JsonSchema extends Partial<Record<Limit, number>> {
	type?: string | string[];
	/** The only values. Also holds `const`. */
	enum?: unknown[];
	format?: string;
	items?: JsonSchema;
	properties?: Record<string, JsonSchema>;
	required?: string[];
	default?: unknown;
	description?: string;
	/** What the description says of values, by value. */
	meanings?: Record<string, string>;
	/** Of the node's own fields: the name in the editor. No document sets this or what follows. */
	title?: string;
	rule?: Rule;
	/** The model's limits for a file. */
	limits?: MediaLimits;
	/** A list or an object must be there if it is required, which services don't always mean. */
	isNeeded?: true;
}

/** What a text must be. Blanks around it are not sent. */
interface Rule {
	isValid: (text: string) => boolean;
	/** Follows the name of the place, for example "must be a ratio". */
	message: string;
}

export interface Property {
	name: string;
	schema: JsonSchema;
	/** Required in every branch. */
	isRequired: boolean;
}

/** What a model takes as its input. */
export interface ModelInput {
	model: string;
	schema: JsonSchema;
	properties: Property[];
}

/** What a model takes, or why that isn't known: the beginning of a sentence. */
export type FoundInput = { input: ModelInput } | { reason: string };

/** Recognizes an entry that the node adds to the fields, for example `$schema`. */
export const isOwnEntry = (name: string): boolean => name.startsWith('$');

export const describeTooLarge = (model: string): string =>
	`The service's description of ${model} is too large to make fields of it`;

/**
 * Finds what a model takes as its input. Never throws and takes milliseconds, whatever the service
 * says.
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
	if (!body) return { reason: describeTooLarge(model) };
	const schema = body.properties?.input;
	if (!schema)
		return { reason: `The service describes ${model} in a way that can't be understood` };
	if (hasExpression(schema))
		return {
			reason: `The service's description of ${model} has texts that n8n would run as expressions`,
		};
	// A property named like an entry of ours gets no field. It can be sent by Extra Fields.
	const properties = listProperties(schema).filter(({ name }) => !isOwnEntry(name));
	return properties.length
		? { input: { model, schema, properties } }
		: { reason: `The service names no fields of ${model}` };
}

/** Where the schema of a request's body is, from the methods of its path. */
const STEPS_TO_BODY = ['post', 'requestBody', 'content', 'application/json', 'schema'];

/** Finds the path that creates tasks, else the first one, with its methods. */
function findTaskPath(document: unknown): [path: string, methods: unknown] {
	const paths = getPart(document, 'paths');
	const entries = isObject(paths) ? Object.entries(paths) : [];
	return entries.find(([path]) => TASK_PATH.test(path)) ?? entries[0] ?? ['', undefined];
}

/** Says whether a value has a text or name that n8n would run once a workflow stores it. */
const hasExpression = (value: unknown): boolean =>
	typeof value === 'object' && value !== null
		? Object.entries(value).some(([key, part]) => isExpression(key) || hasExpression(part))
		: isExpression(value);

/** Lists the names in an input that a model doesn't have; none where it names no fields. */
export function listUnknown(schema: JsonSchema, input: object): string[] {
	const known = listProperties(schema).map(({ name }) => name);
	return known.length ? Object.keys(input).filter((name) => !known.includes(name)) : [];
}

/** Schemas nested deeper take anything. */
const MAX_DEPTH = 10;

/**
 * The largest schema that is read, and the largest list of fields that a workflow stores, in
 * characters of JSON. The largest known schemas have 3,000.
 */
export const MAX_SIZE = 64_000;

/** Added to the size of each schema, in characters, because every check walks all of them. */
const SCHEMA_SIZE = 100;

/** The longest text that says what values mean, in characters. */
const MAX_MEANINGS = 16_000;

const isText = (value: unknown): value is string => typeof value === 'string';
const isListOfText = (value: unknown) => Array.isArray(value) && value.every(isText);

const TYPE = /^(string|number|integer|boolean|array|object|null)$/;

/** The keywords that are read, each with a check of its value. */
const KEYWORDS: Array<[names: RegExp, isValid: (value: unknown) => boolean]> = [
	[/^(min|max)(imum|Length|Items)$/, Number.isFinite],
	[/^type$/, (value) => [value].flat().every((type) => isText(type) && TYPE.test(type))],
	[/^required$/, isListOfText],
	[/^enum$/, (value) => Array.isArray(value) && value.length > 0],
	[/^(items|properties)$/, isObject],
	[/^(format|description)$/, isText],
	[/^default$/, () => true],
];

/** Keywords that inform people, and rule out no value. */
const PROSE = /^(description|default)$/;

/**
 * Reads a schema and resolves its references. Unreadable parts allow anything, and so does a schema
 * inside itself. Names are trimmed, as the service does it.
 * @param value the schema, whatever the service wrote
 * @param document the whole document, in which `$ref` is looked up
 * @param withProse whether descriptions and defaults are read too
 * @returns undefined when the schema is larger than `MAX_SIZE`, or a reference can't be decoded
 */
export function readSchema(
	value: unknown,
	document: unknown,
	withProse = true,
): JsonSchema | undefined {
	try {
		return new SchemaReader(document, withProse).read(value, []);
	} catch {
		return undefined;
	}
}

class SchemaReader {
	/** Characters that may still be read. */
	private left = MAX_SIZE;

	constructor(
		private readonly document: unknown,
		private readonly withProse: boolean,
	) {}

	private spend(size: number): void {
		this.left -= size;
		if (this.left < 0) throw new RangeError('The schema is too large');
	}

	/** @param open the schemas around this one: if it is among them, it contains itself */
	read(value: unknown, open: unknown[]): JsonSchema {
		this.spend(SCHEMA_SIZE);
		if (!isObject(value) || open.length > MAX_DEPTH) return {};
		this.spend(Object.keys(value).length);
		const { $ref, ...own } = value;
		const target = isText($ref) ? findPart(this.document, $ref) : undefined;
		if (isObject(target) && !open.includes(target))
			return this.read({ ...target, ...own }, [...open, target]);
		const inside = [...open, value];
		const schema = this.readKeywords(own, inside);
		if (schema.enum && this.withProse && isText(own.description))
			schema.meanings = this.readMeanings(schema.enum, own.description);
		const joinBranches = (branches: unknown, allHold: boolean) =>
			Array.isArray(branches)
				? join(
						branches.map((branch) => this.read(branch, inside)),
						allHold,
					)
				: {};
		const { anyOf, oneOf, allOf } = own;
		const parts = [
			joinBranches(allOf, true),
			joinBranches(anyOf, false),
			joinBranches(oneOf, false),
		];
		return join([schema, ...parts], true);
	}

	private readKeywords(given: Record<string, unknown>, open: unknown[]): JsonSchema {
		const schema: Record<string, unknown> = {};
		for (const [name, givenValue] of Object.entries(given)) {
			const [keyword, value] = name === 'const' ? ['enum', [givenValue]] : [name, givenValue];
			if (PROSE.test(keyword) && !this.withProse) continue;
			if (KEYWORDS.some(([names, isValid]) => names.test(keyword) && isValid(value)))
				schema[keyword] = this.readKeyword(keyword, value, open);
		}
		return schema;
	}

	/** Reads none from a longer text: with hundreds of values, they would make the fields too large to store. */
	private readMeanings(values: unknown[], description: string): Record<string, string> {
		if (description.length > MAX_MEANINGS) return {};
		this.spend(description.length);
		return mapValues(readMeanings(values, description), cleanProse);
	}

	private readKeyword(keyword: string, value: unknown, open: unknown[]): unknown {
		switch (keyword) {
			case 'description':
				return cleanProse(value);
			case 'items':
				return this.read(value, open);
			case 'properties':
				return this.readProperties(value as object, open);
		}
		this.spend(JSON.stringify(value).length);
		if (keyword === 'type' && Array.isArray(value)) return [...new Set(value)];
		return keyword === 'required' ? (value as string[]).map((name) => name.trim()) : value;
	}

	private readProperties(properties: object, open: unknown[]): Record<string, JsonSchema> {
		const entries = Object.entries(properties).map(([name, value]): [string, JsonSchema] => {
			this.spend(name.length);
			return [name.trim(), this.read(value, open)];
		});
		// n8n copies parameters by assignment, which would drop it.
		return Object.fromEntries(entries.filter(([name]) => name !== '__proto__'));
	}
}

/**
 * Makes one schema of several that all hold, or of which one must. Where all hold and contradict each
 * other, the first counts: some documents have a stray branch of "string" beside an object. Where one
 * must hold, a range counts that all have, and values are those of all.
 */
function join(schemas: JsonSchema[], allHold: boolean): JsonSchema {
	const isMeant = (schema: JsonSchema) =>
		allHold ? Object.keys(schema).length > 0 : !isNull(schema);
	const meant = schemas.filter(isMeant);
	const [first, ...others] = meant;
	if (!first) return {};
	if (allHold && !others.length) return mendType(first);
	const isShared = ([name, value]: [string, unknown]) =>
		others.every((other) => isEqual(getPart(other, name), value));
	const joined: JsonSchema = allHold
		? (Object.assign({}, ...[...meant].reverse()) as JsonSchema)
		: Object.fromEntries(Object.entries(first).filter(isShared));
	const names = new Set(meant.flatMap(({ properties = {} }) => Object.keys(properties)));
	const joinProperty = (name: string) =>
		join(
			meant.flatMap(({ properties }) => (getPart(properties, name) as JsonSchema) ?? []),
			allHold,
		);
	if (names.size)
		joined.properties = Object.fromEntries([...names].map((name) => [name, joinProperty(name)]));
	const items = meant.flatMap((schema) => schema.items ?? []);
	if (items.length) joined.items = join(items, allHold);
	const isRequired = (name: string) =>
		allHold || meant.every(({ required }) => required?.includes(name));
	const required = meant.flatMap((schema) => schema.required ?? []).filter(isRequired);
	delete joined.required;
	if (required.length) joined.required = [...new Set(required)];
	if (!allHold) return joinValues(joined, schemas);
	if (first.properties && !first.type) joined.type = 'object';
	return mendType(joined);
}

/** Gives a schema the types and the values that any of several has. */
function joinValues(joined: JsonSchema, schemas: JsonSchema[]): JsonSchema {
	const types = [...new Set(schemas.flatMap(({ type = [] }) => type))];
	if (schemas.every(({ type }) => type)) joined.type = types.length > 1 ? types : types[0];
	const values = schemas.map((schema) => (isNull(schema) ? [null] : (schema.enum ?? [])));
	if (values.every(({ length }) => length > 0)) joined.enum = [...new Set(values.flat())];
	return joined;
}

/**
 * Gives a schema with values the types of these, where it has none or they contradict it: some
 * documents list numbers for a "string", or texts for a number, and then the values are right.
 */
function mendType(schema: JsonSchema): JsonSchema {
	const { type, enum: values } = schema;
	const isWrong = (value: unknown) => value !== null && !hasType(schema, value);
	if (values && (!type || values.some(isWrong))) schema.type = [...new Set(values.map(getType))];
	return schema;
}

const isNull = ({ type }: JsonSchema): boolean => String(type) === 'null';

/** Makes a text one line, without a leading =, which would make n8n run it as an expression. */
function cleanProse(prose: unknown): string {
	const line = String(prose).replace(/\s+/g, ' ');
	return cutText(line.replace(/^[\s=]+|\s$/g, ''));
}

/** Looks up an object's own part. */
export const getPart = (value: unknown, name: string): unknown =>
	isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** Looks up `#/components/…`; its segments may be percent-encoded. */
function findPart(document: unknown, reference: string): unknown {
	if (!reference.startsWith('#/') || reference.length > 200) return undefined;
	// A lone % stands for itself.
	const path = reference.slice(2).replace(/%(?![\da-f]{2})/gi, '%25');
	const names = decodeURIComponent(path).split('/');
	const unescape = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~');
	return names.map(unescape).reduce(getPart, document);
}

/** Lists the types that a value may have, null left out; none: any. */
export const listTypes = ({ type = [] }: JsonSchema): string[] =>
	[type].flat().filter((one) => one !== 'null');

export const getType = (value: unknown): string =>
	Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;

/** Says whether a value has one of a schema's own types. */
export function hasType({ type = [] }: JsonSchema, value: unknown): boolean {
	const types = [type].flat();
	const fits = (one: string) =>
		one === 'integer' ? Number.isInteger(value) : getType(value) === one;
	return !types.length || types.some(fits);
}

/** The schema of a list's entries. */
export const getItems = ({ items = {} }: JsonSchema): JsonSchema => items;

/** Says whether a value is written as JSON: an object, or a list of more than single values. */
export function takesJson(schema: JsonSchema): boolean {
	const types = listTypes(schema);
	if (types.includes('object')) return true;
	if (!types.includes('array')) return false;
	const entries = listTypes(getItems(schema));
	return !entries.length || entries.includes('object') || entries.includes('array');
}

/** Lists the properties of an object in the schema's order, and behind them what is required only. */
export function listProperties({ properties = {}, required = [] }: JsonSchema): Property[] {
	const names = new Set([...Object.keys(properties), ...required]);
	const needed = new Set(required);
	return [...names].map((name) => ({
		name,
		schema: getProperty({ properties }, name),
		isRequired: needed.has(name),
	}));
}

/** Finds the schema of a property; of one that isn't there, a schema that allows anything. */
export const getProperty = ({ properties }: JsonSchema, name: string): JsonSchema =>
	(getPart(properties, name) as JsonSchema | undefined) ?? {};

/** Says whether two JSON values are the same, with their keys in the same order. */
export const isEqual = (one: unknown, other: unknown): boolean =>
	one === other ||
	(getType(one) === getType(other) && JSON.stringify(one) === JSON.stringify(other));
