import { spaceWords } from '../lib/text';
import type { FileLimits } from '../media/inspect';

/* What a model takes, in the words of JSON Schema, and functions that ask a schema what it says. */

/**
 * The keywords of JSON Schema 2020-12 (OpenAPI 3.1) that are read here, with every `$ref` resolved,
 * and the branches of `anyOf`, `oneOf` and `allOf` joined. The service checks the rest.
 */
export interface JsonSchema
	extends Partial<Record<`${'min' | 'max'}${'imum' | 'Length' | 'Items'}`, number>> {
	type?: string | string[];
	/** The only values. Also holds `const`. */
	enum?: unknown[];
	format?: string;
	items?: JsonSchema;
	properties?: Record<string, JsonSchema>;
	required?: string[];
	default?: unknown;
	description?: string;
	/** What each of the values means, as the description says. */
	meanings?: Record<string, string>;
	/** The name in the editor. Only the node's own fields have this key and those below, no document. */
	title?: string;
	/** What a text must be. Blanks around it are not sent. */
	rule?: {
		isValid: (text: string) => boolean;
		/** Follows the name of the place, for example "must be a ratio". */
		message: string;
	};
	/** The model's limits for a file. */
	limits?: FileLimits;
	/** A field that is left blank is sent as a blank text. */
	isSentBlank?: true;
	/** `required` is meant, also of a list or object. Services name such parts in `required` without need. */
	isStrict?: true;
}

export interface Property {
	name: string;
	schema: JsonSchema;
	/** Required in every branch. */
	isRequired: boolean;
}

/** Recognizes by its name what the node itself adds to the fields, for example `$schema`. */
export const isNodesName = (name: string): boolean => name.startsWith('$');

/** Looks up a part of an object or a list. Inherited properties are no parts. */
export const getPart = (value: unknown, name: string | number): unknown =>
	typeof value === 'object' && value !== null && Object.hasOwn(value, name)
		? (value as Record<string, unknown>)[name]
		: undefined;

/** Lists the types that a value may have, without null. An empty list means any type. */
export const listTypes = ({ type = [] }: JsonSchema): string[] =>
	[type].flat().filter((one) => one !== 'null');

export const getType = (value: unknown): string =>
	Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;

/** Says whether a value has one of a schema's own types. */
export function hasType({ type = [] }: JsonSchema, value: unknown): boolean {
	const types = [type].flat();
	const isInteger = types.includes('integer') && Number.isInteger(value);
	return !types.length || isInteger || types.includes(getType(value));
}

/** Says whether two JSON values are the same, with their keys in the same order. */
export const isEqual = (one: unknown, other: unknown): boolean =>
	one === other || JSON.stringify(one) === JSON.stringify(other);

/** The schema of a list's parts. */
export const getItems = ({ items = {} }: JsonSchema): JsonSchema => items;

/** Says whether a value is a list that may have several parts. */
export const takesSeveral = (schema: JsonSchema): boolean =>
	listTypes(schema).includes('array') && schema.maxItems !== 1;

/** Finds the schema of a property. A property without a schema may be anything. */
export const getProperty = ({ properties }: JsonSchema, name: string): JsonSchema =>
	(getPart(properties, name) as JsonSchema | undefined) ?? {};

/**
 * Lists the properties of an object in the schema's order, then names that are only in `required`. A
 * property with a name like those that the node adds isn't listed. Extra Fields can send it.
 */
export function listProperties(schema: JsonSchema): Property[] {
	const { properties = {}, required = [] } = schema;
	const requiredNames = new Set(required);
	const names = [...new Set([...Object.keys(properties), ...required])];
	return names
		.filter((name) => !isNodesName(name))
		.map((name) => ({
			name,
			schema: getProperty(schema, name),
			isRequired: requiredNames.has(name),
		}));
}

/** Lists the names in an input that aren't the model's; none if the model has no known fields. */
export function listForeign(schema: JsonSchema, input: object): string[] {
	const names = listProperties(schema).map(({ name }) => name);
	const isForeign = (name: string) => !names.includes(name) && !getPart(schema.properties, name);
	return names.length ? Object.keys(input).filter(isForeign) : [];
}

/**
 * Says whether a value is written as JSON: an object, or a list whose parts are objects, lists, or of no
 * known type.
 */
export function takesJson(schema: JsonSchema): boolean {
	const types = listTypes(schema);
	const partTypes = listTypes(getItems(schema));
	const isNested = !partTypes.length || partTypes.includes('object') || partTypes.includes('array');
	return types.includes('object') || (types.includes('array') && isNested);
}

/** Says whether a schema takes free text. @param types that the schema allows */
const takesText = (schema: JsonSchema, types = listTypes(schema)): boolean =>
	!schema.enum && (types.length ? types.includes('string') : !schema.properties);

