import { spaceWords } from '../../lib/text';
import { getItems, listTypes, listValues, type JsonSchema } from './jsonSchema';

const MEDIA_WORD = /^(image|img|picture|photo|video|audio|frame|mask|clip|media|file)s?$/;
const URL_WORD = /^(url|uri)s?$/;
const SOURCE_WORD = /^(input|reference|ref|source|src)s?$/;

/** Pages and addresses for messages are URLs too, but not files. */
const OTHER_URL = /^(link|page|web|website|callback|webhook|hook|homepage|site)s?$/;

/**
 * Recognizes by name and format a property that takes the URL of a file, or a list of them:
 * services don't mark it reliably. For others there is the option Media Fields.
 */
export function isMedia(name: string, schema: JsonSchema): boolean {
	const texts = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const types = [...listTypes(schema), ...listTypes(texts)];
	if (types.length ? !types.includes('string') : schema.properties) return false;
	if (listValues(schema) ?? listValues(texts)) return false;
	const words = spaceWords(name)
		.split(/[^a-z]+/)
		.filter(Boolean);
	if (words.some((word) => OTHER_URL.test(word))) return false;
	if ([schema.format, texts.format].some((format) => format === 'uri' || format === 'url'))
		return true;
	const has = (form: RegExp) => words.some((word) => form.test(word));
	if (has(URL_WORD) && (has(MEDIA_WORD) || has(SOURCE_WORD) || words.length === 1)) return true;
	const last = words.at(-1) ?? '';
	return MEDIA_WORD.test(last) || (has(MEDIA_WORD) && SOURCE_WORD.test(last));
}
