import { isExact, isObject } from '../lib/json';
import type { UserError } from 'n8n-workflow';
import { buildBlankError, buildFieldError, INEXACT, isBlank, shorten } from './fieldErrors';
import { FileToSend } from './files';
import { findPurpose } from './purpose';
import {
	getItems,
	getPart,
	getProperty,
	getType,
	hasType,
	isEqual,
	takesJson,
	type JsonSchema,
	type Limit,
} from './schema';
import { toTitle } from './title';
import { listShortly, nameTypes } from './any/words';

/** Checks what is sent by its schema, before anything is paid for. */

/** A part of a value that its schema doesn't allow. */
interface Violation {
	path: Path;
	value?: unknown;
	/** Follows the name of the place, for example "must be at most 30"; absent: it is missing. */
	message?: string;
	/** What to do about it; absent: correct it. */
	remedy?: string;
}

/** Deeper values aren't sent, and neither are those that contain themselves. */
export const MAX_LEVELS = 64;

/** The steps to a place in a value. */
export type Path = Array<string | number>;

/**
 * Checks a whole input. Unknown names pass, and so does a missing list or object, though required:
 * services take such inputs.
 * @param given what was entered, by which an error tells an expression that gives nothing
 * @param fillIn what to do where a required value is missing
 * @throws {UserError} for the first value that the schema doesn't allow
 */
export function checkInput(
	schema: JsonSchema,
	input: Record<string, unknown>,
	given: Record<string, unknown> = {},
	fillIn?: string,
): void {
	const violation = findViolation(schema, input);
	if (!violation) return;
	const { path, message, remedy } = violation;
	const label = namePlaceIn(schema, path) || 'Input';
	if (message) throw buildValueError(label, violation);
	throw buildBlankError(label, path.reduce<unknown>(getStep, given), remedy ?? fillIn);
}

const getStep = (value: unknown, step: string | number): unknown =>
	Array.isArray(value) ? (value[Number(step)] as unknown) : getPart(value, String(step));

/** Makes the error of a value that its schema doesn't allow. @param place its name, and where it is */
export function buildValueError(
	label: string,
	{ value, message = '', remedy }: Omit<Violation, 'path'>,
	where = '',
): UserError {
	const given = value === undefined ? '' : `, but is ${isBlank(value) ? 'blank' : shorten(value)}`;
	return buildFieldError(`'${label}'${where} ${message}${given}`, remedy);
}

/** Names a place in a value of a schema, by the titles that the schema has for its parts. */
export function namePlaceIn(schema: JsonSchema, path: Path): string {
	let place = '';
	let part = schema;
	for (const step of path) {
		part = typeof step === 'number' ? getItems(part) : getProperty(part, step);
		if (typeof step === 'number') place += ` ${step + 1}`;
		else place += `${place && ' › '}${part.title ?? toTitle(step)}`;
	}
	return place;
}

/** Finds what is wrong with a value; undefined: its schema allows it. */
export const findViolation = (schema: JsonSchema, value: unknown): Violation | undefined => {
	const [violation] = listViolations(schema, value);
	return violation;
};

/** Says whether a schema allows a value. */
export const isAllowed = (schema: JsonSchema, value: unknown): boolean =>
	findViolation(schema, value) === undefined;

/** Lists what is wrong with a value, or else with its parts. */
function* listViolations(
	schema: JsonSchema,
	value: unknown,
	path: Path = [],
): Generator<Violation, void> {
	const message = checkValue(schema, value);
	if (message) return yield { path, value, message };
	if (path.length >= MAX_LEVELS) return;
	if (Array.isArray(value))
		for (const [index, entry] of value.entries())
			yield* listViolations(getItems(schema), entry, [...path, index]);
	else if (isObject(value) && !(value instanceof FileToSend))
		yield* checkParts(schema, value, path);
}

/** Lists the properties of an object that are missing, and what is wrong with the others. */
function* checkParts(
	schema: JsonSchema,
	object: Record<string, unknown>,
	path: Path,
): Generator<Violation, void> {
	for (const name of schema.required ?? []) {
		const missing = getProperty(schema, name);
		if (getPart(object, name) !== undefined || (takesJson(missing) && !missing.isNeeded)) continue;
		const purpose = findPurpose(name, missing);
		const remedy = purpose.kind === 'earlierResult' ? purpose.remedy : undefined;
		yield { path: [...path, name], remedy };
	}
	for (const [name, part] of Object.entries(object))
		yield* listViolations(getProperty(schema, name), part, [...path, name]);
}

const isLess = (size: number, limit: number) => size < limit;
const isMore = (size: number, limit: number) => size > limit;

/** The limits of texts and lists, each with the check that finds it broken. # stands for the limit. */
const LIMIT_RULES: Array<[type: string, limit: Limit, isBroken: typeof isLess, message: string]> = [
	['string', 'minLength', isLess, 'needs at least # characters'],
	['string', 'maxLength', isMore, 'may have at most # characters'],
	['array', 'minItems', isLess, 'needs at least # entries'],
	['array', 'maxItems', isMore, 'may have at most # entries'],
];

/**
 * Checks a value without its parts. A file that isn't uploaded yet counts as any text.
 * @returns what it must be, if it isn't
 */
function checkValue(schema: JsonSchema, given: unknown): string | undefined {
	const isFile = given instanceof FileToSend;
	const value = isFile ? given.field : given;
	if (!hasType(schema, value)) return `must be ${describeTypes(schema)}`;
	if (isFile) return undefined;
	const { enum: values, rule } = schema;
	if (values && !values.some((one) => isEqual(one, value)))
		return `must be ${values.length > 1 ? 'one of ' : ''}${listShortly(values)}`;
	if (typeof value === 'number') return checkNumber(schema, value);
	if (typeof value === 'string' && rule && !rule.isValid(value)) return rule.message;
	for (const [type, keyword, isBroken, message] of LIMIT_RULES) {
		const limit = schema[keyword];
		if (limit === undefined || getType(value) !== type) continue;
		if (isBroken([...(value as Iterable<unknown>)].length, limit))
			return message.replace('#', String(limit));
	}
	return undefined;
}

function checkNumber(schema: JsonSchema, value: number): string | undefined {
	if (!isExact(value)) return INEXACT;
	const { minimum = value, maximum = value } = schema;
	return value < minimum || value > maximum ? `must be ${describeTypes(schema)}` : undefined;
}

/** Names the types of a schema, with the range of its numbers, such as "a whole number from 1 to 10". */
function describeTypes({ type = [], minimum, maximum }: JsonSchema): string {
	const range =
		minimum === undefined
			? maximum !== undefined && ` of at most ${maximum}`
			: maximum === undefined
				? ` of at least ${minimum}`
				: ` from ${minimum} to ${maximum}`;
	return `${nameTypes([type].flat()) || 'a number'}${range || ''}`;
}
