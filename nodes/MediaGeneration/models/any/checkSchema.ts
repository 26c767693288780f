import { isObject } from '../../lib/json';
import { Media } from '../media';
import { describeForms, listShortly, nameTypes } from './describeSchema';
import { getType, isEqual, listValues, type JsonSchema } from './jsonSchema';

export type Path = Array<string | number>;

/** The first part of a value that the schema does not allow. */
export interface Violation {
	path: Path;
	/** Follows the name of the place, for example "must be at most 30". */
	message: string;
	isMissing?: boolean;
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
		// If only one branch has all it requires, that one was meant.
		const meant = violations.filter((violation) => !violation?.isMissing);
		return meant.length === 1
			? meant[0]
			: { path, message: `must have one of these forms: ${forms}` };
	}
	return undefined;
}
