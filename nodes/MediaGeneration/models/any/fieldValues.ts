import { isObject, parseJson } from '../../lib/json';
import { DECIMAL, isBlank } from '../field';
import { hasScheme, Media } from '../media';
import { toTitle } from '../title';
import { collectProperties, getItems, getType, listTypes, type JsonSchema } from './jsonSchema';
import { isMedia } from './recognize';

/**
 * Makes the input from the entered values, without blank fields. Expressions and text fields return
 * text, so values are converted to the types of the schema, if that loses nothing. Names of binary
 * fields become the files that they stand for.
 * @param mediaNames the names in Media Fields
 */
export function toInput(
	schema: JsonSchema,
	values: Record<string, unknown>,
	mediaNames: string[] = [],
): Record<string, unknown> {
	const entered = Object.entries(values).filter(([, value]) => !isBlank(value));
	return convertParts(schema, entered, mediaNames);
}

function convertParts(schema: JsonSchema, parts: Array<[string, unknown]>, mediaNames: string[]) {
	const properties = collectProperties(schema);
	const converted = parts.map(([name, value]) => {
		const property = properties.get(name)?.schema ?? {};
		return [name, convert(name, property, value, mediaNames)];
	});
	return Object.fromEntries(converted) as Record<string, unknown>;
}

function convert(name: string, schema: JsonSchema, value: unknown, mediaNames: string[]): unknown {
	const types = listTypes(schema);
	const takes = (...some: string[]) => some.some((type) => types.includes(type));
	const toList = (entries: unknown[]) =>
		entries.map((entry) => convert(name, getItems(schema), entry, mediaNames));
	if (Array.isArray(value)) return toList(value);
	if (isObject(value)) return convertParts(schema, Object.entries(value), mediaNames);
	if (typeof value === 'string') {
		const json = /^\s*[[{]/.test(value) ? parseJson(value) : undefined;
		if (json !== undefined && takes(getType(json))) return convert(name, schema, json, mediaNames);
		if (!takes('string')) {
			// A number too large for JavaScript stays text, and is refused.
			const isExact = DECIMAL.test(value) && Math.abs(Number(value)) <= Number.MAX_SAFE_INTEGER;
			if (takes('number', 'integer') && isExact) return Number(value);
			if (takes('boolean') && /^(true|false)$/.test(value)) return value === 'true';
			if (takes('array')) return toList(splitList(value));
		}
		const source = value.trim();
		const takesFile = mediaNames.includes(name) || isMedia(name, schema);
		if (!takesFile || !source || hasScheme(source)) return value;
		return Object.assign(new Media(source), { label: toTitle(name) });
	}
	if (typeof value !== 'number' && typeof value !== 'boolean') return value;
	if (takes('string') && !takes('number', 'integer', 'boolean')) return String(value);
	return types.join() === 'array' ? toList([value]) : value;
}

/** Splits a list at commas and line breaks, but not at a comma in a URL with no space after it. */
const splitList = (text: string): string[] =>
	text
		.split(/\n|,(?=\s|$)|,(?=[a-z][a-z\d+.-]+:)/i)
		.flatMap((part) => (part.includes('://') ? [part] : part.split(',')))
		.map((part) => part.trim())
		.filter(Boolean);
