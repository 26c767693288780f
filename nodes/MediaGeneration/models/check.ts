import type { UserError } from 'n8n-workflow';
import { isExact, isObject } from '../lib/json';
import {
	getItems,
	getPart,
	getProperty,
	hasType,
	isEqual,
	takesJson,
	type JsonSchema,
} from './schema';
import { buildBlankError, buildFieldError, FileToSend, INEXACT, isBlank, shorten } from './values';
import { describeRange, describeTypes, listShortly, toTitle } from './words';

/** Checks what is sent by its schema, before anything is paid for. */

/** A part of a value that its schema doesn't allow. */
interface Fault {
	path: Path;
	value?: unknown;
	/** Follows the name of the place, for example "must be at most 30"; absent: it is missing. */
	message?: string;
}

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
	const violation = findFault(schema, input);
	if (!violation) return;
	const { path, message, value } = violation;
	const label = namePlaceIn(schema, path) || 'Input';
	if (message) throw buildValueError(label, message, value);
	throw buildBlankError(label, path.reduce<unknown>(getPart, given), fillIn);
}

/** Makes the error of a value that its schema doesn't allow. @param label the name of its place */
export function buildValueError(
	label: string,
	message: string,
	value: unknown,
	where = '',
	remedy?: string,
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

/** Says whether a schema allows a value. */
export const isAllowed = (schema: JsonSchema, value: unknown): boolean =>
	findFault(schema, value) === undefined;

/** Finds what is wrong with a value, or else with its parts; undefined: its schema allows it. */
export function findFault(schema: JsonSchema, value: unknown, path: Path = []): Fault | undefined {
	const message = checkValue(schema, value);
	if (message) return { path, value, message };
	const { items, properties = {} } = schema;
	const parts: Array<[step: string | number, schema: JsonSchema]> =
		Array.isArray(value) && items ? value.map((_, at) => [at, items]) : [];
	if (isObject(value) && !(value instanceof FileToSend)) {
		const missing = findMissing(schema, value);
		if (missing !== undefined) return { path: [...path, missing] };
		parts.push(...Object.entries(properties).filter(([name]) => Object.hasOwn(value, name)));
	}
	for (const [step, part] of parts) {
		const violation = findFault(part, getPart(value, step), [...path, step]);
		if (violation) return violation;
	}
	return undefined;
}

/** Finds a property that an object needs and lacks. */
const findMissing = (schema: JsonSchema, object: object): string | undefined =>
	schema.required?.find((name) => {
		const missing = getProperty(schema, name);
		return getPart(object, name) === undefined && (missing.isNeeded || !takesJson(missing));
	});

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
	if (typeof value === 'number') {
		if (!isExact(value)) return INEXACT;
		const isAsLarge = isWithin(value, schema.minimum, schema.maximum);
		return isAsLarge ? undefined : `must be ${describeTypes(schema)}`;
	}
	if (Array.isArray(value))
		return checkLength(value.length, 'entries', schema.minItems, schema.maxItems);
	if (typeof value !== 'string') return undefined;
	return rule && !rule.isValid(value)
		? rule.message
		: checkLength([...value].length, 'characters', schema.minLength, schema.maxLength);
}

const isWithin = (size: number, min = size, max = size): boolean => min <= size && size <= max;

const checkLength = (length: number, unit: string, min?: number, max?: number) =>
	isWithin(length, min, max) ? undefined : `must have ${describeRange(min, max)} ${unit}`;
