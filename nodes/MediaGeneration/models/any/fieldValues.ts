import { isExact, isPlainObject, parseJson } from '../../lib/json';
import { DECIMAL, isBlank } from '../field';
import { hasScheme, Media } from '../media';
import { toTitle } from '../title';
import { isAllowed } from './checkInput';
import {
	collectProperties,
	getItems,
	getType,
	getValues,
	listTypes,
	type JsonSchema,
} from './jsonSchema';
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

/** Converts a value to the first of its forms that the schema allows, else to the first. */
function convert(name: string, schema: JsonSchema, value: unknown, mediaNames: string[]): unknown {
	if (Array.isArray(value))
		return value.map((entry) => convert(name, getItems(schema), entry, mediaNames));
	if (isPlainObject(value)) return convertParts(schema, Object.entries(value), mediaNames);
	const takesFile = mediaNames.includes(name) || isMedia(name, schema);
	const forms = [...listForms(schema, value)].map((form) => {
		if (typeof form === 'object') return convert(name, schema, form, mediaNames);
		return takesFile && typeof form === 'string' ? toFile(name, form) : form;
	});
	const allowed = forms.length > 1 ? forms.find((form) => isAllowed(schema, form)) : undefined;
	return allowed ?? forms[0] ?? value;
}

/** Lists the forms of a text, number or boolean that have a type of the schema. */
function* listForms(schema: JsonSchema, value: unknown): Generator<unknown, void> {
	const types = listTypes(schema);
	const takes = (...some: string[]) => some.some((type) => types.includes(type));
	if (getValues(schema).has(value)) return yield value;
	if (typeof value === 'string') {
		const json = /^\s*[[{]/.test(value) ? parseJson(value) : undefined;
		if (json !== undefined && takes(getType(json))) return yield json;
		if (takes('string') || !types.length) yield value;
		// A number too large for JavaScript keeps its form, and is refused.
		const isNumber = DECIMAL.test(value) && isExact(Number(value));
		if (takes('number', 'integer') && isNumber) yield Number(value);
		if (takes('boolean') && /^(true|false)$/.test(value)) yield value === 'true';
		if (takes('array')) yield splitList(value);
	} else if (typeof value === 'boolean' || (typeof value === 'number' && isExact(value))) {
		if (takes(typeof value, 'integer')) yield value;
		if (takes('string')) yield String(value);
		if (takes('array')) yield [value];
	}
}

function toFile(name: string, text: string): Media | string {
	const source = text.trim();
	if (!source || hasScheme(source)) return text;
	return Object.assign(new Media(source), { label: toTitle(name) });
}

/** Splits a list at commas and line breaks, but not at a comma in a URL with no space after it. */
const splitList = (text: string): string[] =>
	text
		.split(/\n|,(?=\s|$)|,(?=[a-z][a-z\d+.-]+:)/i)
		.flatMap((part) => (part.includes('://') ? [part] : part.split(',')))
		.map((part) => part.trim())
		.filter(Boolean);
