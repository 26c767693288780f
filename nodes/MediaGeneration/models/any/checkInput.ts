import { isObject } from '../../lib/json';
import { buildFieldError, isBlank, namePlace, shorten } from '../field';
import { Media } from '../media';
import { describeForms, listShortly, nameTypes } from './describeProperty';
import { getType, hasType, isEqual, takesJson, type JsonSchema, type Limit } from './jsonSchema';
import { getPart } from './readSchema';
import { findEarlierResult } from './recognize';

/** A part of a value that the schema does not allow. */
interface Violation {
	path: Array<string | number>;
	value?: unknown;
	/** Follows the name of the place, for example "must be at most 30". */
	message: string;
	isMissing?: boolean;
	/** What to do about it; absent: correct it. */
	remedy?: string;
}

/**
 * Checks a whole input before it is paid for. Names that the schema lacks are no error, and neither
 * is a list or object that is left out: services take such inputs.
 * @throws {UserError} for the first value that the schema does not allow
 */
export function checkInput(schema: JsonSchema, input: Record<string, unknown>): void {
	const [violation] = listViolations(schema, input);
	if (!violation) return;
	const { path, value, message, remedy } = violation;
	const given = path.length && !isBlank(value) ? `, but is ${shorten(value)}` : '';
	throw buildFieldError(
		`'${namePlace(path) || 'Input'}' ${message}${given}`,
		remedy && `Nothing was sent for this item. ${remedy}`,
	);
}

/** Says whether a schema allows a value. */
export const isAllowed = (schema: JsonSchema, value: unknown): boolean =>
	listViolations(schema, value).next().done === true;

/** Lists what is wrong with a value, with its parts, and with the branches that it may meet. */
function* listViolations(
	schema: JsonSchema,
	value: unknown,
	path: Violation['path'] = [],
): Generator<Violation, void> {
	const { items = {}, properties = {}, required = [], allOf = [], anyOf = [] } = schema;
	const message = checkValue(schema, value);
	if (message) return yield { path, value, message };
	if (Array.isArray(value))
		for (const [index, entry] of value.entries())
			yield* listViolations(items, entry, [...path, index]);
	else if (isObject(value) && !(value instanceof Media)) {
		const own = (name: string) => (getPart(properties, name) ?? {}) as JsonSchema;
		for (const name of required)
			if (getPart(value, name) === undefined && !takesJson(own(name))) {
				const remedy = findEarlierResult(name, own(name))?.remedy;
				yield { path: [...path, name], message: 'is required', isMissing: true, remedy };
			}
		for (const [name, part] of Object.entries(value))
			yield* listViolations(own(name), part, [...path, name]);
	}
	for (const branch of allOf) yield* listViolations(branch, value, path);
	const found = anyOf.map((branch) => listViolations(branch, value, path).next().value);
	if (!found.length || found.includes(undefined)) return;
	// If only one branch has all it requires, that one was meant.
	const [meant, ...others] = found.filter((one) => one && !one.isMissing);
	if (meant && !others.length) yield meant;
	else yield { path, value, message: `must have one of these forms: ${describeForms(anyOf)}` };
}

const isLess = (size: number, limit: number) => size < limit;
const isMore = (size: number, limit: number) => size > limit;
const isUneven = (size: number, limit: number) =>
	Math.abs(size / limit - Math.round(size / limit)) > 1e-9;

/** The limits of a value, by its type, each with what breaks it. # is the limit. */
const LIMITS: Array<[type: string, limit: Limit, isBroken: typeof isLess, message: string]> = [
	['number', 'minimum', isLess, 'must be at least #'],
	['number', 'maximum', isMore, 'must be at most #'],
	['number', 'multipleOf', isUneven, 'must be a multiple of #'],
	['string', 'minLength', isLess, 'needs at least # characters'],
	['string', 'maxLength', isMore, 'may have at most # characters'],
	['array', 'minItems', isLess, 'needs at least # entries'],
	['array', 'maxItems', isMore, 'may have at most # entries'],
];

/**
 * Checks a value by itself. A file that is not uploaded yet counts as text of any form.
 * @returns what it must be, when it isn't
 */
function checkValue(schema: JsonSchema, given: unknown): string | undefined {
	const value = given instanceof Media ? given.source : given;
	if (!hasType(schema, value)) return `must be ${nameTypes([schema.type ?? []].flat())}`;
	if (given instanceof Media && !given.isUrl) return undefined;
	const { enum: values } = schema;
	if (values && !values.some((one) => isEqual(one, value)))
		return `must be ${values.length > 1 ? 'one of ' : ''}${listShortly(values)}`;
	const isText = typeof value === 'string';
	const size = isText ? [...value].length : Array.isArray(value) ? value.length : (value as number);
	for (const [type, keyword, isBroken, message] of LIMITS) {
		const limit = schema[keyword];
		if (limit !== undefined && getType(value) === type && isBroken(size, limit))
			return message.replace('#', String(limit));
	}
	const isWrong = isText && schema.format === 'uri' && (/\s/.test(value) || !URL.canParse(value));
	return isWrong ? 'must be a URL' : undefined;
}
