import { cutText } from '../../lib/cutText';
import { Media } from '../media';

/**
 * The parts of JSON Schema 2020-12 (the one of OpenAPI 3.1) that are checked here, with every `$ref` resolved. Any other keyword is
 * left to the service.
 */
export interface JsonSchema {
	type?: string | string[];
	enum?: unknown[];
	const?: unknown;
	/** In characters, as `maxLength`. */
	minLength?: number;
	maxLength?: number;
	format?: string;
	minimum?: number;
	maximum?: number;
	exclusiveMinimum?: number;
	exclusiveMaximum?: number;
	multipleOf?: number;
	minItems?: number;
	maxItems?: number;
	items?: JsonSchema;
	properties?: Record<string, JsonSchema>;
	required?: string[];
	additionalProperties?: boolean | JsonSchema;
	oneOf?: JsonSchema[];
	anyOf?: JsonSchema[];
	allOf?: JsonSchema[];
	default?: unknown;
	description?: string;
	deprecated?: boolean;
}

export type Path = Array<string | number>;

/** The first thing in a value that its schema does not allow. */
export interface Violation {
	path: Path;
	/** Follows the name of the place, for example "must be at most 30". */
	message: string;
	isMissing?: boolean;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === 'string';

const PROSE = new Set(['default', 'deprecated', 'description']);

/** Says of a property whether its description is needed. */
type NeedsProse = (name: string, schema: JsonSchema) => boolean;

/** Removes what is for people only, so that the rest is short enough to be stored in a workflow. */
export function removeProse(schema: JsonSchema, needsProse: NeedsProse, name = ''): JsonSchema {
	const { description } = schema;
	const rest: JsonSchema = Object.fromEntries(
		Object.entries(schema).filter(([keyword]) => !PROSE.has(keyword)),
	);
	const { items, properties, additionalProperties, oneOf, anyOf, allOf } = rest;
	const remove = (part: JsonSchema) => removeProse(part, needsProse, name);
	return {
		...rest,
		...(description !== undefined && needsProse(name, schema) && { description }),
		...(items && { items: remove(items) }),
		...(properties && {
			properties: mapValues(properties, (part, key) => removeProse(part, needsProse, key)),
		}),
		...(isObject(additionalProperties) && {
			additionalProperties: remove(additionalProperties),
		}),
		...(oneOf && { oneOf: oneOf.map(remove) }),
		...(anyOf && { anyOf: anyOf.map(remove) }),
		...(allOf && { allOf: allOf.map(remove) }),
	};
}

const mapValues = <From, To>(
	object: Record<string, From>,
	map: (value: From, key: string) => To,
): Record<string, To> =>
	Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));

/** Remembers what is found out about a schema, because each entry of a list asks again. */
function remember<T>(find: (schema: JsonSchema) => T): (schema: JsonSchema) => T {
	const known = new WeakMap<JsonSchema, { found: T }>();
	return (schema) => {
		const { found } = known.get(schema) ?? { found: find(schema) };
		known.set(schema, { found });
		return found;
	};
}

const listBranches = ({ oneOf = [], anyOf = [], allOf = [] }: JsonSchema): JsonSchema[] => [
	...oneOf,
	...anyOf,
	...allOf,
];

/** Lists the types that a value may have; empty: any. */
export const listTypes = remember((schema): string[] => {
	const { type, enum: values, const: only } = schema;
	if (type !== undefined) return [type].flat().filter((one) => one !== 'null');
	const listed = values ?? (only === undefined ? [] : [only]);
	const types = listed.length ? listed.map(getType) : listBranches(schema).flatMap(listTypes);
	return [...new Set(types)].filter((one) => one !== 'null');
});

const getType = (value: unknown): string =>
	Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;

/** Lists the values that a schema names; undefined where it allows others. */
export function listValues(schema: JsonSchema): unknown[] | undefined {
	const { enum: values, const: only } = schema;
	return only === undefined ? values : [only];
}

/** Finds the schema of a list's entries. */
export const getItems = remember(
	(schema): JsonSchema =>
		schema.items ??
		listBranches(schema)
			.map(getItems)
			.find((items) => Object.keys(items).length) ??
		{},
);

export interface Property {
	schema: JsonSchema;
	/** Whatever else is given, this one must be. */
	isRequired: boolean;
}

