import { isObject } from '../../lib/json';
import { buildFieldError, isBlank, shorten } from '../field';
import { Media } from '../media';
import { describeForms, listShortly, nameTypes, toTitle } from './describeProperty';
import { findEarlierResult } from './earlierResult';
import {
	collectProperties,
	getType,
	isEqual,
	listValues,
	takesJson,
	type JsonSchema,
} from './jsonSchema';

/** The first part of a value that the schema does not allow. */
interface Violation {
	path: Array<string | number>;
	/** Follows the name of the place, for example "must be at most 30". */
	message: string;
	isMissing?: boolean;
}

/**
 * Checks a whole input, before it is paid for. Names that the schema lacks are no error, and neither is a list or object that is left
 * out: services take such inputs. Files that are not uploaded yet count as text of any form.
 * @throws {UserError} for the first value that the schema does not allow
 */
export function checkInput(schema: JsonSchema, input: Record<string, unknown>): void {
	const violation = findViolation(schema, input);
	if (!violation) return;
	const { path, message, isMissing } = violation;
	const culprit = path.reduce<unknown>(
		(value, step) =>
			Object.hasOwn(Object(value), step)
				? (value as Record<string | number, unknown>)[step]
				: undefined,
		input,
	);
	const shown = path.length && !isBlank(culprit) ? `, but is ${shorten(culprit)}` : '';
	const [name, deeper] = path;
	const property = collectProperties(schema).get(String(name))?.schema ?? {};
	const earlier =
		isMissing && deeper === undefined ? findEarlierResult(String(name), property) : undefined;
	throw buildFieldError(
		`'${namePath(path)}' ${message}${shown}`,
		earlier && `Nothing was sent for this item. ${earlier.help}`,
	);
}

/** Names a place like the editor, for example "Shots 2 › Prompt". */
const namePath = (path: Violation['path']): string =>
	path.reduce<string>((label, step) => {
		if (typeof step === 'number') return `${label} ${step + 1}`;
		return label ? `${label} › ${toTitle(step)}` : toTitle(step);
	}, '') || 'Input';

const findViolation = (
	schema: JsonSchema,
	value: unknown,
	path: Violation['path'] = [],
): Violation | undefined => {
	const message = checkValue(schema, value);
	if (message) return { path, message };
	return checkParts(schema, value, path) ?? checkBranches(schema, value, path);
};

/** The limits of a value's size, each with what breaks it. # is the limit. */
const LIMITS: Array<
	[keyword: keyof JsonSchema, isBroken: (size: number, limit: number) => boolean, message: string]
> = [
	['minimum', (size, limit) => size < limit, 'must be at least #'],
	['maximum', (size, limit) => size > limit, 'must be at most #'],
	['exclusiveMinimum', (size, limit) => size <= limit, 'must be more than #'],
	['exclusiveMaximum', (size, limit) => size >= limit, 'must be less than #'],
	[
		'multipleOf',
		(size, limit) => Math.abs(size / limit - Math.round(size / limit)) > 1e-9,
		'must be a multiple of #',
	],
	['minLength', (size, limit) => size < limit, 'needs at least # characters'],
	['maxLength', (size, limit) => size > limit, 'may have at most # characters'],
	['minItems', (size, limit) => size < limit, 'needs at least # entries'],
	['maxItems', (size, limit) => size > limit, 'may have at most # entries'],
];

/** Which limits a type has: the end of their keywords. */
const LIMITED: Record<string, RegExp> = {
	number: /imum$|^multipleOf$/,
	string: /Length$/,
	array: /Items$/,
};

/** Checks a value by itself. @returns what it must be, when it isn't */
function checkValue(schema: JsonSchema, given: unknown): string | undefined {
	const value = given instanceof Media ? given.source : given;
	const types = schema.type === undefined ? [] : [schema.type].flat();
	if (types.length && !types.some((type) => isOfType(value, type)))
		return `must be ${nameTypes(types)}`;
	if (given instanceof Media && !given.isUrl) return undefined;
	const values = listValues(schema);
	if (values && !values.some((one) => isEqual(one, value)))
		return `must be ${values.length > 1 ? 'one of ' : ''}${listShortly(values)}`;
	const size =
		typeof value === 'string' ? [...value].length : Array.isArray(value) ? value.length : value;
	for (const [keyword, isBroken, message] of LIMITS) {
		const limit = schema[keyword];
		if (
			typeof limit === 'number' &&
			LIMITED[getType(value)]?.test(keyword) &&
			isBroken(size as number, limit)
		)
			return message.replace('#', String(limit));
	}
	const isUrl =
		schema.format !== 'uri' ||
		typeof value !== 'string' ||
		(/^\S+$/.test(value) && URL.canParse(value));
	return isUrl ? undefined : 'must be a URL';
}

/** Says whether a value has a type. A type that JSON Schema doesn't know is any. */
function isOfType(value: unknown, type: string): boolean {
	if (type === 'integer') return Number.isInteger(value);
	if (type === 'number') return Number.isFinite(value);
	return (
		!['string', 'boolean', 'array', 'object', 'null'].includes(type) || getType(value) === type
	);
}

/** Checks the entries of a list, or the properties of an object. */
function checkParts(
	{ items, properties = {}, required = [] }: JsonSchema,
	value: unknown,
	path: Violation['path'],
): Violation | undefined {
	if (Array.isArray(value))
		return (
			items &&
			findFirst(value.entries(), ([index, entry]) => findViolation(items, entry, [...path, index]))
		);
	if (!isObject(value) || value instanceof Media) return undefined;
	const own = (name: string) => (Object.hasOwn(properties, name) ? (properties[name] ?? {}) : {});
	const missing = required.find(
		(name) => !(Object.hasOwn(value, name) && value[name] !== undefined) && !takesJson(own(name)),
	);
	if (missing !== undefined)
		return { path: [...path, missing], message: 'is required', isMissing: true };
	return findFirst(Object.entries(value), ([name, part]) =>
		findViolation(own(name), part, [...path, name]),
	);
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

function checkBranches(
	{ oneOf, anyOf, allOf = [] }: JsonSchema,
	value: unknown,
	path: Violation['path'],
): Violation | undefined {
	const everywhere = findFirst(allOf, (branch) => findViolation(branch, value, path));
	if (everywhere) return everywhere;
	for (const branches of [oneOf, anyOf]) {
		if (!branches) continue;
		const violations = branches.map((branch) => findViolation(branch, value, path));
		const met = violations.filter((violation) => !violation).length;
		if (met === 1 || (met > 1 && branches === anyOf)) continue;
		// If only one branch has all it requires, that one was meant.
		const meant = met ? [] : violations.filter((violation) => !violation?.isMissing);
		if (meant.length === 1) return meant[0];
		const forms = describeForms(branches);
		return { path, message: `must have ${met ? 'only ' : ''}one of these forms: ${forms}` };
	}
	return undefined;
}
