import { parseJson } from '../../lib/json';
import { DECIMAL, isBlank } from '../field';
import { hasScheme, Media } from '../media';
import { toTitle } from '../title';
import { collectProperties, getItems, getType, listTypes, type JsonSchema } from './jsonSchema';
import { isMedia } from './recognize';

/**
 * Makes the input from the entered values, without blank fields.
 * @param mediaNames the names in Media Fields
 */
export function toInput(
	schema: JsonSchema,
	values: Record<string, unknown>,
	mediaNames: string[] = [],
): Record<string, unknown> {
	const properties = collectProperties(schema);
	const entries = Object.entries(values).filter(([, value]) => !isBlank(value));
	return Object.fromEntries(
		entries.map(([name, value]) => {
			const property = properties.get(name)?.schema ?? {};
			return [name, markMedia(name, property, coerce(property, value), mediaNames)];
		}),
	);
}

/**
 * Converts a value to the type of its schema, if that loses nothing. Expressions and text fields
 * return text. Numbers too large for JavaScript stay text, and are refused.
 */
function coerce(schema: JsonSchema, value: unknown): unknown {
	const types = listTypes(schema);
	const takes = (...some: string[]) => some.some((type) => types.includes(type));
	const toList = (entries: unknown[]) => entries.map((entry) => coerce(getItems(schema), entry));
	if (typeof value === 'string') {
		const json = /^\s*[[{]/.test(value) ? parseJson(value) : undefined;
		if (json !== undefined && takes(getType(json))) return json;
		if (!types.length || takes('string')) return value;
		const isExact = DECIMAL.test(value) && Math.abs(Number(value)) <= Number.MAX_SAFE_INTEGER;
		if (takes('number', 'integer') && isExact) return Number(value);
		if (takes('boolean') && /^(true|false)$/.test(value)) return value === 'true';
		return takes('array') ? toList(splitList(value)) : value;
	}
	if (typeof value !== 'number' && typeof value !== 'boolean') return value;
	if (takes('string') && !takes('number', 'integer', 'boolean')) return String(value);
	return types.join() === 'array' ? toList([value]) : value;
}

/**
 * Splits a list at commas and line breaks. A comma within a URL, with no space after it, belongs to
 * the URL.
 */
const splitList = (text: string): string[] =>
	text
		.split(/\n|,(?=\s|$)|,(?=[a-z][a-z\d+.-]+:)/i)
		.flatMap((part) => (part.includes('://') ? [part] : part.split(',')))
		.map((part) => part.trim())
		.filter(Boolean);

/** Replaces names of binary fields by the files that they stand for. */
function markMedia(
	name: string,
	schema: JsonSchema,
	value: unknown,
	mediaNames: string[],
): unknown {
	if (typeof value === 'string') {
		const source = value.trim();
		const takesFile = mediaNames.includes(name) || isMedia(name, schema);
		if (!takesFile || !source || hasScheme(source)) return value;
		return Object.assign(new Media(source), { label: toTitle(name) });
	}
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value))
		return value.map((entry) => markMedia(name, getItems(schema), entry, mediaNames));
	const properties = collectProperties(schema);
	const entries = Object.entries(value).map(([key, part]) => {
		const property = properties.get(key)?.schema ?? {};
		return [key, markMedia(key, property, part, mediaNames)];
	});
	return Object.fromEntries(entries);
}
