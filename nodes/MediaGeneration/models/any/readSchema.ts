import { isObject } from '../../lib/json';
import { cutText } from '../../lib/text';
import { listBranches, type JsonSchema } from './jsonSchema';

/** Schemas nested deeper take anything. */
const MAX_DEPTH = 10;

/**
 * The longest description of a model that is read, and the longest list of fields that a workflow
 * stores, in characters of JSON. The largest schemas that are known make 3,000.
 */
export const MAX_SIZE = 64_000;

/** The extra size of each schema, in characters, because each one is a step of every check. */
const SCHEMA_SIZE = 100;

/** The longest text about a property, in characters: the editor shows two lines of it. */
const MAX_PROSE = 200;

const isText = (value: unknown): value is string => typeof value === 'string';
const isListOfText = (value: unknown) => Array.isArray(value) && value.every(isText);
const isAnything = () => true;
const list = (names: string, hasForm: (value: unknown) => boolean) =>
	names.split(' ').map((name): [string, typeof hasForm] => [name, hasForm]);

/** Keywords without schemas in them, each with the form that it must have. */
const PLAIN_KEYWORDS = new Map([
	...list('minLength maxLength minItems maxItems', Number.isFinite),
	...list('minimum maximum exclusiveMinimum exclusiveMaximum', Number.isFinite),
	...list('multipleOf', (value) => Number.isFinite(value) && Number(value) > 0),
	...list('type', (value) => isText(value) || isListOfText(value)),
	...list('required', isListOfText),
	...list('enum', Array.isArray),
	...list('const default', isAnything),
	...list('format', isText),
	...list('deprecated', (value) => typeof value === 'boolean'),
]);

/**
 * Reads a schema and resolves its references. Parts that can't be read allow anything, and so does
 * a schema that contains itself. Names are without the blanks around them, as the service takes
 * them.
 * @param value the schema, of any form
 * @param document the whole document, in which `$ref` is looked up
 * @param withProse whether descriptions and defaults are read too
 * @returns undefined when the schema is larger than `MAX_SIZE`
 */
export function readSchema(
	value: unknown,
	document: unknown,
	withProse = true,
): JsonSchema | undefined {
	const reader = new SchemaReader(document, withProse);
	const schema = reader.read(value, []);
	return reader.left < 0 ? undefined : schema;
}

class SchemaReader {
	/** How much more may be read, in characters. */
	left = MAX_SIZE;

	constructor(
		private readonly document: unknown,
		private readonly withProse: boolean,
	) {}

	/** @param open the schemas around this one */
	read(value: unknown, open: unknown[]): JsonSchema {
		this.left -= SCHEMA_SIZE;
		if (!isObject(value) || open.length > MAX_DEPTH) return {};
		this.left -= Object.keys(value).length;
		if (this.left < 0) return {};
		const { $ref, ...rest } = value;
		if (!isText($ref)) return this.readParts(rest, [...open, value]);
		const target = resolveReference(this.document, $ref);
		if (!isObject(target) || open.includes(target)) return this.readParts(rest, [...open, value]);
		return this.read({ ...target, ...rest }, [...open, target]);
	}

	private readParts(value: Record<string, unknown>, open: unknown[]): JsonSchema {
		const read = (part: unknown) => this.read(part, open);
		const schema: Record<string, unknown> & JsonSchema = {};
		for (const [keyword, part] of Object.entries(value)) {
			if (this.left < 0) return {};
			if (!this.withProse && /^(description|default|deprecated)$/.test(keyword)) continue;
			if (PLAIN_KEYWORDS.get(keyword)?.(part)) {
				this.left -= JSON.stringify(part).length;
				schema[keyword] = part;
			} else if (keyword === 'description' && isText(part)) schema.description = cleanProse(part);
			else if (keyword === 'items' && isObject(part)) schema.items = read(part);
			else if (keyword === 'properties' && isObject(part))
				schema.properties = this.readProperties(part, read);
			else if (/^(one|any|all)Of$/.test(keyword) && Array.isArray(part) && part.length)
				schema[keyword === 'allOf' ? keyword : 'anyOf'] = part.map(read);
		}
		if (schema.required) schema.required = schema.required.map((name) => name.trim());
		for (const branch of listBranches(schema)) align(branch, schema);
		return schema;
	}

	private readProperties(
		parts: Record<string, unknown>,
		read: (part: unknown) => JsonSchema,
	): Record<string, JsonSchema> {
		const found: Array<[string, JsonSchema]> = [];
		for (const [name, part] of Object.entries(parts)) {
			this.left -= name.length;
			if (this.left < 0) break;
			// n8n copies parameters by assignment, which would drop it.
			if (name !== '__proto__') found.push([name.trim(), read(part)]);
		}
		return Object.fromEntries(found);
	}
}

/**
 * Takes the types from a branch that contradict what is around it. Some documents have a stray
 * "string" beside an object, which nothing could meet.
 */
function align(branch: JsonSchema, around: JsonSchema): void {
	const types = [branch.type ?? []].flat();
	const outer = [around.type ?? []].flat();
	if (outer.length && !types.some((type) => outer.includes(type))) delete branch.type;
	for (const [name, part] of Object.entries(branch.properties ?? {}))
		align(part, around.properties?.[name] ?? {});
	for (const inner of listBranches(branch)) align(inner, around);
}

/** A text that begins with = would run as an expression. */
const cleanProse = (prose: string): string =>
	cutText(
		prose
			.slice(0, 2 * MAX_PROSE)
			.replace(/\s+/g, ' ')
			.replace(/^[\s=]+|\s$/g, ''),
		MAX_PROSE,
	);

/** Looks up `#/components/…`; its segments may be percent-encoded. */
function resolveReference(document: unknown, reference: string): unknown {
	if (!reference.startsWith('#/') || reference.length > MAX_PROSE) return undefined;
	let part = document;
	for (const segment of reference.slice(2).split('/')) {
		const name = decode(segment).replaceAll('~1', '/').replaceAll('~0', '~');
		part = isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined;
	}
	return part;
}

function decode(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch {
		// A lone % stands for itself.
		return segment;
	}
}
