import { isObject } from '../../lib/json';
import { cutText } from '../../lib/text';
import { hasType, listBranches, type JsonSchema } from './jsonSchema';

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
		// Some documents list numbers for a "string", or texts for a number. The values are meant.
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

/** Looks up a part that an object has itself. */
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
