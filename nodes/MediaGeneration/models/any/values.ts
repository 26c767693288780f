import { isExact, isObject, isPlainObject, mapValues, parseJson } from '../../lib/json';
import { buildBlankError, buildFieldError, DECIMAL, isBlank, namePlace, shorten } from '../field';
import { hasScheme, isFileObject, markEntries, Media, splitQuoted, toSource } from '../media';
import { toTitle } from '../title';
import { findPurpose, saysUrl } from './purpose';
import {
	getItems,
	getPart,
	getProperty,
	getType,
	hasType,
	isEqual,
	listTypes,
	takesJson,
	type JsonSchema,
	type Limit,
	type Property,
} from './schema';
import { listShortly, nameTypes } from './words';

/** Converts entered values to those that are sent, and checks them before anything is paid for. */

/**
 * Makes the input from the values of fields, without blank ones. Text fields and expressions return
 * text, so values are converted to the schema's types where that loses nothing. In fields that take
 * files, texts that are no URL become Media.
 */
export function toInput(
	schema: JsonSchema,
	values: Record<string, unknown>,
): Record<string, unknown> {
	const entered = Object.entries(values).filter(
		([, value]) => !isBlank(value) && !isBlankList(value),
	);
	return changeProperties(Object.fromEntries(entered), schema, convert);
}

/** Says whether a list has only blank entries. One without entries was meant. */
const isBlankList = (value: unknown): boolean =>
	Array.isArray(value) && value.length > 0 && value.every(isBlank);

/**
 * Puts Media into an input that was written as JSON, in place of the names of binary fields, where
 * the model takes files. Where the document says so, and not only a name, a text that can't be a URL
 * becomes Media too: it is refused when its file is looked for. Everything else stays as it is.
 * @returns the input, and what stayed though the name of its field means a file
 */
export function nameFiles(
	schema: JsonSchema,
	input: Record<string, unknown>,
	hasFile: (name: string) => boolean,
): { input: Record<string, unknown>; doubtful: string[] } {
	const doubtful = new Set<string>();
	const nameText = (text: string, property: NamedSchema) => {
		const { name, schema } = property;
		if (!takesFile(property)) return text;
		if (hasFile(text)) return toMedia(name, text);
		if (isBlank(text) || mayBeUrl(text.trim())) return text;
		if (saysUrl(schema)) return toMedia(name, text.trim());
		doubtful.add(`'${toTitle(name)}' is ${shorten(text)}`);
		return text;
	};
	const nameFile: Change = (given, property) => {
		const isTyped = listTypes(property.schema).length > 0 && takesFile(property);
		const value = isTyped ? toFileSource(given, property) : given;
		if (typeof value === 'string') return nameText(value, property);
		if (isPlainObject(value)) return changeProperties(value, property.schema, nameFile);
		if (!Array.isArray(value)) return value;
		const entries = value.map((entry) => nameFile(entry, toEntryProperty(property)));
		return toList(entries, property);
	};
	return { input: changeProperties(input, schema, nameFile), doubtful: [...doubtful] };
}

/** Says whether a text is a URL, or may be the path of one. Paths of Windows and n/a aren't. */
const mayBeUrl = (text: string): boolean =>
	hasScheme(text) || (/^[^\s/]*\/\S*$/.test(text) && !/^([a-z]:|n\/a$)/i.test(text));

/** What a value is for. */
type NamedSchema = Pick<Property, 'name' | 'schema'>;

/** Makes the value that is sent of one that was entered. */
type Change = (value: unknown, property: NamedSchema) => unknown;

/** Changes each value of an object. One that the schema doesn't name may be anything. */
function changeProperties(
	object: Record<string, unknown>,
	schema: JsonSchema,
	change: Change,
): Record<string, unknown> {
	return mapValues(object, (value, name) =>
		change(value, { name, schema: getProperty(schema, name) }),
	);
}

