import { parseJson } from '../../lib/json';
import { DECIMAL, buildFieldError, isBlank, shorten } from '../field';
import { Media } from '../media';
import { findViolation, type Path } from './checkSchema';
import { listShortly, toTitle } from './describeSchema';
import { explainEarlierPart } from './earlierResult';
import { collectProperties, getItems, listTypes, type JsonSchema } from './jsonSchema';
import { judgeMedia } from './mediaProperty';

/** Makes the input from the entered values, without blank fields. @param isMedia recognizes the names in Media Fields */
export function toInput(
	schema: JsonSchema,
	values: Array<[name: string, value: unknown]>,
	isMedia: (name: string) => boolean,
): Record<string, unknown> {
	const properties = collectProperties(schema);
	return Object.fromEntries(
		values
			.filter(([, value]) => !isBlank(value))
			.map(([name, value]) => {
				const property = properties.get(name)?.schema ?? {};
				return [name, markMedia(name, property, coerce(property, value), isMedia)];
			}),
	);
}

/**
 * Checks a whole input, before it is paid for.
 * @throws {UserError} for the first value that the schema does not allow
 */
export function checkInput(schema: JsonSchema, input: Record<string, unknown>): void {
	const violation = findViolation(schema, input);
	if (!violation) return;
	const { path, message, isMissing } = violation;
	const culprit = path.reduce<unknown>(
		(value, step) =>
			Object.hasOwn(Object(value), step)
				? (value as Record<string | number, unknown>)[step]
				: undefined,
		input,
	);
	const shown = path.length && !isBlank(culprit) ? `, but is ${shorten(culprit)}` : '';
	throw buildFieldError(
		`'${describePath(path)}' ${message}${shown}`,
		isMissing ? explainMissing(schema, path) : undefined,
	);
}

/** Says what to do for a missing field that the item of an earlier node fills in. */
function explainMissing(schema: JsonSchema, [name, ...deeper]: Path): string | undefined {
	if (typeof name !== 'string' || deeper.length) return undefined;
	const help = explainEarlierPart(name, collectProperties(schema).get(name)?.schema ?? {});
	return help && `Nothing was sent for this item. ${help}`;
}

/**
 * Checks the names in an input, before it is paid for: the service says nothing of a name that it doesn't know.
 * @throws {UserError} for names that the model doesn't have; it lists those that it has
 */
export function checkNames(
	schema: JsonSchema,
	model: string,
	input: Record<string, unknown>,
): void {
	const properties = collectProperties(schema);
	const wrong = Object.keys(input).filter((name) => !properties.has(name));
	if (!wrong.length || !properties.size || schema.additionalProperties) return;
	const right = [...properties].map(([name, { isRequired }]) =>
		isRequired ? `${name} (required)` : name,
	);
	throw buildFieldError(
		`${listShortly(wrong)} in Input ${wrong.length > 1 ? 'are no fields' : 'is no field'} of ${model}. Its fields are ${listShortly(right)}`,
		"Nothing was sent for this item. Correct the names, then run the node again. What the service takes beyond these fields goes into 'Extra Fields' in Options.",
	);
}

/** Names a place like the editor, for example "Shots 2 › Prompt". */
const describePath = (path: Path): string =>
	path.reduce<string>((label, step) => {
		if (typeof step === 'number') return `${label} ${step + 1}`;
		return label ? `${label} › ${toTitle(step)}` : toTitle(step);
	}, '') || 'Input';

/** Converts a value to the type of its schema, if that loses nothing. Expressions and text fields return text. */
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

/** Splits a list at commas and line breaks. A comma within a URL, with no space after it, belongs to the URL. */
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
	isMedia: (name: string) => boolean,
): unknown {
	if (typeof value === 'string') {
		const evidence = isMedia(name) ? 'sure' : judgeMedia(name, schema);
		if (evidence === 'none' || isBlank(value) || hasScheme(value.trim())) return value;
		const media = new Media(value.trim());
		media.label = toTitle(name);
		media.isGuess = evidence === 'likely';
		return media;
	}
	if (Array.isArray(value)) {
		const items = getItems(schema);
		const entry = Object.keys(items).length ? { ...items, description: schema.description } : items;
		return value.map((one) => markMedia(name, entry, one, isMedia));
	}
	if (typeof value !== 'object' || value === null) return value;
	const properties = collectProperties(schema);
	return Object.fromEntries(
		Object.entries(value).map(([key, one]) => [
			key,
			markMedia(key, properties.get(key)?.schema ?? {}, one, isMedia),
		]),
	);
}
