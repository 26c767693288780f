import type { FieldType } from 'n8n-workflow';
import { cutText, spaceWords } from '../lib/text';
import { FILE_HINT } from './commonFields';
import {
	findPurpose,
	getItems,
	listProperties,
	listTypes,
	takesJson,
	takesSeveral,
	type JsonSchema,
	type Property,
	type Purpose,
} from './schema';
import { isBlank } from './values';

/** Words about a model's fields: the same for the panel, Get Fields, AI builders and errors. */

const ABBREVIATION =
	/^(ai|api|bgm|bpm|cfg|fps|gif|hdr?|id|ip|lut|mp[34]|png|rgb|svg|tts|ur[il]|vr|[23]d)(s?)$/;
const SMALL_WORD = /^(an?|and|as|at|by|for|from|in|of|on|or|the|to|with)$/;

/** Writes a property's name as the editor writes names: "Image URLs" for `image_urls`. */
export function toTitle(name: string): string {
	const words = spaceWords(name).trim().split(' ');
	const titled = words.map((word, index) => {
		const [, abbreviation, plural] = ABBREVIATION.exec(word) ?? [];
		if (abbreviation) return `${abbreviation.toUpperCase()}${plural}`;
		if (index > 0 && SMALL_WORD.test(word)) return word;
		return word.charAt(0).toUpperCase() + word.slice(1);
	});
	return titled.join(' ') || name;
}

/** Names a place within a value, for example "Images 2" or "Shot › From". */
export const nameStep = (whole: string, step: string | number, { title }: JsonSchema): string =>
	typeof step === 'number'
		? `${whole} ${step + 1}`
		: `${whole && `${whole} › `}${title ?? toTitle(step)}`;

/** The longest label, in characters: n8n's editor cuts longer ones. */
const MAX_LABEL = 26;

/** What must be left of a title, in characters. */
const SHORTEST_TITLE = 10;

/** The longest list, in characters. */
const MAX_LIST = 500;

/**
 * Describes a property. Its `label` is the name in the editor: the title, and its default or how to
 * fill it in, if there is room. `summary` is all of what it takes, such as "required; a whole number of
 * 1 to 10; default 5".
 */
export function describeProperty({ name, schema, isRequired }: Property) {
	const purpose = findPurpose(name, schema);
	const title = toTitle(name);
	const { type, takes, note = '' } = findControl(schema, purpose, title);
	const { enum: values, maxItems } = schema;
	const count = maxItems === 1 ? '' : describeRange(schema.minItems, maxItems);
	const length = describeRange(schema.minLength, schema.maxLength);
	const byDefault = isBlank(schema.default) ? '' : listShortly([schema.default]);
	const summary = [
		isRequired ? 'required' : 'optional',
		takes,
		count && `${count} entries`,
		listShortly(values ?? getItems(schema).enum ?? []),
		length && `${length} characters`,
		nameParts(schema),
		byDefault && `default ${byDefault}`,
	];
	return {
		purpose,
		type,
		title,
		label: values ? addNote(title, byDefault, true) : addNote(title, note),
		summary: summary.filter(Boolean).join('; '),
	};
}

/** Finds how a value is entered in the editor: its type, the same in words, and what a label says of it. */
function findControl(
	schema: JsonSchema,
	purpose: Purpose,
	title: string,
): { type: FieldType; takes: string; note?: string } {
	const types = listTypes(schema);
	const isList = types.includes('array');
	const isText = types.includes('string') || !types.length;
	if (purpose.kind === 'earlierResult') {
		const takes = `${purpose.title}; its ID is ${purpose.expression.slice(1)}`;
		return { type: 'string', takes, note: purpose.title };
	}
	if (purpose.kind === 'file') {
		// A list that holds one file is entered as the file.
		const takes = takesSeveral(schema) ? `with commas; ${FILE_HINT}` : FILE_HINT;
		return { type: 'string', takes, note: / URLs?$/.test(title) ? 'or data' : 'URL or data' };
	}
	if (takesJson(schema)) {
		const takes = isList ? 'JSON list' : isText ? 'text or JSON' : 'JSON';
		return { type: isText ? 'string' : isList ? 'array' : 'object', takes, note: takes };
	}
	if (isList) return { type: 'string', takes: 'with commas', note: 'with commas' };
	const takes = types.length ? describeTypes(schema) : '';
	if (isText) return { type: 'string', takes };
	return { type: types.includes('boolean') ? 'boolean' : 'number', takes };
}

/** Adds facts to a name, in parentheses. */
export const addFacts = (name: string, facts: string): string =>
	facts ? `${name} (${facts})` : name;

/** Adds a note to a title if there is room. A title that gives way is cut, as long as enough is left. */
function addNote(title: string, note: string, givesWay = false): string {
	const label = addFacts(title, note);
	if (label.length <= MAX_LABEL) return label;
	const room = MAX_LABEL - addFacts('', note).length;
	return givesWay && room >= SHORTEST_TITLE
		? addFacts(cutText(title, room), note)
		: cutText(title, MAX_LABEL);
}

/** Names what the objects in a value have. */
function nameParts(schema: JsonSchema): string {
	const object = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const names = listProperties(object).map(({ name }) => name);
	return names.length ? `with ${listShortly(names)}` : '';
}

const { format } = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

/** Says how large a number or a length may be, for example "at most 3"; blank: as anyone likes. */
export function describeRange(min?: number, max?: number): string {
	if (min === undefined) return max === undefined ? '' : `at most ${format(max)}`;
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
};

/** Names the types of a schema, with the range of its numbers: "text or a whole number of 1 to 10". */
export function describeTypes(schema: JsonSchema): string {
	const types = listTypes(schema).map((type) => TYPE_NAMES[type] ?? type);
	const range = describeRange(schema.minimum, schema.maximum);
	return `${types.join(' or ') || 'a number'}${range && ` of ${range}`}`;
}

/** Lists values for people. */
export const listShortly = (values: unknown[]): string =>
	cutText(
		values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', '),
		MAX_LIST,
	);
