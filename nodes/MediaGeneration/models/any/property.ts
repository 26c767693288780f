import type { FieldType } from 'n8n-workflow';
import { NODE_NAME } from '../../lib/brand';
import { cutText, spaceWords } from '../../lib/text';
import { FILE_HINT, OR_FIELD } from '../commonFields';
import { isBlank } from '../field';
import { toTitle } from '../title';
import {
	getItems,
	listProperties,
	listTypes,
	takesJson,
	type JsonSchema,
	type Property,
} from './schema';

/** What a property is for, and its description in the editor, in guides and in errors. */

const MEDIA_WORD = /^(image|img|picture|photo|video|audio|frame|mask|clip|media|file)s?$/;
const URL_WORD = /^(url|uri)s?$/;
const SOURCE_WORD = /^(input|reference|ref|source|src)s?$/;

/** URLs of pages and of callbacks aren't files. */
const OTHER_URL = /^(link|page|web|website|callback|webhook|hook|homepage|site)s?$/;

/** The ID of a task or file that an earlier node created. */
interface EarlierResult {
	kind: 'earlierResult';
	/** What the editor calls it. */
	title: string;
	/** Where the item has the ID. n8n runs this, so no text of the service may get into it. */
	expression: string;
	/** What to do when the ID is missing. */
	remedy: string;
}

/** What a property is for. 'prompt' is the free text that the node has its own field for. */
export type Purpose = { kind: 'file' | 'prompt' | 'value' } | EarlierResult;

/** Each with the words in which a name ends that asks for one. */
const EARLIER_RESULTS: Array<[ending: RegExp, result: EarlierResult]> = [
	[
		/\btask id$/,
		{
			kind: 'earlierResult',
			title: 'earlier task',
			expression: '={{ $json.taskId }}',
			remedy: `Connect the ${NODE_NAME} node that created the earlier task before this node, and fill in {{ $json.taskId }}.`,
		},
	],
	[
		/\b(audio|song|track|music|clip) id$/,
		{
			kind: 'earlierResult',
			title: 'earlier file',
			expression: '={{ $json.file.id }}',
			remedy: `Connect the ${NODE_NAME} node that created the earlier file before this node, set 'Output Items' in its Options to One per File, and fill in {{ $json.file.id }}.`,
		},
	],
];

/** Tells what a property is for by its name and schema, because services don't mark it reliably. */
export function findPurpose(name: string, schema: JsonSchema): Purpose {
	if (takesFiles(name, schema)) return { kind: 'file' };
	if (!takesText(schema)) return { kind: 'value' };
	if (name === 'prompt') return { kind: 'prompt' };
	const words = spaceWords(name);
	const [, earlier] = EARLIER_RESULTS.find(([ending]) => ending.test(words)) ?? [];
	return earlier ?? { kind: 'value' };
}

/** Recognizes a property that takes URLs of files. The option Media Fields adds others. */
function takesFiles(name: string, schema: JsonSchema): boolean {
	const texts = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const types = [...listTypes(schema), ...listTypes(texts)];
	if (!takesText(schema, types) || texts.enum) return false;
	const words = spaceWords(name).match(/[a-z]+/g) ?? [];
	if (words.some((word) => OTHER_URL.test(word))) return false;
	const isUrl = [schema.format, texts.format].some((one) => one === 'uri' || one === 'url');
	return isUrl || meansFile(words);
}

/** Says whether the words of a name mean a file, as those of `image_url` or `reference_image`. */
function meansFile(words: string[]): boolean {
	const has = (kind: RegExp) => words.some((word) => kind.test(word));
	const last = words.at(-1) ?? '';
	if (MEDIA_WORD.test(last)) return true;
	if (has(MEDIA_WORD)) return has(URL_WORD) || SOURCE_WORD.test(last);
	return has(URL_WORD) && (has(SOURCE_WORD) || words.length === 1);
}

/** Says whether a schema that allows these types takes text of any kind. */
const takesText = (schema: JsonSchema, types = listTypes(schema)): boolean =>
	!schema.enum && (types.length ? types.includes('string') : !schema.properties);

/** The longest title, of a model too, the longest list, and default in a brief, in characters. */
export const MAX_TITLE = 100;
const MAX_LIST = 500;
const MAX_DEFAULT = 32;

interface Description {
	purpose: Purpose;
	/** The type of its field in the editor. */
	type: FieldType;
	title: string;
	/** What to enter, in short, for its name in the editor. */
	brief: string;
	/** Everything that is known, for guides: "required; a whole number; 1 to 10; default 5". */
	facts: string;
	/** The service's own words. */
	prose: string;
}

