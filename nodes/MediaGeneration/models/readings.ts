import { isExact, isObject } from '../lib/json';
import { parseParts, splitList } from './addresses';
import { isAllowed } from './check';
import { getType, hasType, isEqual, listTypes, type JsonSchema } from './schema';

/** A plain decimal number as text, possibly with blanks around it. */
const DECIMAL = /^\s*-?\d+(\.\d+)?\s*$/;

/**
 * Converts a text, number or boolean to the first of its readings that the schema allows, else to the
 * likeliest: fields and expressions return text.
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
	// Checking a large value takes time, so it is done only where there is a choice.
	if (!others.length) return likeliest;
	return readings.find((reading) => isAllowed(schema, reading)) ?? likeliest;
}

/** Lists what a text, number or boolean can be read as, in types of the schema; the likeliest first. */
function listReadings(value: unknown, schema: JsonSchema): unknown[] {
	const choice = readChoice(value, schema);
	if (choice !== undefined) return [choice];
	const types = listTypes(schema);
	if (typeof value === 'string') return readText(schema.rule ? value.trim() : value, types);
	const isNumber = typeof value === 'number' && isExact(value);
	if (!isNumber && typeof value !== 'boolean') return [];
	const readings: unknown[] = hasType(schema, value) ? [value] : [];
	if (types.includes('string')) readings.push(String(value));
	if (types.includes('array')) readings.push([value]);
	return readings;
}

/** Finds the value of a list that is meant; undefined if it is none, or there is no list. */
export function readChoice(value: unknown, { enum: values = [] }: JsonSchema): unknown {
	if (values.includes(value)) return value;
	if (typeof value === 'object') return values.find((one) => isEqual(one, value));
	const trimmed = typeof value === 'string' ? value.trim() : value;
	return trimmed !== value && values.includes(trimmed) ? trimmed : undefined;
}

function readText(text: string, types: string[]): unknown[] {
	const takes = (type: string) => types.includes(type);
	const json = parseParts(text);
	if (json !== undefined && takes(getType(json))) return [json];
	const readings: unknown[] = [];
	// A number too large for JavaScript stays text, and is refused. "007" may be a text.
	const number = Number(text);
	const isNumber = DECIMAL.test(text) && isExact(number);
	const isSame = !takes('string') || String(number) === text.trim();
	if (isNumber && isSame && (takes('number') || takes('integer'))) readings.push(number);
	// Sheets write TRUE.
	if (takes('boolean') && /^\s*(true|false)\s*$/i.test(text)) readings.push(/true/i.test(text));
	if (takes('string') || !types.length) readings.push(text);
	if (takes('array')) readings.push(splitList(text));
	return readings;
}

/** Takes the entry of a list of one, also as JSON text, where a number or a choice is meant. */
export function unwrapSingle(value: unknown, schema: JsonSchema): unknown {
	const types = listTypes(schema);
	const isScalar = schema.enum ?? schema.rule ?? !types.includes('string');
	if (!types.length || types.includes('array') || types.includes('object') || !isScalar)
		return value;
	const list = Array.isArray(value) ? value : parseParts(value);
	const isSingle = Array.isArray(list) && list.length === 1;
	return isSingle && readChoice(value, schema) === undefined ? list[0] : value;
}
