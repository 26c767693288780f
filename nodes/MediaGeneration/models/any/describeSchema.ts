import { cutText } from '../../lib/text';
import { listTypes, type JsonSchema } from './jsonSchema';

const TYPE_NAMES = new Map([
	['string', 'text'],
	['number', 'a number'],
	['integer', 'a whole number'],
	['boolean', 'true or false'],
	['array', 'a list'],
	['object', 'a JSON object'],
	['null', 'null'],
]);

/** Names types for people, for example "text or a number". */
export const nameTypes = (types: string[]): string =>
	types.map((type) => TYPE_NAMES.get(type) ?? type).join(' or ');

/** The longest list in a message or a name, in characters. */
const SHOWN_LIST = 500;

/** Lists values for people. */
export const listShortly = (values: unknown[]): string =>
	cutText(values.map(formatValue).join(', '), SHOWN_LIST);

export const formatValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);

/** Describes branches by what each requires, or by its type. */
export const describeForms = (branches: JsonSchema[]): string =>
	cutText(
		branches
			.map(
				(branch) =>
					branch.required?.map((name) => toTitle(name)).join(' + ') ||
					nameTypes(listTypes(branch)) ||
					'any other',
			)
			.join('; or '),
		SHOWN_LIST,
	);

const ABBREVIATIONS = new Set(
	'ai api bgm bpm cfg fps gif hd hdr id ip lut mp3 mp4 png rgb svg tts uri url vr 2d 3d'.split(' '),
);
const SMALL_WORDS = new Set('a an and as at by for from in of on or the to with'.split(' '));

/** Writes a property's name as the editor writes names, for example "Image URLs" for `image_urls`. */
export function toTitle(name: string): string {
	const words = name
		.trim()
		.replace(/([a-z\d])([A-Z])/g, '$1 $2')
		.split(/[\s_.-]/)
		.filter(Boolean);
	return (
		words
			.map((word, index) => {
				const lower = word.toLowerCase();
				const singular = lower.replace(/s$/, '');
				if (ABBREVIATIONS.has(lower)) return lower.toUpperCase();
				if (ABBREVIATIONS.has(singular)) return `${singular.toUpperCase()}s`;
				if (index > 0 && SMALL_WORDS.has(lower)) return lower;
				return lower.charAt(0).toUpperCase() + lower.slice(1);
			})
			.join(' ') || name
	);
}
