import { spaceWords } from '../../lib/text';
import { getItems, listTypes, listValues, type JsonSchema } from './jsonSchema';

/** Evidence that a property takes media. */
export type MediaEvidence = 'sure' | 'likely' | 'none';

const MEDIA = 'image|img|picture|photo|video|audio|frame|mask|clip|media|file';
const MEDIA_WORD = new RegExp(`^(${MEDIA})s?$`);
const URL_WORD = /^(url|uri)s?$/;
const SOURCE_WORD = /^(input|reference|ref|source|src)s?$/;

/** Pages and addresses for messages are URLs too, but not files. */
const OTHER_URL = /^(link|page|web|website|callback|webhook|hook|homepage|site)s?$/;

/** "URL of the image", "video links", in the first sentence of what the service writes about a property. */
const MEDIA_PROSE = new RegExp(
	`\\b(${MEDIA})s?('s)?( file)? (urls?|uris?|links?)\\b|\\b(urls?|uris?|links?) (of|to|for) ((the|an?|your|each|\\w+) ){0,3}(${MEDIA})s?\\b`,
	'i',
);

/** A description says at its beginning what a property takes, in characters. */
const READ_PROSE = 200;

/** Names of fields that hold words, even when they mention media. */
const WORDS = /^(prompt|prompts|text|description|caption|lyrics|style|title|script|id|name|type)$/;

/**
 * Judges by name, format and prose whether a property takes the URL of a file, or a list of them: services don't mark it reliably.
 * `likely`: only its prose says so.
 */
export function judgeMedia(name: string, schema: JsonSchema): MediaEvidence {
	const texts = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const types = [...listTypes(schema), ...listTypes(texts)];
	if (types.length ? !types.includes('string') : schema.properties) return 'none';
	if (listValues(schema) ?? listValues(texts)) return 'none';
	const words = spaceWords(name)
		.split(/[^a-z]+/)
		.filter(Boolean);
	if (words.some((word) => OTHER_URL.test(word))) return 'none';
	const has = (form: RegExp) => words.some((word) => form.test(word));
	if ([schema.format, texts.format].some((format) => format === 'uri' || format === 'url'))
		return 'sure';
	if (has(URL_WORD) && (has(MEDIA_WORD) || has(SOURCE_WORD) || words.length === 1)) return 'sure';
	const last = words.at(-1) ?? '';
	if (MEDIA_WORD.test(last) || (has(MEDIA_WORD) && SOURCE_WORD.test(last))) return 'sure';
	if (has(WORDS)) return 'none';
	const prose = schema.description ?? texts.description ?? '';
	const [sentence = ''] = prose.slice(0, READ_PROSE).split(/[.\n]/);
	return MEDIA_PROSE.test(sentence) && !/\b(web ?)?(page|site|callback|webhook)s?\b/i.test(sentence)
		? 'likely'
		: 'none';
}
