import { isExpression } from 'n8n-workflow';
import { TASK_PATH } from '../../api/service';
import { isObject } from '../../lib/json';
import { cutText } from '../../lib/text';

/** What a model takes: reading the service's document, and questions about its schemas. */

/** What limits a text (in characters), a list, or a number. */
export type Limit = `${'min' | 'max'}${'imum' | 'Length' | 'Items'}` | 'multipleOf';

/**
 * The keywords of JSON Schema 2020-12 (OpenAPI 3.1) that are read here, with every `$ref` resolved.
 * The service checks the rest.
 */
export interface JsonSchema extends Partial<Record<Limit, number>> {
	type?: string | string[];
	/** The only values. Also holds `const`. */
	enum?: unknown[];
	format?: string;
	items?: JsonSchema;
	properties?: Record<string, JsonSchema>;
	required?: string[];
	/** Also holds `oneOf`: the service checks that only one matches. */
	anyOf?: JsonSchema[];
	allOf?: JsonSchema[];
	default?: unknown;
	description?: string;
	deprecated?: boolean;
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
	const properties = [...collectProperties(schema).values()].filter(
		({ name }) => !isOwnEntry(name),
	);
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
	const known = collectProperties(schema);
	return known.size ? Object.keys(input).filter((name) => !known.has(name)) : [];
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

/** The longest text about a property, in characters: the editor shows two lines of it. */
const MAX_PROSE = 200;

const isText = (value: unknown): value is string => typeof value === 'string';
const isListOfText = (value: unknown) => Array.isArray(value) && value.every(isText);

/** The keywords that are read, each with a check of its value. */
const KEYWORDS: Array<[names: RegExp, isValid: (value: unknown) => boolean]> = [
	[/^(min|max)(imum|Length|Items)$/, Number.isFinite],
	[/^multipleOf$/, (value) => Number.isFinite(value) && Number(value) > 0],
	[/^type$/, (value) => isListOfText([value].flat())],
	[/^required$/, isListOfText],
	[/^(enum|anyOf|allOf)$/, (value) => Array.isArray(value) && value.length > 0],
	[/^(items|properties)$/, isObject],
	[/^(format|description)$/, isText],
	[/^default$/, () => true],
	[/^deprecated$/, (value) => typeof value === 'boolean'],
];

/** Keywords that inform people, and rule out no value. */
const PROSE = /^(description|default|deprecated)$/;

/**
 * Reads a schema and resolves its references. Unreadable parts allow anything, and so does a schema
 * inside itself. Names are trimmed, as the service does it.
 * @param value the schema, whatever the service wrote
 * @param document the whole document, in which `$ref` is looked up
 * @param withProse whether descriptions, defaults and "deprecated" are read too
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
		const schema = this.readKeywords(own, [...open, value]);
		mendType(schema);
		for (const branch of listBranches(schema)) mendBranch(branch, schema);
		return schema;
	}

	private readKeywords(given: Record<string, unknown>, open: unknown[]): JsonSchema {
		const schema: Record<string, unknown> = {};
		for (const [name, givenValue] of Object.entries(given)) {
			const [keyword, value] = toKeyword(name, givenValue);
			if (PROSE.test(keyword) && !this.withProse) continue;
			if (KEYWORDS.some(([names, isValid]) => names.test(keyword) && isValid(value)))
				schema[keyword] = this.readKeyword(keyword, value, open);
		}
		return schema;
	}

	private readKeyword(keyword: string, value: unknown, open: unknown[]): unknown {
		switch (keyword) {
			case 'description':
				return cleanProse(value as string);
			case 'items':
				return this.read(value, open);
			case 'properties':
				return this.readProperties(value as object, open);
			case 'anyOf':
			case 'allOf':
				return (value as unknown[]).map((branch) => this.read(branch, open));
		}
		this.spend(JSON.stringify(value).length);
		// Each type is compared with each value, and both lists may be long.
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

/** Writes `const` and `oneOf` as the keywords that stand for them in a JsonSchema. */
function toKeyword(name: string, value: unknown): [keyword: string, value: unknown] {
	if (name === 'const') return ['enum', [value]];
	return [name === 'oneOf' ? 'anyOf' : name, value];
}

/**
 * Removes a type that the schema's own values contradict: some documents list numbers for a
 * "string", or texts for a number, and then the values are right.
 */
function mendType(schema: JsonSchema): void {
	const isOfAnotherType = (value: unknown) => value !== null && !hasType(schema, value);
	if (schema.enum?.some(isOfAnotherType)) delete schema.type;
}

/**
 * Removes a branch's type where it contradicts the schema around it. Some documents have a stray
 * "string" beside an object, which no value could match.
 */
function mendBranch(branch: JsonSchema, around: JsonSchema): void {
	const types = [branch.type ?? []].flat();
	const outer = [around.type ?? []].flat();
	if (outer.length && !types.some((type) => outer.includes(type))) delete branch.type;
	for (const [name, part] of Object.entries(branch.properties ?? {}))
		mendBranch(part, around.properties?.[name] ?? {});
	for (const inner of listBranches(branch)) mendBranch(inner, around);
}

/** Makes a text one line, without a leading =, which would make n8n run it as an expression. */
function cleanProse(prose: string): string {
	const line = prose.slice(0, 2 * MAX_PROSE).replace(/\s+/g, ' ');
	return cutText(line.replace(/^[\s=]+|\s$/g, ''), MAX_PROSE);
}

/** Looks up an object's own part. */
export const getPart = (value: unknown, name: string): unknown =>
	isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** Looks up `#/components/…`; its segments may be percent-encoded. */
function findPart(document: unknown, reference: string): unknown {
	if (!reference.startsWith('#/') || reference.length > MAX_PROSE) return undefined;
	// A lone % stands for itself.
	const path = reference.slice(2).replace(/%(?![\da-f]{2})/gi, '%25');
	const names = decodeURIComponent(path).split('/');
	const unescape = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~');
	return names.map(unescape).reduce(getPart, document);
}

/** Makes a function that remembers what it found for a schema: every entry of a list asks anew. */
function remember<T>(find: (schema: JsonSchema) => T): (schema: JsonSchema) => T {
	const known = new WeakMap<JsonSchema, { found: T }>();
	return (schema) => {
		const remembered = known.get(schema);
		if (remembered) return remembered.found;
		const found = find(schema);
		known.set(schema, { found });
		return found;
	};
}

/** Lists a schema's alternatives and the schemas that hold beside it. */
const listBranches = ({ anyOf = [], allOf = [] }: JsonSchema): JsonSchema[] => [...anyOf, ...allOf];

/** Lists the types that a value may have, null left out; none: any. */
export const listTypes = remember((schema): string[] => {
	const types = schema.type === undefined ? deriveTypes(schema) : [schema.type].flat();
	return [...new Set(types)].filter((type) => type !== 'null');
});

/** Derives the types of a schema without `type` from its values, else from its branches. */
function deriveTypes(schema: JsonSchema): string[] {
	if (schema.enum?.length) return schema.enum.map(getType);
	return listBranches(schema).flatMap(listTypes);
}

export const getType = (value: unknown): string =>
	Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;

/** Returns the values that a schema lists; none: any. */
export const getValues = remember((schema): ReadonlySet<unknown> => new Set(schema.enum));

/** Says whether a value has one of a schema's own types. A type that JSON Schema lacks fits all. */
export function hasType({ type = [] }: JsonSchema, value: unknown): boolean {
	const types = [type].flat();
	const fits = (one: string) => {
		if (one === 'integer') return Number.isInteger(value);
		const isKnown = /^(string|number|boolean|array|object|null)$/.test(one);
		return !isKnown || getType(value) === one;
	};
	return !types.length || types.some(fits);
}

/** Finds the schema of a list's entries, in the schema itself or the first branch that has one. */
export const getItems = remember((schema): JsonSchema => {
	if (schema.items) return schema.items;
	const ofBranches = listBranches(schema).map(getItems);
	return ofBranches.find((items) => !isEmpty(items)) ?? {};
});

/** Says whether a value is written as JSON: an object, or a list of more than single values. */
export function takesJson(schema: JsonSchema): boolean {
	const types = listTypes(schema);
	if (types.includes('object')) return true;
	if (!types.includes('array')) return false;
	const entries = listTypes(getItems(schema));
	return !entries.length || entries.includes('object') || entries.includes('array');
}

/** Collects the properties of an object and of all its branches by name, in the schema's order. */
export const collectProperties = remember((schema): ReadonlyMap<string, Property> => {
	const { properties = {}, required = [], anyOf = [], allOf = [] } = schema;
	const collected = new Map<string, Property>();
	const add = (property: Property) => {
		const known = collected.get(property.name);
		collected.set(property.name, known ? joinProperties(known, property) : property);
	};
	for (const [name, part] of Object.entries(properties))
		add({ name, schema: part, isRequired: false });
	// A value must match all of these, so what one requires is required.
	for (const branch of allOf)
		for (const property of collectProperties(branch).values()) add(property);
	// It may match any of these, so only what each requires is required.
	const alternatives = anyOf.map(collectProperties);
	const isInAll = (name: string) => alternatives.every((one) => one.get(name)?.isRequired);
	for (const alternative of alternatives)
		for (const property of alternative.values())
			add({ ...property, isRequired: isInAll(property.name) });
	for (const name of required) add({ name, schema: {}, isRequired: true });
	return collected;
});

/** Makes one property of two with one name: it may be what either may be. */
const joinProperties = (known: Property, other: Property): Property => ({
	name: known.name,
	schema: join(known.schema, other.schema),
	isRequired: known.isRequired || other.isRequired,
});

/**
 * Makes a schema that allows what either allows: one flat list of alternatives, however many are
 * joined. An empty schema adds nothing.
 */
function join(known: JsonSchema, other: JsonSchema): JsonSchema {
	if (isEmpty(known)) return other;
	const { anyOf, ...beside } = known;
	const alternatives = anyOf && isEmpty(beside) ? anyOf : [known];
	if (isEmpty(other) || alternatives.some((one) => isEqual(one, other))) return known;
	return { anyOf: [...alternatives, other] };
}

const isEmpty = (schema: JsonSchema): boolean => Object.keys(schema).length === 0;

/** Says whether two JSON values are the same, with their keys in the same order. */
export const isEqual = (one: unknown, other: unknown): boolean =>
	one === other ||
	(getType(one) === getType(other) && JSON.stringify(one) === JSON.stringify(other));
