/** What limits a text (in characters), a list, or a number. */
export type Limit = `${'min' | 'max'}${'imum' | 'Length' | 'Items'}` | 'multipleOf';

/**
 * The parts of JSON Schema 2020-12 (the one of OpenAPI 3.1) that are read here, with every `$ref`
 * resolved. Any other keyword is left to the service.
 */
export interface JsonSchema extends Partial<Record<Limit, number>> {
	type?: string | string[];
	/** The only values, of `const` too. */
	enum?: unknown[];
	format?: string;
	items?: JsonSchema;
	properties?: Record<string, JsonSchema>;
	required?: string[];
	/** Of `oneOf` too: that only one is met is left to the service. */
	anyOf?: JsonSchema[];
	allOf?: JsonSchema[];
	default?: unknown;
	description?: string;
	deprecated?: boolean;
}

/** Remembers the result for each schema, because every entry of a list asks again. */
function remember<T>(find: (schema: JsonSchema) => T): (schema: JsonSchema) => T {
	const known = new WeakMap<JsonSchema, { found: T }>();
	return (schema) => {
		const { found } = known.get(schema) ?? { found: find(schema) };
		known.set(schema, { found });
		return found;
	};
}

export const listBranches = ({ anyOf = [], allOf = [] }: JsonSchema): JsonSchema[] => [
	...anyOf,
	...allOf,
];

/** Lists the types that a value may have; empty: any. */
export const listTypes = remember((schema): string[] => {
	const { type, enum: values = [] } = schema;
	const types = values.length ? values.map(getType) : listBranches(schema).flatMap(listTypes);
	return [...new Set([type ?? types].flat())].filter((one) => one !== 'null');
});

export const getType = (value: unknown): string =>
	Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;

/** Returns the values that a schema lists; none: it lists no values. */
export const getValues = remember((schema): ReadonlySet<unknown> => new Set(schema.enum));

/** Says whether a value has a type of the schema's own. A type that JSON Schema lacks is any. */
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

export interface Property {
	name: string;
	schema: JsonSchema;
	/** Required in every branch. */
	isRequired: boolean;
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

/** Makes a schema that allows what either allows. It stays flat when many are joined. */
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
