import { cutText, escapeHtml } from '../../lib/text';
import { toTitle } from '../title';
import { findEarlierResult } from './earlierResult';
import {
	collectProperties,
	getItems,
	listTypes,
	listValues,
	takesJson,
	type JsonSchema,
	type Property,
} from './jsonSchema';
import { isMedia } from './mediaProperty';

/** What is said of a property, in the editor and to AI builders. */
export interface Description {
	/** Its name as the editor writes names. */
	title: string;
	/** What stands behind the title of its field. The editor has some 26 characters for both. */
	brief: string;
	/** All that is known: what it takes, its limits and its default. */
	facts: string;
	/** What the service writes about it, as HTML. */
	prose: string;
}

/**
 * The longest name of a field or choice, list of values, example, and default in a brief, in
 * characters.
 */
const SHOWN_NAME = 100;
const SHOWN_LIST = 500;
const SHOWN_DEFAULT = 24;

/** Describes a property. */
export function describeProperty({ name, schema, isRequired }: Property): Description {
	const form = describeForm(name, schema);
	const { minimum = schema.exclusiveMinimum, maximum = schema.exclusiveMaximum } = schema;
	const range = form ? undefined : describeRange(minimum, maximum);
	const earlier = findEarlierResult(name, schema);
	const { default: byDefault, deprecated, description = '' } = schema;
	const initial = byDefault === undefined ? '' : formatValue(byDefault);
	const standard = initial && `default ${cutText(initial, SHOWN_LIST)}`;
	const length = describeCount(schema.minLength, schema.maxLength);
	return {
		title: cutText(toTitle(name), SHOWN_NAME),
		brief: deprecated
			? 'deprecated'
			: joinFacts(form ?? range, initial.length > SHOWN_DEFAULT ? '' : standard),
		facts: joinFacts(
			isRequired ? 'required' : 'optional',
			form ?? nameTypes(listTypes(schema)),
			listShortly(listValues(schema) ?? listValues(getItems(schema)) ?? []),
			range,
			earlier && `its ID is ${earlier.expression.slice(1)}`,
			takesJson(schema) &&
				`for example ${cutText(JSON.stringify(makeExample(schema)), SHOWN_LIST)}`,
			length && `${length} characters`,
			standard,
			deprecated && 'deprecated',
		),
		prose: escapeHtml(description),
	};
}

const joinFacts = (...facts: unknown[]): string => facts.filter(Boolean).join('; ');

/** Puts what is known behind a name. */
export const addFacts = (name: string, facts: string): string =>
	facts ? `${name} (${facts})` : name;

/** Says how to enter a value, if it is no single value of its type. */
function describeForm(name: string, schema: JsonSchema): string | undefined {
	const types = listTypes(schema);
	const takesFiles = isMedia(name, schema);
	const { minItems, maxItems } = schema;
	if (types.includes('array')) {
		if (takesFiles && maxItems === 1) return 'file';
		const form = takesFiles ? 'files' : takesJson(schema) ? 'JSON list' : 'list';
		return [form, describeCount(minItems, maxItems)].filter(Boolean).join(', ');
	}
	if (takesFiles) return 'file';
	const earlier = findEarlierResult(name, schema);
	if (earlier) return `earlier ${earlier.kind}`;
	if (!types.includes('object')) return undefined;
	return types.includes('string') ? 'text or JSON' : 'JSON';
}

/** Says how many there may be. A minimum of one is not worth saying. */
const describeCount = (min = 0, max?: number): string | undefined =>
	describeRange(min > (max ? 0 : 1) ? min : undefined, max);

const { format } = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

function describeRange(min?: number, max?: number): string | undefined {
	if (min === undefined) return max === undefined ? undefined : `up to ${format(max)}`;
	if (max === undefined) return `at least ${format(min)}`;
	return min === max ? format(min) : `${format(min)} to ${format(max)}`;
}

const TYPE_NAMES: Record<string, string> = {
	string: 'text',
	number: 'a number',
	integer: 'a whole number',
	boolean: 'true or false',
	array: 'a list',
	object: 'a JSON object',
	null: 'null',
};

/** Names types for people, for example "text or a number". */
export const nameTypes = (types: string[]): string =>
	types.map((type) => (Object.hasOwn(TYPE_NAMES, type) ? TYPE_NAMES[type] : type)).join(' or ');

/** Lists values for people. */
export const listShortly = (values: unknown[]): string =>
	cutText(values.map(formatValue).join(', '), SHOWN_LIST);

/** Writes a value as the name of a choice. */
export const nameValue = (value: unknown): string =>
	typeof value === 'boolean' ? toTitle(String(value)) : cutText(formatValue(value), SHOWN_NAME);

const formatValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);

/** Describes branches by what each requires, or by its type. */
export const describeForms = (branches: JsonSchema[]): string =>
	cutText(
		branches
			.map(
				(branch) =>
					branch.required?.map(toTitle).join(' + ') || nameTypes(listTypes(branch)) || 'any other',
			)
			.join('; or '),
		SHOWN_LIST,
	);

/** Objects nested deeper in an example are empty. */
const EXAMPLE_DEPTH = 3;

/** Makes an example value of a property. */
function makeExample(schema: JsonSchema, depth = 0): unknown {
	const [value = schema.default] = listValues(schema) ?? [];
	if (value !== undefined) return value;
	const types = listTypes(schema);
	const isEmpty = depth >= EXAMPLE_DEPTH;
	if (types.includes('array')) return isEmpty ? [] : [makeExample(getItems(schema), depth + 1)];
	if (types.includes('object')) {
		const parts = isEmpty ? [] : [...collectProperties(schema).values()];
		return Object.fromEntries(
			parts.map(({ name, schema: part }) => [name, makeExample(part, depth + 1)]),
		);
	}
	if (types.includes('boolean')) return true;
	return types.includes('string') || !types.length ? '…' : (schema.minimum ?? 1);
}