/** What a property is for. 'prompt' is free text for which the node has its own field. */
export type Purpose =
	| { role: 'file' | 'prompt' | 'value' }
	| {
			/** The ID of a task or file that a node before this one created. */
			role: 'resultId';
			/** What the editor calls it. */
			title: string;
			/** The expression for the ID. n8n runs it, so it never contains text of the service. */
			expression: string;
	  };

/** Tells what a property is for by its name and schema, because services don't mark it reliably. */
export function findPurpose(name: string, schema: JsonSchema): Purpose {
	if (takesFiles(name, schema)) return { role: 'file' };
	if (!takesText(schema)) return { role: 'value' };
	if (name === 'prompt') return { role: 'prompt' };
	const words = spaceWords(name);
	if (/\btask id$/.test(words))
		return { role: 'resultId', title: 'earlier task', expression: '={{ $json.taskId }}' };
	if (/\b(audio|song|track|music|clip) id$/.test(words))
		return { role: 'resultId', title: 'earlier file', expression: '={{ $json.file.id }}' };
	return { role: 'value' };
}

/** Says whether a model has a prompt, for which the node has its own field. */
export const hasPrompt = (schema: JsonSchema): boolean =>
	listProperties(schema).some((one) => findPurpose(one.name, one.schema).role === 'prompt');

const MEDIA_WORD = /^(image|img|picture|photo|video|audio|frame|mask|clip|media|file)s?$/;
const URL_WORD = /^(url|uri)s?$/;
const SOURCE_WORD = /^(input|reference|ref|source|src)s?$/;

/** URLs of pages and of callbacks aren't files. */
const OTHER_URL = /^(link|page|web|website|callback|webhook|hook|homepage|site)s?$/;

/** Names of texts and IDs. Their descriptions may speak of links that stand in the texts. */
const TEXT_WORD = /^(id|prompt|text|caption|script|lyric|description|title|name|style|message)s?$/;

/** How the description of a URL begins: "The public URL of …", "A link to …", "URLs of …". */
const IS_URL =
	/^(?:(?:an?|the|optional|required|public|publicly|accessible|direct|download|https?|web|image|video|audio|file|media|list|array|of|up to|one|two|\d+)[ ,-]+)*(?:urls?|links?)\b/i;

/** Words for what a text may be in place of a URL. */
const OTHER_FORM = /\b(base-?64|ids?)\b/i;

/** Recognizes a property that takes URLs of files. */
function takesFiles(name: string, schema: JsonSchema): boolean {
	const texts = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const types = [...listTypes(schema), ...listTypes(texts)];
	if (!takesText(schema, types) || texts.enum || name === 'prompt') return false;
	const words = listWords(name);
	if (hasWordOf(words, OTHER_URL)) return false;
	if (isUrlFormat(schema.format) || isUrlFormat(texts.format) || meansFile(words)) return true;
	const { description = '' } = schema;
	return IS_URL.test(description) && !OTHER_FORM.test(description) && !hasWordOf(words, TEXT_WORD);
}

const isUrlFormat = (format = ''): boolean => /^ur[il]$/.test(format);

/** Lists the words of a name without their numbers, as in image1. */
const listWords = (name: string): string[] => spaceWords(name).match(/[a-z]+/g) ?? [];

const hasWordOf = (words: string[], pattern: RegExp): boolean =>
	words.some((word) => pattern.test(word));

/** Says whether the words of a name mean a file, as those of `image_url` or `reference_image`. */
function meansFile(words: string[]): boolean {
	const last = words.at(-1) ?? '';
	if (MEDIA_WORD.test(last)) return true;
	if (hasWordOf(words, MEDIA_WORD)) return hasWordOf(words, URL_WORD) || SOURCE_WORD.test(last);
	return hasWordOf(words, URL_WORD) && (hasWordOf(words, SOURCE_WORD) || words.length === 1);
}

/** Says whether the document itself, and not only a name, says that a text is nothing but a URL. */
export const saysUrl = ({ format, description = '' }: JsonSchema): boolean =>
	(isUrlFormat(format) || /\b(urls?|links?)\b/i.test(description)) && !OTHER_FORM.test(description);

/** Says whether the document says that a file may be given as text. */
export const takesBase64 = ({ description = '' }: JsonSchema): boolean =>
	/\b(base-?64|data[ -]ur[il]s?)\b/i.test(description);

const MEDIA_CONTENT =
	/^(image|img|picture|photo|frame|mask|video|clip|audio|media|sound|music|song|voice)s?$/;

/** Says whether a name means a picture, a video or sound. Their first bytes tell them from text. */
export const meansPictureOrSound = (name: string): boolean =>
	hasWordOf(listWords(name), MEDIA_CONTENT);
