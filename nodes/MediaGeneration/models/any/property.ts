import type { FieldType } from 'n8n-workflow';
import { NODE_NAME } from '../../lib/brand';
import { cutText, spaceWords } from '../../lib/text';
import { FILE_HINT, OR_FIELD } from '../commonFields';
import { isBlank } from '../field';
import { toTitle } from '../title';
import {
	collectProperties,
	getItems,
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

const EARLIER_RESULTS: Array<[name: RegExp, result: EarlierResult]> = [
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

/** Tells what a property is for by its name and form, because services don't mark it reliably. */
export function findPurpose(name: string, schema: JsonSchema): Purpose {
	if (takesFiles(name, schema)) return { kind: 'file' };
	if (!takesText(schema)) return { kind: 'value' };
	if (name === 'prompt') return { kind: 'prompt' };
	const words = spaceWords(name);
	const [, earlier] = EARLIER_RESULTS.find(([form]) => form.test(words)) ?? [];
	return earlier ?? { kind: 'value' };
}

/** Recognizes a property that takes URLs of files. The option Media Fields adds others. */
function takesFiles(name: string, schema: JsonSchema): boolean {
	const texts = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const types = [...listTypes(schema), ...listTypes(texts)];
	const words = spaceWords(name).split(/[^a-z]+/);
	const has = (form: RegExp) => words.some((word) => form.test(word));
	if (!takesText(schema, types) || texts.enum || has(OTHER_URL)) return false;
	if ([schema.format, texts.format].some((format) => format === 'uri' || format === 'url'))
		return true;
	const [last = '', ...others] = words.filter(Boolean).reverse();
	if (has(URL_WORD) && (has(MEDIA_WORD) || has(SOURCE_WORD) || !others.length)) return true;
	return MEDIA_WORD.test(last) || (has(MEDIA_WORD) && SOURCE_WORD.test(last));
}

/** Says whether a schema that allows these types takes text of any kind. */
const takesText = (schema: JsonSchema, types = listTypes(schema)): boolean =>
	!schema.enum && (types.length ? types.includes('string') : !schema.properties);

/** The longest title, list, and default in a brief, in characters. */
const MAX_TITLE = 100;
const MAX_LIST = 500;
const MAX_DEFAULT = 32;

interface Description {
	purpose: Purpose;
	/** The type of its field in the editor. */
	type: FieldType;
	title: string;
	/** What to enter, in short, for its name in the editor. */
	brief: string;
	/** Everything that is known, for guides. */
	facts: string;
	/** The service's own words. */
	prose: string;
}

/** Describes a property once, for the editor's field, the guide beside it, and AI builders. */
export function describeProperty({ name, schema, isRequired }: Property): Description {
	const { default: initial, deprecated, description = '' } = schema;
	const purpose = findPurpose(name, schema);
	const earlier = purpose.kind === 'earlierResult' ? purpose : undefined;
	const title = cutText(toTitle(name), MAX_TITLE);
	const { type, form, entry } = findForm(schema, purpose, title);
	const range = form ? '' : describeRange(schema.minimum, schema.maximum);
	const standard = isBlank(initial) ? '' : `default ${listShortly([initial])}`;
	const length = describeCount(schema.minLength, schema.maxLength);
	return {
		purpose,
		type,
		title,
		brief: deprecated
			? 'deprecated'
			: joinFacts([entry || range, standard.length <= MAX_DEFAULT && standard]),
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

/** Adds facts to a name, in parentheses. */
export const addFacts = (name: string, facts: string): string =>
	facts ? `${name} (${facts})` : name;

interface Form {
	/** The type of the field in the editor. */
	type: FieldType;
	/** In words, unless it is a single value. */
	form: string;
	/** What a person enters in the field of this form. */
	entry: string;
}

/** Makes a form whose words say what to enter as well. */
const toForm = (type: FieldType, form = ''): Form => ({ type, form, entry: form });

/** Finds the form of a value. @param title the name of its field, which may say that it takes a URL */
function findForm(schema: JsonSchema, purpose: Purpose, title: string): Form {
	const types = listTypes(schema);
	const takes = (...some: string[]) => some.some((type) => types.includes(type));
	const isText = takes('string') || !types.length;
	const isList = takes('array');
	if (purpose.kind === 'earlierResult') return toForm('string', purpose.title);
	if (purpose.kind === 'file') return findFileForm(schema, isList && schema.maxItems !== 1, title);
	if (isList) return findListForm(schema, isText);
	if (takes('object')) return isText ? toForm('string', 'text or JSON') : toForm('object', 'JSON');
	if (isText || !takes('boolean', 'number', 'integer')) return toForm('string');
	return toForm(takes('boolean') ? 'boolean' : 'number');
}

const WITH_COMMAS = 'separate with commas';

function findFileForm(schema: JsonSchema, isList: boolean, title: string): Form {
	const one = / URLs?$/.test(title) ? OR_FIELD : FILE_HINT;
	if (!isList) return { type: 'string', form: FILE_HINT, entry: one };
	const form = joinFacts([describeList('list', schema), FILE_HINT]);
	return { type: 'string', form, entry: joinFacts([one, WITH_COMMAS]) };
}

function findListForm(schema: JsonSchema, isText: boolean): Form {
	if (takesJson(schema))
		return toForm(isText ? 'string' : 'array', describeList('JSON list', schema));
	const count = describeCount(schema.minItems, schema.maxItems);
	const entry = joinFacts([count, WITH_COMMAS], ', ');
	return { type: 'string', form: describeList('list', schema), entry };
}

const describeList = (form: string, { minItems, maxItems }: JsonSchema): string =>
	joinFacts([form, describeCount(minItems, maxItems)], ', ');

/** Lists the properties of the objects in a value, each with its facts. */
function describeParts(schema: JsonSchema): string {
	const object = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const parts = [...collectProperties(object).values()].map((part) =>
		addFacts(part.name, describeProperty(part).facts),
	);
	return parts.length ? `with ${listShortly(parts)}` : '';
}

/** Says how many there may be. A minimum of one goes without saying. */
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
	cutText(values.map(formatValue).join(', '), MAX_LIST);

/** Writes a value as the name of a choice. */
export const nameValue = (value: unknown): string =>
	typeof value === 'boolean' ? toTitle(String(value)) : cutText(formatValue(value), MAX_TITLE);

const formatValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);

/** Describes branches by what they require, or by their types. */
export function describeForms(branches: JsonSchema[]): string {
	const forms = branches.map(
		(branch) =>
			branch.required?.map(toTitle).join(' + ') || nameTypes(listTypes(branch)) || 'any other',
	);
	return cutText(forms.join('; or '), MAX_LIST);
}
