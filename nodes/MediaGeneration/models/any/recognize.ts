import { spaceWords } from '../../lib/text';
import { getItems, listTypes, type JsonSchema, type Property } from './jsonSchema';

/** What a property is for, by its name and form: services don't mark it reliably. */

const MEDIA_WORD = /^(image|img|picture|photo|video|audio|frame|mask|clip|media|file)s?$/;
const URL_WORD = /^(url|uri)s?$/;
const SOURCE_WORD = /^(input|reference|ref|source|src)s?$/;

/** Pages and addresses for messages are URLs too, but not files. */
const OTHER_URL = /^(link|page|web|website|callback|webhook|hook|homepage|site)s?$/;

/** Says whether a schema that allows these types takes text of any kind. */
const takesText = (schema: JsonSchema, types = listTypes(schema)): boolean =>
	!schema.enum && (types.length ? types.includes('string') : !schema.properties);

/** Recognizes a property that takes URLs of files. For others there is the option Media Fields. */
export function isMedia(name: string, schema: JsonSchema): boolean {
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

/**
 * The IDs of earlier results, and where their items have them. n8n runs the expressions, so nothing
 * that a service says may get into them.
 */
const EARLIER_RESULTS = [
	{
		kind: 'task',
		name: /\btask id$/,
		expression: '={{ $json.taskId }}',
		remedy:
			'Connect the Media Generation node that created the earlier task before this node, and fill in {{ $json.taskId }}.',
	},
	{
		kind: 'file',
		name: /\b(audio|song|track|music|clip) id$/,
		expression: '={{ $json.file.id }}',
		remedy:
			"Connect the Media Generation node that created the earlier file before this node, set 'Output Items' in its Options to One per File, and fill in {{ $json.file.id }}.",
	},
];

/** Finds the earlier result, a task or one of its files, whose ID a property takes. */
export function findEarlierResult(name: string, schema: JsonSchema) {
	if (!takesText(schema) || isMedia(name, schema)) return undefined;
	return EARLIER_RESULTS.find((result) => result.name.test(spaceWords(name)));
}

/** Recognizes the property that the node has a field of its own for: a free text. */
export const isPrompt = ({ name, schema }: Property): boolean =>
	name === 'prompt' && takesText(schema) && !isMedia(name, schema);
