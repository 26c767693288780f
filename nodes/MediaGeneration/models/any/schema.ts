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
	const all = getPart(document, 'paths');
	const paths = Object.entries(isObject(all) ? all : {});
	const [path = '', methods] = paths.find(([name]) => TASK_PATH.test(name)) ?? paths[0] ?? [];
	if (path && !TASK_PATH.test(path))
		return {
			reason: `${model} answers at once and makes no task, so this node can't use it: choose another model`,
		};
	const steps = ['post', 'requestBody', 'content', 'application/json', 'schema'];
	const body = readSchema(steps.reduce(getPart, methods), document);
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

/** The keywords that are read, each with the form that it must have. */
const KEYWORDS: Array<[keywords: RegExp, hasForm: (value: unknown) => boolean]> = [
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

/**
 * Reads a schema and resolves its references. Unreadable parts allow anything, and so does a schema
 * inside itself. Names are trimmed, as the service does it.
 * @param value the schema, of any form
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

	/** @param open the schemas around this one, which end a schema that contains itself */
	read(value: unknown, open: unknown[]): JsonSchema {
		this.spend(SCHEMA_SIZE);
		if (!isObject(value) || open.length > MAX_DEPTH) return {};
		this.spend(Object.keys(value).length);
		const { $ref, ...own } = value;
		const target = isText($ref) ? findPart(this.document, $ref) : undefined;
		if (isObject(target) && !open.includes(target))
			return this.read({ ...target, ...own }, [...open, target]);
		const schema: Record<string, unknown> & JsonSchema = {};
		for (const [name, given] of Object.entries(own)) {
			const keyword = name === 'const' ? 'enum' : name === 'oneOf' ? 'anyOf' : name;
			const part = name === 'const' ? [given] : given;
			const isRead = KEYWORDS.some(
				([keywords, hasForm]) => keywords.test(keyword) && hasForm(part),
			);
			if (isRead && (this.withProse || !/^(description|default|deprecated)$/.test(keyword)))
				schema[keyword] = this.readPart(keyword, part, [...open, value]);
		}
		const { enum: values = [] } = schema;
		// Some documents list numbers for a "string", or texts for a number. The values are right then.
		if (values.some((one) => one !== null && !hasType(schema, one))) delete schema.type;
		for (const branch of listBranches(schema)) align(branch, schema);
		return schema;
	}

	private readPart(keyword: string, part: unknown, open: unknown[]): unknown {
		if (keyword === 'description') return cleanProse(String(part));
		if (keyword === 'items') return this.read(part, open);
		if (keyword === 'properties') return this.readProperties(Object.entries(part as object), open);
		if (/^(any|all)Of$/.test(keyword))
			return (part as unknown[]).map((one) => this.read(one, open));
		this.spend(JSON.stringify(part).length);
		// Each type is compared with each value, and both lists may be long.
		if (keyword === 'type' && Array.isArray(part)) return [...new Set(part)];
		return keyword === 'required' ? (part as string[]).map((name) => name.trim()) : part;
	}

	private readProperties(parts: Array<[string, unknown]>, open: unknown[]) {
		const entries = parts.map(([name, part]): [string, JsonSchema] => {
			this.spend(name.length);
			return [name.trim(), this.read(part, open)];
		});
		// n8n copies parameters by assignment, which would drop it.
		return Object.fromEntries(entries.filter(([name]) => name !== '__proto__'));
	}
}

/**
 * Removes a branch's type where it contradicts the schema around it. Some documents have a stray
 * "string" beside an object, which no value could match.
 */
function align(branch: JsonSchema, around: JsonSchema): void {
	const types = [branch.type ?? []].flat();
	const outer = [around.type ?? []].flat();
	if (outer.length && !types.some((type) => outer.includes(type))) delete branch.type;
	for (const [name, part] of Object.entries(branch.properties ?? {}))
		align(part, around.properties?.[name] ?? {});
	for (const inner of listBranches(branch)) align(inner, around);
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

/** Remembers the result for each schema, because every entry of a list asks for it. */
function remember<T>(find: (schema: JsonSchema) => T): (schema: JsonSchema) => T {
	const known = new WeakMap<JsonSchema, { found: T }>();
	return (schema) => {
		const { found } = known.get(schema) ?? { found: find(schema) };
		known.set(schema, { found });
		return found;
	};
}

const listBranches = ({ anyOf = [], allOf = [] }: JsonSchema): JsonSchema[] => [...anyOf, ...allOf];

/** Lists the types that a value may have; none: any. */
export const listTypes = remember((schema): string[] => {
	const { type, enum: values = [] } = schema;
	const types = values.length ? values.map(getType) : listBranches(schema).flatMap(listTypes);
	return [...new Set([type ?? types].flat())].filter((one) => one !== 'null');
});

export const getType = (value: unknown): string =>
	Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;

/** Returns the values that a schema lists; none: any. */
export const getValues = remember((schema): ReadonlySet<unknown> => new Set(schema.enum));

/** Says whether a value has one of a schema's own types. A type that JSON Schema lacks fits all. */
export function hasType({ type = [] }: JsonSchema, value: unknown): boolean {
	const types = [type].flat();
	const isOf = (one: string) =>
		one === 'integer'
			? Number.isInteger(value)
			: getType(value) === one || !/^(string|number|boolean|array|object|null)$/.test(one);
	return !types.length || types.some(isOf);
}

/** Finds the schema of a list's entries. */
export const getItems = remember((schema): JsonSchema => {
	const inBranches = () => listBranches(schema).map(getItems);
	return schema.items ?? inBranches().find((items) => Object.keys(items).length) ?? {};
});

/** Says whether a value is written as JSON: an object, or a list of more than single values. */
export function takesJson(schema: JsonSchema): boolean {
	const entries = listTypes(getItems(schema));
	const isDeep = !entries.length || entries.includes('object') || entries.includes('array');
	return listTypes(schema).some((type) => type === 'object' || (type === 'array' && isDeep));
}

/** Collects the properties of an object and of all its branches by name, in the schema's order. */
export const collectProperties = remember((schema): ReadonlyMap<string, Property> => {
	const { properties = {}, required = [], anyOf = [], allOf = [] } = schema;
	const found = new Map<string, Property>();
	const add = (name: string, part: JsonSchema, needed: boolean) => {
		const { schema: known = {}, isRequired = false } = found.get(name) ?? {};
		found.set(name, { name, schema: join(known, part), isRequired: needed || isRequired });
	};
	for (const [name, part] of Object.entries(properties)) add(name, part, false);
	for (const branches of [...allOf.map((branch) => [branch]), anyOf]) {
		const forms = branches.map(collectProperties);
		const isNeeded = (name: string) => forms.every((form) => form.get(name)?.isRequired);
		for (const { name, schema: part } of forms.flatMap((form) => [...form.values()]))
			add(name, part, isNeeded(name));
	}
	for (const name of required) add(name, {}, true);
	return found;
});

/** Makes a schema that allows what either allows. Stays flat however many are joined. */
function join(one: JsonSchema, other: JsonSchema): JsonSchema {
	if (!Object.keys(one).length) return other;
	const { anyOf, ...beside } = one;
	const parts = anyOf && !Object.keys(beside).length ? anyOf : [one];
	if (!Object.keys(other).length || parts.some((part) => isEqual(part, other))) return one;
	return { anyOf: [...parts, other] };
}

/** Says whether two JSON values are the same, with their keys in the same order. */
export const isEqual = (one: unknown, other: unknown): boolean =>
	one === other ||
	(getType(one) === getType(other) && JSON.stringify(one) === JSON.stringify(other));