/** Collects the properties of an object, those of all its branches included, in the order in which the schema names them. */
export const collectProperties = remember((schema): ReadonlyMap<string, Property> => {
	const found = new Map<string, Property>();
	const { properties = {}, required = [], oneOf, anyOf, allOf = [] } = schema;
	const needed = new Set(required);
	const add = (name: string, property: JsonSchema, isRequired: boolean) => {
		const known = found.get(name);
		found.set(name, {
			schema: known ? joinSchemas(known.schema, property) : property,
			isRequired: isRequired || known?.isRequired === true,
		});
	};
	for (const [name, property] of Object.entries(properties)) add(name, property, needed.has(name));
	for (const part of allOf)
		for (const [name, property] of collectProperties(part))
			add(name, property.schema, property.isRequired);
	for (const branches of [oneOf, anyOf]) {
		const collected = (branches ?? []).map(collectProperties);
		for (const [name, property] of collected.flatMap((branch) => [...branch]))
			add(
				name,
				property.schema,
				collected.every((branch) => branch.get(name)?.isRequired),
			);
	}
	for (const name of needed) add(name, {}, true);
	return found;
});

/** Makes a schema of what either allows. It stays flat, however many are joined one after the other. */
function joinSchemas(one: JsonSchema, other: JsonSchema): JsonSchema {
	if (!Object.keys(one).length) return other;
	const { anyOf, ...beside } = one;
	const parts = anyOf && !Object.keys(beside).length ? anyOf : [one];
	if (!Object.keys(other).length || parts.some((part) => isEqual(part, other))) return one;
	return { anyOf: [...parts, other] };
}

/** Checks a value. Files that are not uploaded yet count as text of any form. */
export function findViolation(
	schema: JsonSchema,
	value: unknown,
	path: Path = [],
): Violation | undefined {
	const own = checkValue(schema, value);
	if (own) return { path, message: own };
	return checkParts(schema, value, path) ?? checkBranches(schema, value, path);
}

const TYPE_NAMES = new Map([
	['string', 'text'],
	['number', 'a number'],
	['integer', 'a whole number'],
	['boolean', 'true or false'],
	['array', 'a list'],
	['object', 'a JSON object'],
	['null', 'null'],
]);

const nameTypes = (types: string[]): string =>
	types.map((type) => TYPE_NAMES.get(type) ?? type).join(' or ');

function isOfType(value: unknown, type: string): boolean {
	switch (type) {
		case 'integer':
			return Number.isInteger(value);
		case 'number':
			return Number.isFinite(value);
		case 'array':
		case 'null':
		case 'string':
		case 'boolean':
			return getType(value) === type;
		case 'object':
			return isObject(value);
		default:
			return true;
	}
}

const isUnsent = (value: unknown): boolean => value instanceof Media && !value.isUrl;

/** Checks a value by itself. @returns what it must be, when it isn't */
function checkValue(schema: JsonSchema, given: unknown): string | undefined {
	const value = given instanceof Media ? given.source : given;
	const { type } = schema;
	if (type !== undefined) {
		const types = [type].flat();
		if (!types.some((one) => isOfType(value, one))) return `must be ${nameTypes(types)}`;
	}
	if (isUnsent(given)) return undefined;
	const values = listValues(schema);
	if (values && !values.some((one) => isEqual(one, value)))
		return `must be ${values.length > 1 ? 'one of ' : ''}${listShortly(values)}`;
	if (typeof value === 'string') return checkText(schema, value);
	if (typeof value === 'number') return checkNumber(schema, value);
	if (Array.isArray(value))
		return checkLength(schema.minItems, schema.maxItems, value.length, 'entries');
	return undefined;
}

/** The longest list in a message or a name, in characters. */
const SHOWN_LIST = 500;

/** Lists values for people. */
export const listShortly = (values: unknown[]): string =>
	cutText(values.map(formatValue).join(', '), SHOWN_LIST);

export const formatValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);

function checkLength(min = 0, max = Infinity, length: number, unit: string): string | undefined {
	if (length < min) return `needs at least ${min} ${unit}`;
	if (length > max) return `may have at most ${max} ${unit}`;
	return undefined;
}

function checkText({ minLength, maxLength, format }: JsonSchema, text: string): string | undefined {
	const wrongLength = checkLength(minLength, maxLength, [...text].length, 'characters');
	if (wrongLength) return wrongLength;
	return format === 'uri' && (!URL.canParse(text) || /\s/.test(text)) ? 'must be a URL' : undefined;
}

