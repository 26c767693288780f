import type { FieldType } from 'n8n-workflow';
import { cutText } from '../../lib/text';
import { isBlank } from '../field';
import { toTitle } from '../title';
import {
	collectProperties,
	getItems,
	listTypes,
	takesJson,
	type JsonSchema,
	type Property,
} from './jsonSchema';
import { findEarlierResult, isMedia } from './recognize';

/** The longest name of a field or choice, list of values, and default in a brief, in characters. */
const SHOWN_NAME = 100;
const SHOWN_LIST = 500;
const SHOWN_DEFAULT = 32;

/**
 * Describes a property: the type of its field, the earlier result whose ID it takes, its title, in
 * brief what it takes (the editor has some 26 characters for both), all facts that are known, and
 * the service's own words.
 */
export function describeProperty({ name, schema, isRequired }: Property) {
	const { default: initial, deprecated, description = '' } = schema;
	const earlier = findEarlierResult(name, schema);
	const [type, entered] = findForm(name, schema);
	const form = earlier ? `earlier ${earlier.kind}` : entered;
	const range = form ? '' : describeRange(schema.minimum, schema.maximum);
	const standard = isBlank(initial) ? '' : `default ${listShortly([initial])}`;
	const length = describeCount(schema.minLength, schema.maxLength);
	return {
		type,
		earlier,
		title: cutText(toTitle(name), SHOWN_NAME),
		brief: deprecated
			? 'deprecated'
			: joinFacts([form || range, standard.length <= SHOWN_DEFAULT && standard]),
		facts: joinFacts([
			isRequired ? 'required' : 'optional',
			form || nameTypes(listTypes(schema)),
			listShortly(schema.enum ?? getItems(schema).enum ?? []),
			range,
			earlier && `its ID is ${earlier.expression.slice(1)}`,
			describeParts(schema),
			length && `${length} characters`,
			standard,
			deprecated && 'deprecated',
		]),
		prose: description,
	};
}

const joinFacts = (facts: unknown[], by = '; '): string => facts.filter(Boolean).join(by);

/** Puts what is known behind a name. */
export const addFacts = (name: string, facts: string): string =>
	facts ? `${name} (${facts})` : name;

/** Finds how a value is entered: its type in the editor, and in words if it is no single value. */
function findForm(name: string, schema: JsonSchema): [type: FieldType, form: string] {
	const types = listTypes(schema);
	const takes = (...some: string[]) => some.some((type) => types.includes(type));
	const isText = takes('string') || !types.length;
	const takesFiles = isMedia(name, schema);
	if (takes('array') && !(takesFiles && schema.maxItems === 1)) {
		const isJson = !takesFiles && takesJson(schema);
		const form = takesFiles ? 'files' : isJson ? 'JSON list' : 'list';
		const count = describeCount(schema.minItems, schema.maxItems);
		return [isJson && !isText ? 'array' : 'string', joinFacts([form, count], ', ')];
	}
	if (takesFiles) return ['string', 'file'];
	if (takes('object')) return isText ? ['string', 'text or JSON'] : ['object', 'JSON'];
	if (isText || !takes('boolean', 'number', 'integer')) return ['string', ''];
	return [takes('boolean') ? 'boolean' : 'number', ''];
}

/** Lists the properties of the objects in a value, each with what is known of it. */
function describeParts(schema: JsonSchema): string {
	const object = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const parts = [...collectProperties(object).values()].map((part) =>
		addFacts(part.name, describeProperty(part).facts),
	);
	return parts.length ? `with ${listShortly(parts)}` : '';
}

/** Says how many there may be. A minimum of one is not worth saying. */
const describeCount = (min = 0, max?: number): string =>
	describeRange(min > (max ? 0 : 1) ? min : undefined, max);

const { format } = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

function describeRange(min?: number, max?: number): string {
	if (min === undefined) return max === undefined ? '' : `up to ${format(max)}`;
	if (max === undefined) return `at least ${format(min)}`;
	return min === max ? format(min) : `${format(min)} to ${format(max)}`;
}

const TYPE_NAMES = new Map([
	['string', 'text'],
	['number', 'a number'],
	['integer', 'a whole number'],
	['boolean', 'true or false'],
	['array', 'a list'],
	['object', 'a JSON object'],
]);

/** Names types for people, for example "text or a number". */
export const nameTypes = (types: string[]): string =>
	types.map((type) => TYPE_NAMES.get(type) ?? type).join(' or ');

/** Lists values for people. */
export const listShortly = (values: unknown[]): string =>
	cutText(values.map(formatValue).join(', '), SHOWN_LIST);

/** Writes a value as the name of a choice. */
export const nameValue = (value: unknown): string =>
	typeof value === 'boolean' ? toTitle(String(value)) : cutText(formatValue(value), SHOWN_NAME);

const formatValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);

/** Describes branches by what each requires, or by its type. */
export function describeForms(branches: JsonSchema[]): string {
	const forms = branches.map(
		(branch) =>
			branch.required?.map(toTitle).join(' + ') || nameTypes(listTypes(branch)) || 'any other',
	);
	return cutText(forms.join('; or '), SHOWN_LIST);
}