/** What an entry of a list is for. It has the name of the list, and what is said of that. */
const toEntryProperty = ({ name, schema }: NamedSchema): NamedSchema => {
	const { format, description } = schema;
	return { name, schema: { format, description, ...getItems(schema) } };
};

const takesFile = ({ name, schema }: NamedSchema): boolean =>
	findPurpose(name, schema).kind === 'file';

function convert(given: unknown, property: NamedSchema): unknown {
	const value = takesFile(property) ? toFileSource(given, property) : given;
	if (isPlainObject(value)) return changeProperties(value, property.schema, convert);
	if (!Array.isArray(value)) return convertSingle(value, property);
	const filled = value.filter((entry) => !isBlank(entry));
	const list = filled.map((entry) => convert(entry, toEntryProperty(property)));
	return toList(list, property);
}

/** Where a list has a single entry, a name that stands for several files means the first one. */
const toList = (list: unknown[], { schema }: NamedSchema): unknown[] =>
	schema.maxItems === 1 ? list : markEntries(list);

/** Converts a single value to the first of its readings that the schema allows, else to the first. */
function convertSingle(value: unknown, property: NamedSchema): unknown {
	const { name, schema } = property;
	const isFile = takesFile(property);
	const readings = listReadings(value, schema).map((reading) => {
		if (isFile && typeof reading === 'string') return toFile(name, reading);
		// It was written as JSON, or as a list with commas.
		const hasParts = isObject(reading) || Array.isArray(reading);
		return hasParts ? convert(reading, property) : reading;
	});
	const [likeliest = value, ...others] = readings;
	// Checking a large value takes time, so it is done only where there is a choice.
	if (!others.length) return likeliest;
	return readings.find((reading) => isAllowed(schema, reading)) ?? likeliest;
}

/** Lists what a text, number or boolean can be read as, in types of the schema; the likeliest first. */
function listReadings(value: unknown, schema: JsonSchema): unknown[] {
	if (schema.enum?.includes(value)) return [value];
	const types = listTypes(schema);
	if (typeof value === 'string') return readText(value, types);
	const isNumber = typeof value === 'number' && isExact(value);
	if (!isNumber && typeof value !== 'boolean') return [];
	const readings: unknown[] = hasType(schema, value) ? [value] : [];
	if (types.includes('string')) readings.push(String(value));
	if (types.includes('array')) readings.push([value]);
	return readings;
}

function readText(text: string, types: string[]): unknown[] {
	const takes = (type: string) => types.includes(type);
	const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
	if (json !== undefined && takes(getType(json))) return [json];
	const readings: unknown[] = [];
	// A number too large for JavaScript stays text, and is refused. "007" may be a text.
	const number = Number(text);
	const isNumber = DECIMAL.test(text) && isExact(number);
	const isSame = !takes('string') || String(number) === text.trim();
	if (isNumber && isSame && (takes('number') || takes('integer'))) readings.push(number);
	// Sheets write TRUE.
	if (takes('boolean') && /^(true|false)$/i.test(text)) readings.push(/true/i.test(text));
	if (takes('string') || !types.length) readings.push(text);
	if (takes('array')) readings.push(splitList(text));
	return readings;
}

/** Takes the URL of a file object, save where the model takes objects, or a list that it takes. */
function toFileSource(value: unknown, { name, schema }: NamedSchema): unknown {
	const types = listTypes(schema);
	const takesList = types.includes('array');
	if (types.includes('object') || (takesList && Array.isArray(value))) return value;
	const source = toSource(value);
	if (typeof source !== 'string') return source;
	const file = isFileObject(source) ? toMedia(name, source) : source;
	return takesList && !types.includes('string') && file !== value ? [file] : file;
}

function toFile(name: string, text: string): Media | string {
	const source = text.trim();
	return !source || hasScheme(source) ? text : toMedia(name, source);
}

const toMedia = (name: string, source: string): Media =>
	Object.assign(new Media(source), { label: toTitle(name) });

