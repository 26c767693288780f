import type { FieldType } from 'n8n-workflow';
import { cutText } from '../../lib/text';
import { FILE_HINT } from '../commonFields';
import { isBlank } from '../fieldErrors';
import { toTitle } from '../title';
import { findPurpose, type Purpose } from '../purpose';
import {
	getItems,
	listProperties,
	listTypes,
	takesJson,
	type JsonSchema,
	type Property,
} from '../schema';

/** Words about a model's fields: the same for the panel, Get Fields, AI builders and errors. */

/** The longest label, in characters: n8n's editor cuts longer ones. */
const MAX_LABEL = 26;

/** What must be left of a title, in characters. */
const SHORTEST_TITLE = 10;

/** The longest title, and the longest list. */
export const MAX_TITLE = 100;
const MAX_LIST = 500;

interface Description {
	purpose: Purpose;
	/** The type of its field in the editor. */
	type: FieldType;
	title: string;
	/** Its name in the editor: the title, and how to fill it in or its default, if there is room. */
	label: string;
	/** All of what it takes: "required; a whole number; 1 to 10; default 5". */
	summary: string;
	/** The service's own words. */
	prose: string;
}

export function describeProperty({ name, schema, isRequired }: Property): Description {
	const purpose = findPurpose(name, schema);
	const title = cutText(toTitle(name), MAX_TITLE);
	const { type, takes } = findControl(schema, purpose);
	const count = schema.maxItems === 1 ? '' : describeCount(schema.minItems, schema.maxItems);
	const length = describeCount(schema.minLength, schema.maxLength);
	const byDefault = isBlank(schema.default) ? '' : listShortly([schema.default]);
	const summary = [
		isRequired ? 'required' : 'optional',
		takes,
		count && `${count} entries`,
		listShortly(schema.enum ?? getItems(schema).enum ?? []),
		describeRange(schema.minimum, schema.maximum),
		length && `${length} characters`,
		namePartsOf(schema),
		byDefault && `default ${byDefault}`,
	];
	return {
		purpose,
		type,
		title,
		label: schema.enum
			? addDefault(title, byDefault)
			: addNote(title, findNote(title, purpose, takes)),
		summary: summary.filter(Boolean).join('; '),
		prose: schema.description ?? '',
	};
}

/** What a label says beside the title, if there is room: how to fill in the field. */
function findNote(title: string, purpose: Purpose, takes: string): string {
	if (purpose.kind === 'earlierResult') return purpose.title;
	if (purpose.kind === 'file') return / URLs?$/.test(title) ? 'or data' : 'URL or data';
	return NOTES.test(takes) ? takes : '';
}

/** How values are entered that their field doesn't show by itself. */
const NOTES = /^(with commas|.*JSON.*)$/;

/** Adds facts to a name, in parentheses. */
export const addFacts = (name: string, facts: string): string =>
	facts ? `${name} (${facts})` : name;

function addNote(title: string, note: string): string {
	const label = addFacts(title, note);
	return cutText(label.length > MAX_LABEL ? title : label, MAX_LABEL);
}

/** Adds the default of a choice to its title, which gives way as long as enough is left of it. */
function addDefault(title: string, byDefault: string): string {
	const room = MAX_LABEL - addFacts('', byDefault).length;
	return addNote(room < SHORTEST_TITLE ? title : cutText(title, room), byDefault);
}

/** How a value is entered in the editor. */
interface Control {
	type: FieldType;
	/** The same in words. */
	takes: string;
}

function findControl(schema: JsonSchema, purpose: Purpose): Control {
	const types = listTypes(schema);
	const isList = types.includes('array');
	const isText = types.includes('string') || !types.length;
	if (purpose.kind === 'earlierResult')
		return { type: 'string', takes: `${purpose.title}; its ID is ${purpose.expression.slice(1)}` };
	if (purpose.kind === 'file') {
		// A list that holds one file is entered as the file.
		const isSeveral = isList && schema.maxItems !== 1;
		return { type: 'string', takes: isSeveral ? `with commas; ${FILE_HINT}` : FILE_HINT };
	}
	if (takesJson(schema)) {
		const takes = isList ? 'JSON list' : isText ? 'text or JSON' : 'JSON';
		return { type: isText ? 'string' : isList ? 'array' : 'object', takes };
	}
	if (isList) return { type: 'string', takes: 'with commas' };
	const takes = nameTypes(types);
	if (isText) return { type: 'string', takes };
	return { type: types.includes('boolean') ? 'boolean' : 'number', takes };
}

/** Names what the objects in a value have. */
function namePartsOf(schema: JsonSchema): string {
	const object = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const names = listProperties(object).map(({ name }) => name);
	return names.length ? `with ${listShortly(names)}` : '';
}

const { format } = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

/** Says how many there may be, for example "up to 3". "At least 1" goes without saying. */
const describeCount = (min = 0, max?: number): string =>
	describeRange(min > 1 ? min : undefined, max);

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
	cutText(values.map(formatValue).join(', '), MAX_LIST);

/** Writes a value as the name of a choice. */
export const nameValue = (value: unknown): string =>
	typeof value === 'boolean' ? toTitle(String(value)) : cutText(formatValue(value), MAX_TITLE);

const formatValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);
