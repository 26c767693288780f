import { isObject } from '../../lib/json';

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

const PROSE = new Set(['default', 'deprecated', 'description']);

/** Says of a property whether its description is needed. */
type NeedsProse = (name: string, schema: JsonSchema) => boolean;

/** Removes what is only for people, to keep the stored schema short. */
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

/** Remembers the result for each schema, because every entry of a list asks again. */
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

export const getType = (value: unknown): string =>
	Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;

/** Lists the only values that a schema allows; undefined if it has no list. */
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
	/** Required in every branch. */
	isRequired: boolean;
}

/** Collects the properties of an object and of all its branches, in the schema's order. */
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

/** Makes a schema that allows what either allows. It stays flat when many are joined. */
function joinSchemas(one: JsonSchema, other: JsonSchema): JsonSchema {
	if (!Object.keys(one).length) return other;
	const { anyOf, ...beside } = one;
	const parts = anyOf && !Object.keys(beside).length ? anyOf : [one];
	if (!Object.keys(other).length || parts.some((part) => isEqual(part, other))) return one;
	return { anyOf: [...parts, other] };
}

/** Says whether two JSON values are the same. */
export function isEqual(one: unknown, other: unknown): boolean {
	if (Array.isArray(one) && Array.isArray(other))
		return one.length === other.length && one.every((entry, index) => isEqual(entry, other[index]));
	if (!isObject(one) || !isObject(other)) return one === other;
	const keys = Object.keys(one);
	return (
		keys.length === Object.keys(other).length &&
		keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]))
	);
}