/** Describes a property once, for the editor's field, the guide beside it, and AI builders. */
export function describeProperty({ name, schema, isRequired }: Property): Description {
	const purpose = findPurpose(name, schema);
	const earlier = purpose.kind === 'earlierResult' ? purpose : undefined;
	const title = cutText(toTitle(name), MAX_TITLE);
	const { type, words, short } = findControl(schema, purpose, title);
	const range = words ? '' : describeRange(schema.minimum, schema.maximum);
	const byDefault = isBlank(schema.default) ? '' : `default ${listShortly([schema.default])}`;
	const length = describeCount(schema.minLength, schema.maxLength);
	const brief = [short || range, byDefault.length <= MAX_DEFAULT && byDefault];
	const facts = [
		isRequired ? 'required' : 'optional',
		words || nameTypes(listTypes(schema)),
		listShortly(schema.enum ?? getItems(schema).enum ?? []),
		range,
		earlier && `its ID is ${earlier.expression.slice(1)}`,
		describeParts(schema),
		length && `${length} characters`,
		byDefault,
		schema.deprecated && 'deprecated',
	];
	return {
		purpose,
		type,
		title,
		brief: schema.deprecated ? 'deprecated' : joinFacts(brief),
		facts: joinFacts(facts),
		prose: schema.description ?? '',
	};
}

const joinFacts = (facts: unknown[], by = '; '): string => facts.filter(Boolean).join(by);

/** Adds facts to a name, in parentheses. */
export const addFacts = (name: string, facts: string): string =>
	facts ? `${name} (${facts})` : name;

/** How a value is entered in the editor. */
interface Control {
	type: FieldType;
	/** The same for guides, for example "JSON list, 1 to 3"; blank: a single value, as its type says. */
	words: string;
	/** The same for the field's name, which may say a part of it. */
	short: string;
}

const toControl = (type: FieldType, words = '', short = words): Control => ({ type, words, short });

/** @param title the name of the field, which may say that it takes a URL */
function findControl(schema: JsonSchema, purpose: Purpose, title: string): Control {
	const types = listTypes(schema);
	const takes = (type: string) => types.includes(type);
	const isText = takes('string') || !types.length;
	if (purpose.kind === 'earlierResult') return toControl('string', purpose.title);
	if (purpose.kind === 'file') return findFileControl(schema, title);
	if (takes('array')) return findListControl(schema, isText);
	if (takes('object'))
		return isText ? toControl('string', 'text or JSON') : toControl('object', 'JSON');
	if (isText) return toControl('string');
	if (takes('boolean')) return toControl('boolean');
	return toControl(takes('number') || takes('integer') ? 'number' : 'string');
}

const WITH_COMMAS = 'separate with commas';

function findFileControl(schema: JsonSchema, title: string): Control {
	const short = / URLs?$/.test(title) ? OR_FIELD : FILE_HINT;
	// A list that holds one file is entered as the file.
	const isList = listTypes(schema).includes('array') && schema.maxItems !== 1;
	if (!isList) return toControl('string', FILE_HINT, short);
	const words = joinFacts([describeList('list', schema), FILE_HINT]);
	return toControl('string', words, joinFacts([short, WITH_COMMAS]));
}

function findListControl(schema: JsonSchema, isText: boolean): Control {
	if (takesJson(schema))
		return toControl(isText ? 'string' : 'array', describeList('JSON list', schema));
	const count = describeCount(schema.minItems, schema.maxItems);
	const short = joinFacts([count, WITH_COMMAS], ', ');
	return toControl('string', describeList('list', schema), short);
}

const describeList = (words: string, { minItems, maxItems }: JsonSchema): string =>
	joinFacts([words, describeCount(minItems, maxItems)], ', ');

/** Lists the properties of the objects in a value, each with its facts. */
function describeParts(schema: JsonSchema): string {
	const object = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const parts = listProperties(object).map((part) =>
		addFacts(part.name, describeProperty(part).facts),
	);
	return parts.length ? `with ${listShortly(parts)}` : '';
}

/** Says how many there may be, for example "up to 3". "At least 1" goes without saying. */
function describeCount(min = 0, max?: number): string {
	const isSaid = max ? min > 0 : min > 1;
	return describeRange(isSaid ? min : undefined, max);
}

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
	cutText(values.map(formatValue).join(', '), MAX_LIST);

/** Writes a value as the name of a choice. */
export const nameValue = (value: unknown): string =>
	typeof value === 'boolean' ? toTitle(String(value)) : cutText(formatValue(value), MAX_TITLE);

const formatValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);

/** Describes the branches of a schema by what each requires. */
export const describeForms = (forms: string[][]): string =>
	cutText(
		forms.map((names) => names.map(toTitle).join(' + ') || 'any other').join('; or '),
		MAX_LIST,
	);