/** Splits a list at commas and line breaks, but not at a comma in a URL with no space after it. */
const splitList = (text: string): string[] =>
	splitQuoted(text) ??
	text
		.split(/\n|,(?=\s|$)|,(?=[a-z][a-z\d+.-]+:)/i)
		.flatMap((part) => (/:\/\/|^\s*data:/i.test(part) ? [part] : part.split(',')))
		.map((part) => part.trim())
		.filter(Boolean);

/** A part of a value that its schema doesn't allow. */
interface Violation {
	path: Array<string | number>;
	value?: unknown;
	/** Follows the name of the place, for example "must be at most 30"; absent: it is missing. */
	message?: string;
	/** What to do about it; absent: correct it. */
	remedy?: string;
}

/**
 * Checks a whole input before it is paid for. Unknown names pass, and so does a missing list or
 * object, though required: services take such inputs.
 * @throws {UserError} for the first value that the schema doesn't allow
 */
export function checkInput(schema: JsonSchema, input: Record<string, unknown>): void {
	const [violation] = listViolations(schema, input);
	if (!violation) return;
	const { path, value, message = 'is required', remedy } = violation;
	const label = namePlace(path) || 'Input';
	if (!violation.message && path.length === 1)
		throw buildBlankError(String(path[0]), label, remedy);
	const given = path.length && !isBlank(value) ? `, but is ${shorten(value)}` : '';
	throw buildFieldError(`'${label}' ${message}${given}`, remedy);
}

/** Says whether a schema allows a value. */
export const isAllowed = (schema: JsonSchema, value: unknown): boolean =>
	listViolations(schema, value).next().done === true;

/** Lists what is wrong with a value, or else with its parts. */
function* listViolations(
	schema: JsonSchema,
	value: unknown,
	path: Violation['path'] = [],
): Generator<Violation, void> {
	const message = checkValue(schema, value);
	if (message) return yield { path, value, message };
	if (Array.isArray(value))
		for (const [index, entry] of value.entries())
			yield* listViolations(getItems(schema), entry, [...path, index]);
	else if (isObject(value) && !(value instanceof Media)) yield* checkParts(schema, value, path);
}

/** Lists the properties of an object that are missing, and what is wrong with the others. */
function* checkParts(
	schema: JsonSchema,
	object: Record<string, unknown>,
	path: Violation['path'],
): Generator<Violation, void> {
	for (const name of schema.required ?? []) {
		const missing = getProperty(schema, name);
		if (getPart(object, name) !== undefined || takesJson(missing)) continue;
		const purpose = findPurpose(name, missing);
		const remedy = purpose.kind === 'earlierResult' ? purpose.remedy : undefined;
		yield { path: [...path, name], remedy };
	}
	for (const [name, part] of Object.entries(object))
		yield* listViolations(getProperty(schema, name), part, [...path, name]);
}

const isLess = (size: number, limit: number) => size < limit;
const isMore = (size: number, limit: number) => size > limit;

/** The limits by type of value, each with the check that finds it broken. # stands for the limit. */
const LIMIT_RULES: Array<[type: string, limit: Limit, isBroken: typeof isLess, message: string]> = [
	['number', 'minimum', isLess, 'must be at least #'],
	['number', 'maximum', isMore, 'must be at most #'],
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
	const value = given instanceof Media ? given.source : given;
	if (!hasType(schema, value)) return `must be ${nameTypes([schema.type ?? []].flat())}`;
	if (given instanceof Media && !given.isUrl) return undefined;
	const { enum: values } = schema;
	if (values && !values.some((one) => isEqual(one, value)))
		return `must be ${values.length > 1 ? 'one of ' : ''}${listShortly(values)}`;
	const isText = typeof value === 'string';
	const size = isText ? [...value].length : Array.isArray(value) ? value.length : (value as number);
	for (const [type, keyword, isBroken, message] of LIMIT_RULES) {
		const limit = schema[keyword];
		if (limit !== undefined && getType(value) === type && isBroken(size, limit))
			return message.replace('#', String(limit));
	}
	return undefined;
}
