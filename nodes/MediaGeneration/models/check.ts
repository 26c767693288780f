import type { UserError } from 'n8n-workflow';
import { isExact, isObject } from '../lib/json';
import {
	getItems,
	getPart,
	hasType,
	isEqual,
	listProperties,
	takesJson,
	type JsonSchema,
} from './schema';
import {
	buildBlankError,
	buildFieldError,
	FileToSend,
	INEXACT,
	isBlank,
	quoteValue,
} from './values';
import { describeRange, describeTypes, listShortly, nameStep } from './words';

/* Checks what is sent by the model's schema, before anything is paid for. */

/** What is wrong with a value or a part of it. */
interface Fault {
	/** The name of the part in the editor. */
	label: string;
	value?: unknown;
	/** Follows the label, for example "must be at most 30"; absent: the part is missing. */
	message?: string;
	/** The value as the user entered it. */
	original?: unknown;
}

/**
 * Checks a whole input. Unknown names pass, and so does a missing list or object, though required:
 * services take such inputs.
 * @param original what the user entered: the error shows an expression that gave nothing
 * @param remedy what to do where a required value is missing
 * @throws {UserError} for the first value that the schema doesn't allow
 */
export function checkInput(
	schema: JsonSchema,
	input: Record<string, unknown>,
	original?: Record<string, unknown>,
	remedy?: string,
): void {
	const fault = findFault(schema, input, original);
	if (!fault) return;
	const { label, message, value } = fault;
	if (message) throw buildValueError(label || 'Input', message, value);
	throw buildBlankError(label, fault.original, remedy);
}

/** Makes the error of a value that its schema doesn't allow. @param label the name of its place */
export function buildValueError(
	label: string,
	message: string,
	value?: unknown,
	where = '',
	remedy?: string,
): UserError {
	const actual =
		value === undefined ? '' : `, but is ${isBlank(value) ? 'blank' : quoteValue(value)}`;
	return buildFieldError(`'${label}'${where} ${message}${actual}`, remedy);
}

/** Says whether a schema allows a value. */
export const isAllowed = (schema: JsonSchema, value: unknown): boolean =>
	findFault(schema, value) === undefined;

/** Finds the first fault of a value or, if it has none itself, of its parts. */
function findFault(
	schema: JsonSchema,
	value: unknown,
	original?: unknown,
	label = '',
): Fault | undefined {
	const message = findOwnFault(schema, value);
	if (message) return { label, value, message };
	for (const { name, schema: partSchema, isRequired } of listParts(schema, value)) {
		const part = getPart(value, name);
		const originalPart = getPart(original, name);
		const partLabel = nameStep(label, name, partSchema);
		if (part !== undefined) {
			const fault = findFault(partSchema, part, originalPart, partLabel);
			if (fault) return fault;
		} else if (isRequired && (partSchema.isStrict || !takesJson(partSchema)))
			return { label: partLabel, original: originalPart };
	}
	return undefined;
}

/** Lists the parts of a list, or the properties that an object may have. */
function listParts(schema: JsonSchema, value: unknown) {
	const items = getItems(schema);
	if (Array.isArray(value))
		return value.map((_, name) => ({ name, schema: items, isRequired: false }));
	return isObject(value) && !(value instanceof FileToSend) ? listProperties(schema) : [];
}

/**
 * Finds the fault of a value itself, not of its parts. A file that isn't uploaded yet counts as a text.
 * @returns what the value must be
 */
export function findOwnFault(schema: JsonSchema, input: unknown): string | undefined {
	const isFile = input instanceof FileToSend;
	const value = isFile ? input.field : input;
	const isNumber = typeof value === 'number';
	const isOutOfRange = isNumber && !isWithin(value, schema.minimum, schema.maximum);
	if (!hasType(schema, value) || isOutOfRange) return `must be ${describeTypes(schema)}`;
	if (isFile) return undefined;
	const { enum: values, rule } = schema;
	if (values && !values.some((one) => isEqual(one, value)))
		return `must be ${values.length > 1 ? 'one of ' : ''}${listShortly(values)}`;
	if (isNumber) return isExact(value) ? undefined : INEXACT;
	if (Array.isArray(value))
		return findLengthFault(value.length, 'entries', schema.minItems, schema.maxItems);
	if (typeof value !== 'string') return undefined;
	return rule && !rule.isValid(value)
		? rule.message
		: findLengthFault([...value].length, 'characters', schema.minLength, schema.maxLength);
}

const isWithin = (size: number, min = size, max = size): boolean => min <= size && size <= max;

const findLengthFault = (length: number, unit: string, min?: number, max?: number) =>
	isWithin(length, min, max) ? undefined : `must have ${describeRange(min, max)} ${unit}`;
