import { NODE_NAME } from '../lib/brand';
import { spaceWords } from '../lib/text';
import { getItems, listTypes, type JsonSchema } from './schema';

/** What a property is for. */

const MEDIA_WORD = /^(image|img|picture|photo|video|audio|frame|mask|clip|media|file)s?$/;
const URL_WORD = /^(url|uri)s?$/;
const SOURCE_WORD = /^(input|reference|ref|source|src)s?$/;

/** URLs of pages and of callbacks aren't files. */
const OTHER_URL = /^(link|page|web|website|callback|webhook|hook|homepage|site)s?$/;

/** Names of texts and IDs, whatever is said of links in them. */
const TEXT_WORD = /^(id|prompt|text|caption|script|lyric|description|title|name|style|message)s?$/;

/** How a description begins that says what a value is: "The public URL of …", "A link to …", "URLs of …". */
const IS_URL =
	/^(?:(?:an?|the|optional|required|public|publicly|accessible|direct|download|https?|web|image|video|audio|file|media|list|array|of|up to|one|two|\d+)[ ,-]+)*(?:urls?|links?)\b/i;

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
	[/\btask id$/, describeEarlier('earlier task', '={{ $json.taskId }}')],
	[
		/\b(audio|song|track|music|clip) id$/,
		describeEarlier(
			'earlier file',
			'={{ $json.file.id }}',
			" set 'Output Items' in its Options to One per File,",
		),
	],
];

/** @param setting what the earlier node needs to output it */
function describeEarlier(title: string, expression: string, setting = ''): EarlierResult {
	const remedy = `Connect the ${NODE_NAME} node that created the ${title} before this node,${setting} and fill in ${expression.slice(1)}.`;
	return { kind: 'earlierResult', title, expression, remedy };
}

/** Tells what a property is for by its name and schema, because services don't mark it reliably. */
export function findPurpose(name: string, schema: JsonSchema): Purpose {
	if (takesFiles(name, schema)) return { kind: 'file' };
	if (!takesText(schema)) return { kind: 'value' };
	if (name === 'prompt') return { kind: 'prompt' };
	const words = spaceWords(name);
	const [, earlier] = EARLIER_RESULTS.find(([ending]) => ending.test(words)) ?? [];
	return earlier ?? { kind: 'value' };
}

/** Recognizes a property that takes URLs of files. */
function takesFiles(name: string, schema: JsonSchema): boolean {
	const texts = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const types = [...listTypes(schema), ...listTypes(texts)];
	if (!takesText(schema, types) || texts.enum || name === 'prompt') return false;
	const words = listWords(name);
	if (words.some((word) => OTHER_URL.test(word))) return false;
	if (isUrlFormat(schema.format) || isUrlFormat(texts.format) || meansFile(words)) return true;
	return isUrl(schema.description) && !words.some((word) => TEXT_WORD.test(word));
}

const isUrlFormat = (format = ''): boolean => /^ur[il]$/.test(format);

/** What a text is, if it isn't a URL alone. */
const OTHER_FORM = /\b(base-?64|ids?)\b/i;

/** Says whether the document itself, and not only a name, says that a text is nothing but a URL. */
export const saysUrl = ({ format, description = '' }: JsonSchema): boolean =>
	(isUrlFormat(format) || /\b(urls?|links?)\b/i.test(description)) && !OTHER_FORM.test(description);

/** Says whether a description says that a value is a URL, and not only that a URL has to do with it. */
const isUrl = (description = ''): boolean =>
	IS_URL.test(description) && !OTHER_FORM.test(description);

/** Says whether the document says that a file may be given as text. */
export const takesBase64 = ({ description = '' }: JsonSchema): boolean =>
	/\b(base-?64|data[ -]ur[il]s?)\b/i.test(description);

const MEDIA_CONTENT =
	/^(image|img|picture|photo|frame|mask|video|clip|audio|media|sound|music|song|voice)s?$/;

/** Says whether a name means a picture, a video or sound, of which the first bytes tell. */
export const meansMedia = (name: string): boolean =>
	listWords(name).some((word) => MEDIA_CONTENT.test(word));

/** Lists the words of a name without their numbers, as in image1. */
const listWords = (name: string): string[] => spaceWords(name).match(/[a-z]+/g) ?? [];

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
