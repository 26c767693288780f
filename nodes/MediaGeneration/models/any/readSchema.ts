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

/** Keywords without schemas in them, each with the form that it must have. */
const PLAIN_KEYWORDS: Array<[keywords: RegExp, hasForm: (value: unknown) => boolean]> = [
	[/^(min|max)(imum|Length|Items)$/, Number.isFinite],
	[/^multipleOf$/, (value) => Number.isFinite(value) && Number(value) > 0],
	[/^type$/, (value) => isText(value) || isListOfText(value)],
	[/^required$/, isListOfText],
	[/^enum$/, Array.isArray],
	[/^default$/, () => true],
	[/^format$/, isText],
	[/^deprecated$/, (value) => typeof value === 'boolean'],
];

/**
 * Reads a schema and resolves its references. Parts that can't be read allow anything, and so does
 * a schema that contains itself. Names are trimmed, as the service takes them.
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
	/** How much more may be read, in characters. */
	private left = MAX_SIZE;

	constructor(
		private readonly document: unknown,
		private readonly withProse: boolean,
	) {}

	private spend(size: number): void {
		this.left -= size;
		if (this.left < 0) throw new RangeError('The schema is too large');
	}

	/** @param open the schemas around this one */
	read(value: unknown, open: unknown[]): JsonSchema {
		this.spend(SCHEMA_SIZE);
		if (!isObject(value) || open.length > MAX_DEPTH) return {};
		this.spend(Object.keys(value).length);
		const { $ref, ...rest } = value;
		const target = isText($ref) ? resolveReference(this.document, $ref) : undefined;
		return isObject(target) && !open.includes(target)
			? this.read({ ...target, ...rest }, [...open, target])
			: this.readParts(rest, [...open, value]);
	}

	private readParts(value: Record<string, unknown>, open: unknown[]): JsonSchema {
		const read = (part: unknown) => this.read(part, open);
		const schema: Record<string, unknown> & JsonSchema = {};
		for (const [name, given] of Object.entries(value)) {
			const [keyword, part] = name === 'const' ? ['enum', [given]] : [name, given];
			if (!this.withProse && /^(description|default|deprecated)$/.test(keyword)) continue;
			if (PLAIN_KEYWORDS.some(([keywords, hasForm]) => keywords.test(keyword) && hasForm(part))) {
				this.spend(JSON.stringify(part).length);
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

	private readProperties(parts: object, read: (part: unknown) => JsonSchema) {
		const entries = Object.entries(parts).map(([name, part]): [string, JsonSchema] => {
			this.spend(name.length);
			return [name.trim(), read(part)];
		});
		// n8n copies parameters by assignment, which would drop it.
		return Object.fromEntries(entries.filter(([name]) => name !== '__proto__'));
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

/** Makes one line of a text. One that begins with = would run as an expression. */
function cleanProse(prose: string): string {
	const line = prose.slice(0, 2 * MAX_PROSE).replace(/\s+/g, ' ');
	return cutText(line.replace(/^[\s=]+|\s$/g, ''), MAX_PROSE);
}

/** Looks up `#/components/…`; its segments may be percent-encoded. */
function resolveReference(document: unknown, reference: string): unknown {
	if (!reference.startsWith('#/') || reference.length > MAX_PROSE) return undefined;
	// A lone % stands for itself.
	const path = decodeURIComponent(reference.slice(2).replace(/%(?![\da-f]{2})/gi, '%25'));
	let part = document;
	for (const segment of path.split('/')) {
		const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
		part = isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined;
	}
	return part;
}
