import { parseJson } from '../../lib/json';
import { DECIMAL, isBlank } from '../field';
import { Media } from '../media';
import { toTitle } from '../title';
import { collectProperties, getItems, listTypes, type JsonSchema } from './jsonSchema';
import { isMedia } from './mediaProperty';

/**
 * Makes the input from the entered values, without blank fields.
 * @param mediaNames the names in Media Fields
 */
export function toInput(
	schema: JsonSchema,
	values: Array<[name: string, value: unknown]>,
	mediaNames: string[] = [],
): Record<string, unknown> {
	const properties = collectProperties(schema);
	return Object.fromEntries(
		values
			.filter(([, value]) => !isBlank(value))
			.map(([name, value]) => {
				const property = properties.get(name)?.schema ?? {};
				return [name, markMedia(name, property, coerce(property, value), mediaNames)];
			}),
	);
}

/**
 * Converts a value to the type of its schema, if that loses nothing. Expressions and text fields
 * return text.
 */
function coerce(schema: JsonSchema, value: unknown): unknown {
	const types = listTypes(schema);
	const takes = (...some: string[]) => some.some((type) => types.includes(type));
	if (!types.length) return value;
	if (typeof value === 'string') {
		const json = takes('array', 'object') ? parseContainer(value) : undefined;
		if (takes(Array.isArray(json) ? 'array' : 'object') && json) return json;
		if (takes('string')) return value;
		if (takes('number', 'integer') && DECIMAL.test(value) && isExact(value)) return Number(value);
		if (takes('boolean') && /^(true|false)$/.test(value)) return value === 'true';
		return takes('array')
			? splitList(value).map((entry) => coerce(getItems(schema), entry))
			: value;
	}
	const isSingle = typeof value === 'number' || typeof value === 'boolean';
	if (isSingle && takes('string') && !takes('number', 'integer', 'boolean')) return String(value);
	if (isSingle && types.join() === 'array') return [coerce(getItems(schema), value)];
	return value;
}

/** Numbers too large for JavaScript stay text, and are refused. */
const isExact = (text: string): boolean => Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER;

const parseContainer = (text: string): object | undefined =>
	/^\s*[[{]/.test(text) ? (parseJson(text) as object | undefined) : undefined;

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

/** An absolute URL of any scheme. Services have schemes of their own for files they store. */
const hasScheme = (text: string): boolean => /^[a-z][a-z\d+.-]+:/i.test(text);

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
	if (Array.isArray(value))
		return value.map((entry) => markMedia(name, getItems(schema), entry, mediaNames));
	if (typeof value !== 'object' || value === null) return value;
	const properties = collectProperties(schema);
	return Object.fromEntries(
		Object.entries(value).map(([key, part]) => [
			key,
			markMedia(key, properties.get(key)?.schema ?? {}, part, mediaNames),
		]),
	);
}
