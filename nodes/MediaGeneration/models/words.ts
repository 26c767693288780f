import { cutText, spaceWords } from '../lib/text';
import { listTypes, type JsonSchema } from './schema';

/* Words about a model's fields: the same for the panel, Get Fields, AI builders and errors. */

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

/** The longest list of values in a message, in characters. */
const LONGEST_LIST = 500;

/** Adds facts to a name, in parentheses. */
export const addFacts = (name: string, facts: string): string =>
	facts ? `${name} (${facts})` : name;

const { format } = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

/** Says how large a number or a length may be, for example "at most 3"; blank without bounds. */
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

/** Lists values in a message. */
export const listShortly = (values: unknown[]): string =>
	cutText(
		values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', '),
		LONGEST_LIST,
	);