function checkNumber(schema: JsonSchema, value: number): string | undefined {
	const { minimum = -Infinity, maximum = Infinity, multipleOf } = schema;
	const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
	if (value < minimum) return `must be at least ${minimum}`;
	if (value > maximum) return `must be at most ${maximum}`;
	if (value <= exclusiveMinimum) return `must be more than ${exclusiveMinimum}`;
	if (value >= exclusiveMaximum) return `must be less than ${exclusiveMaximum}`;
	if (multipleOf === undefined) return undefined;
	const quotient = value / multipleOf;
	return Math.abs(quotient - Math.round(quotient)) > 1e-9
		? `must be a multiple of ${multipleOf}`
		: undefined;
}

/** Checks the entries of a list, or the properties of an object. */
function checkParts(schema: JsonSchema, value: unknown, path: Path): Violation | undefined {
	if (Array.isArray(value) && schema.items) {
		const { items } = schema;
		return findFirst(value.entries(), ([index, entry]) =>
			findViolation(items, entry, [...path, index]),
		);
	}
	if (!isObject(value) || value instanceof Media) return undefined;
	const { properties = {}, required = [], additionalProperties: others = true } = schema;
	const missing = required.find((name) => !Object.hasOwn(value, name) || value[name] === undefined);
	if (missing !== undefined)
		return { path: [...path, missing], message: 'is required', isMissing: true };
	return findFirst(Object.entries(value), ([name, entry]) => {
		const inner = [...path, name];
		if (Object.hasOwn(properties, name)) return findViolation(properties[name] ?? {}, entry, inner);
		if (others === false) return { path: inner, message: 'is not a field of this model' };
		return others === true ? undefined : findViolation(others, entry, inner);
	});
}

function findFirst<T>(
	entries: Iterable<T>,
	check: (entry: T) => Violation | undefined,
): Violation | undefined {
	for (const entry of entries) {
		const violation = check(entry);
		if (violation) return violation;
	}
	return undefined;
}

function checkBranches(schema: JsonSchema, value: unknown, path: Path): Violation | undefined {
	const { oneOf, anyOf, allOf = [] } = schema;
	const everywhere = findFirst(allOf, (branch) => findViolation(branch, value, path));
	if (everywhere) return everywhere;
	for (const branches of [oneOf, anyOf]) {
		if (!branches) continue;
		const violations = branches.map((branch) => findViolation(branch, value, path));
		const met = violations.filter((violation) => !violation).length;
		if (met === 1 || (met > 1 && branches === anyOf)) continue;
		const forms = describeForms(branches);
		if (met > 1) return { path, message: `must have only one of these forms: ${forms}` };
		// A branch that has all that it needs is the one that was meant.
		const meant = violations.filter((violation) => !violation?.isMissing);
		return meant.length === 1
			? meant[0]
			: { path, message: `must have one of these forms: ${forms}` };
	}
	return undefined;
}

/** Describes branches by what each requires, or by its type. */
export const describeForms = (branches: JsonSchema[]): string =>
	cutText(
		branches
			.map(
				(branch) =>
					branch.required?.map((name) => toTitle(name)).join(' + ') ||
					nameTypes(listTypes(branch)) ||
					'any other',
			)
			.join('; or '),
		SHOWN_LIST,
	);

function isEqual(one: unknown, other: unknown): boolean {
	if (Array.isArray(one) && Array.isArray(other))
		return one.length === other.length && one.every((entry, index) => isEqual(entry, other[index]));
	if (!isObject(one) || !isObject(other)) return one === other;
	const keys = Object.keys(one);
	return (
		keys.length === Object.keys(other).length &&
		keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]))
	);
}

const ABBREVIATIONS = new Set(
	'ai api bgm bpm cfg fps gif hd hdr id ip lut mp3 mp4 png rgb svg tts uri url vr 2d 3d'.split(' '),
);
const SMALL_WORDS = new Set('a an and as at by for from in of on or the to with'.split(' '));

/** Writes a property's name as the editor writes names, for example "Image URLs" for `image_urls`. */
export function toTitle(name: string): string {
	const words = name
		.trim()
		.replace(/([a-z\d])([A-Z])/g, '$1 $2')
		.split(/[\s_.-]+/)
		.filter(Boolean);
	return (
		words
			.map((word, index) => {
				const lower = word.toLowerCase();
				const singular = lower.replace(/s$/, '');
				if (ABBREVIATIONS.has(lower)) return lower.toUpperCase();
				if (ABBREVIATIONS.has(singular)) return `${singular.toUpperCase()}s`;
				if (index > 0 && SMALL_WORDS.has(lower)) return lower;
				return lower.charAt(0).toUpperCase() + lower.slice(1);
			})
			.join(' ') || name
	);
}
