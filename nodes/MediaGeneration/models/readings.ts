import { isExact, isObject, parseJson } from '../lib/json';
import { readWebUrl } from '../lib/url';
import { isAllowed } from './check';
import { getPart, hasType, isEqual, listTypes, type JsonSchema } from './schema';

/* What a value may be read as: an address, a file of n8n, or a value of the types of a schema. */

/**
 * Says whether a text is an address whose scheme is a service's own, such as asset:1. A text with a dot
 * before its colon is a hostname with a port instead. Left out are the schemes of files on other
 * machines, and misspellings of http, such as htps.
 */
export const hasOwnScheme = (text: string): boolean =>
	/^(?!(data|file|blob|localhost|[htps]+):)[a-z][a-z\d+-]+:\S+$/i.test(text);

/** No paths of a service: drives of Windows, files on other machines, misspellings of http://, n/a. */
const NO_PATH = /^([a-z]:|[htps]+(:|;|\/\/)|data:|file:|blob:|n\/a$)/i;

/** Says whether a text may be an address that only the service knows, such as /uploads/a. */
export const mayBeAddress = (text: string): boolean =>
	hasOwnScheme(text) || (/^[^\s/]*\/\S*$/.test(text) && !NO_PATH.test(text));

/** Recognizes n8n's own object of a file: of a binary field, or what its form has in `json`. */
export const isOfFile = (value: unknown): value is Record<string, unknown> =>
	isObject(value) && ('mimeType' in value || 'mimetype' in value);

/** Reads the first link of an attachment, as Airtable and others have them; undefined if there is none. */
export function readAttachment(attachment: unknown): string | undefined {
	const parts = [attachment, getPart(attachment, 'file'), getPart(attachment, 'external')];
	return parts
		.flatMap((part) => ['signedUrl', 'url', 'src'].map((name) => getPart(part, name)))
		.map((link) => (typeof link === 'string' ? readWebUrl(link) : undefined))
		.find((link) => link !== undefined);
}

/**
 * Splits a list at commas and line breaks. A comma within quotes doesn't split. A comma within a URL
 * splits only if a space follows. Quotes around a part, as in code, aren't sent.
 */
export function splitList(text: string): string[] {
	const quoted = parseJson(`[${text}]`);
	if (Array.isArray(quoted) && quoted.every((part) => typeof part === 'string')) return quoted;
	return text
		.split(/\n|,(?=\s|$)|,(?=[a-z][a-z\d+.-]+:)/i)
		.flatMap((part) => (/:\/\/|^\s*data:/i.test(part) ? [part] : part.split(',')))
		.map((part) => part.trim().replace(/^(["'])(.*)\1$/, '$2'))
		.filter(Boolean);
}

/** Parses a text that is written as a JSON list or object; undefined for any other value. */
export const parseParts = (value: unknown): unknown =>
	typeof value === 'string' && /^\s*[[{]/.test(value) ? parseJson(value) : undefined;

/** A plain decimal number, possibly with blanks around it. */
const DECIMAL = /^\s*-?\d+(\.\d+)?\s*$/;

/**
 * Converts a text, number or boolean to the first of its readings that the schema allows, else to the
 * likeliest, because fields and expressions return text.
 * @param convertParts converts what was written as JSON, or as a list with commas
 */
export function readSingle(
	value: unknown,
	schema: JsonSchema,
	convertParts: (parts: unknown) => unknown = (parts) => parts,
): unknown {
	const readings = listReadings(value, schema).map((reading) =>
		isObject(reading) || Array.isArray(reading) ? convertParts(reading) : reading,
	);
	const [likeliest = value, ...others] = readings;
	// Checking a large value takes time, so readings are checked only where there are several.
	if (!others.length) return likeliest;
	return readings.find((reading) => isAllowed(schema, reading)) ?? likeliest;
}

/** Lists what a text, number or boolean can be read as, in types of the schema; the likeliest first. */
function listReadings(value: unknown, schema: JsonSchema): unknown[] {
	const choice = readChoice(value, schema);
	if (choice !== undefined) return [choice];
	const isText = typeof value === 'string';
	const isRead =
		isText || typeof value === 'boolean' || (typeof value === 'number' && isExact(value));
	if (!isRead || !listTypes(schema).length) return [];
	const text = schema.rule ? String(value).trim() : String(value);
	const parts = parseParts(text);
	if (parts !== undefined && hasType(schema, parts)) return [parts];
	const readings = isText
		? [...readScalars(text, schema), text, splitList(text)]
		: [value, text, [value]];
	return readings.filter((reading) => hasType(schema, reading));
}

/** Reads a text as a number or a boolean, if the text is that. */
function readScalars(text: string, schema: JsonSchema): unknown[] {
	const number = Number(text);
	// A text that a text field takes becomes a number only if nothing is lost: "007" stays. A number too
	// large for JavaScript stays text, which a number field then rejects.
	const isSame = !hasType(schema, text) || String(number) === text.trim();
	if (DECIMAL.test(text) && isExact(number) && isSame) return [number];
	// Sheets write TRUE.
	return /^\s*(true|false)\s*$/i.test(text) ? [/true/i.test(text)] : [];
}

/** Finds which of the schema's only values is meant; undefined if none is, or the schema lists none. */
export function readChoice(value: unknown, { enum: values = [] }: JsonSchema): unknown {
	const trimmed = typeof value === 'string' ? value.trim() : value;
	return values.find((one) => isEqual(one, value)) ?? values.find((one) => one === trimmed);
}

/** Takes the value out of a list of one, also in JSON text, where a number or a choice is meant. */
export function unwrapSingle(value: unknown, schema: JsonSchema): unknown {
	const types = listTypes(schema);
	const takesScalar = schema.enum ?? schema.rule ?? !types.includes('string');
	if (!types.length || types.includes('array') || types.includes('object') || !takesScalar)
		return value;
	const list = Array.isArray(value) ? value : parseParts(value);
	const isSingle = Array.isArray(list) && list.length === 1;
	return isSingle && readChoice(value, schema) === undefined ? list[0] : value;
}
