import { isObject } from '../../lib/json';
import type { JsonSchema } from './jsonSchema';

/** Schemas nested deeper take anything. */
const MAX_DEPTH = 10;

/**
 * The longest description of a model that is read, and the longest list of fields that a workflow stores, in characters of JSON. The
 * largest schemas that are known make 3,000.
 */
export const MAX_SIZE = 64_000;

/** The extra size of each schema, in characters, because each one is a step of every check. */
const SCHEMA_SIZE = 100;

/** Descriptions are cut, in characters. The editor shows less of them. */
const MAX_PROSE = 500;

/** Longer references are not followed, in characters. */
const MAX_REFERENCE = 500;

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = Number.isFinite;
const isListOfText = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** Keywords without schemas in them, each with the form that it must have. */
const PLAIN_KEYWORDS = new Map<string, (value: unknown) => boolean>(
	Object.entries({
		type: (value) => isText(value) || isListOfText(value),
		enum: Array.isArray,
		const: () => true,
		minLength: isNumber,
		maxLength: isNumber,
		format: isText,
		minimum: isNumber,
		maximum: isNumber,
		exclusiveMinimum: isNumber,
		exclusiveMaximum: isNumber,
		multipleOf: (value) => typeof value === 'number' && isNumber(value) && value > 0,
		minItems: isNumber,
		maxItems: isNumber,
		required: isListOfText,
		default: () => true,
		deprecated: (value) => typeof value === 'boolean',
	}),
);

/** Keywords that the service checks itself. A regular expression from a catalogue, as in `pattern`, can run forever. */
const UNCHECKED_KEYWORDS = new Set([
	'pattern',
	'not',
	'if',
	'contains',
	'dependentRequired',
	'dependentSchemas',
	'patternProperties',
	'propertyNames',
	'minProperties',
	'maxProperties',
	'prefixItems',
	'uniqueItems',
	'unevaluatedItems',
	'unevaluatedProperties',
]);

/**
 * Reads a schema and resolves its references. Parts that can't be read allow anything, and so does a schema that contains
 * itself.
 * @param value the schema, of any form
 * @param document the whole document, in which `$ref` is looked up
 * @returns undefined when the schema is larger than `MAX_SIZE`
 */
export function readSchema(value: unknown, document: unknown): JsonSchema | undefined {
	const reader = new SchemaReader(document);
	const schema = reader.read(value);
	return reader.isTooLarge ? undefined : schema;
}

class SchemaReader {
	private left = MAX_SIZE;

	/** Whether a keyword that forbids values was left out. */
	private isIncomplete = false;

	constructor(private readonly document: unknown) {}

	get isTooLarge(): boolean {
		return this.left < 0;
	}

	/** @param open the schemas around this one */
	read(value: unknown, depth = 0, open: unknown[] = []): JsonSchema {
		this.left -= SCHEMA_SIZE;
		if (!isObject(value) || depth > MAX_DEPTH || this.isTooLarge) {
			this.isIncomplete = true;
			return {};
		}
		if (isText(value.$ref)) return this.follow(value, depth, open);
		const read = (part: unknown) => this.read(part, depth + 1, [...open, value]);
		const schema: Record<string, unknown> = {};
		for (const [keyword, part] of this.listEntries(value)) {
			const hasForm = PLAIN_KEYWORDS.get(keyword);
			if (hasForm) {
				this.left -= measure(part);
				if (this.isTooLarge) break;
				if (hasForm(part)) schema[keyword] = part;
			} else if (keyword === 'description' && isText(part))
				schema.description = part.slice(0, MAX_PROSE);
			else if (keyword === 'items' && isObject(part)) schema.items = read(part);
			else if (keyword === 'properties' && isObject(part))
				schema.properties = Object.fromEntries(
					this.listEntries(part)
						// n8n copies parameters by assignment, which would drop it.
						.filter(([name]) => name !== '__proto__')
						.map(([name, property]) => [name, read(property)]),
				);
			else if (keyword === 'additionalProperties')
				schema[keyword] = typeof part === 'boolean' ? part : read(part);
			else if (keyword === 'anyOf' || keyword === 'allOf') {
				if (isFilled(part)) schema[keyword] = this.listEntries(part).map(([, one]) => read(one));
			} else if (keyword === 'oneOf' && isFilled(part)) this.readOneOf(schema, part, read);
			else if (UNCHECKED_KEYWORDS.has(keyword)) this.isIncomplete = true;
		}
		return schema;
	}

	/** Reads what a schema refers to, and what stands beside the reference. */
	private follow(value: Record<string, unknown>, depth: number, open: unknown[]): JsonSchema {
		const beside = this.listEntries(value).filter(([keyword]) => keyword !== '$ref');
		const target = resolveReference(this.document, value.$ref as string);
		const isKnown = isObject(target) && !open.includes(target);
		if (!isKnown) this.isIncomplete = true;
		const referred = isKnown ? this.listEntries(target) : [];
		const joined = Object.fromEntries([...referred, ...beside]);
		return this.read(joined, depth + 1, isKnown ? [...open, target] : open);
	}

	/** "Only one branch matches" can be checked only if all branches are read completely. */
	private readOneOf(
		schema: JsonSchema,
		branches: unknown[],
		read: (branch: unknown) => JsonSchema,
	): void {
		const wasIncomplete = this.isIncomplete;
		this.isIncomplete = false;
		const parts = this.listEntries(branches).map(([, branch]) => read(branch));
		if (!this.isIncomplete) schema.oneOf = parts;
		else schema.anyOf ??= parts;
		this.isIncomplete ||= wasIncomplete;
	}

	/** Lists the entries of an object or list; none if there are too many. */
	private listEntries(part: object): Array<[name: string, part: unknown]> {
		const names = Object.keys(part);
		for (const name of names) this.left -= name.length;
		if (this.isTooLarge) return [];
		return names.map((name) => [name, (part as Record<string, unknown>)[name]]);
	}
}

const isFilled = (part: unknown): part is unknown[] => Array.isArray(part) && part.length > 0;

/** Measures a value in characters of JSON. @returns Infinity if it is too long or too deep */
function measure(value: unknown, depth = 0): number {
	if (typeof value === 'string') return value.length + 2;
	if (typeof value !== 'object' || value === null) return 5;
	if (depth > MAX_DEPTH || (Array.isArray(value) && value.length > MAX_SIZE)) return Infinity;
	let size = 2;
	for (const [key, entry] of Object.entries(value)) {
		size += key.length + measure(entry, depth + 1);
		if (size > MAX_SIZE) return Infinity;
	}
	return size;
}

/** Looks up `#/components/…`; its segments may be percent-encoded. */
function resolveReference(document: unknown, reference: string): unknown {
	if (!reference.startsWith('#/') || reference.length > MAX_REFERENCE) return undefined;
	return reference
		.slice(2)
		.split('/')
		.map(decodeSegment)
		.reduce<unknown>(
			(part, segment) =>
				isObject(part) && Object.hasOwn(part, segment) ? part[segment] : undefined,
			document,
		);
}

function decodeSegment(segment: string): string {
	let text = segment;
	try {
		text = decodeURIComponent(segment);
	} catch {
		// A lone % stands for itself.
	}
	return text.replaceAll('~1', '/').replaceAll('~0', '~');
}
