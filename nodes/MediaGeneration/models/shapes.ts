import { isWebUrl } from '../lib/url';
import type { JsonSchema } from './schema';

/** What fields of the node take, where n8n's own types don't say it. */

const ruleText = (isValid: (text: string) => boolean, message: string): JsonSchema => ({
	type: 'string',
	rule: { isValid, message },
});

const matchText = (pattern: RegExp, message: string): JsonSchema =>
	ruleText((text) => pattern.test(text), message);

/** Trimmed text. */
export const trimmed = matchText(/\S/, 'must be text');

/** An absolute http or https URL. */
export const webUrl = ruleText(isWebUrl, 'must be a URL that begins with http:// or https://');

/** `W:H`, for example 16:9. */
export const ratio = matchText(/^[1-9]\d*:[1-9]\d*$/, 'must be a ratio, for example 16:9');

/** Digits followed by p, for example 720p. */
export const resolutionLabel = matchText(
	/^[1-9]\d*p$/,
	'must be digits followed by p, for example 720p',
);

/** One word in lower case, for example png. */
export const lowerCaseLabel = matchText(
	/^[^\sA-Z]+$/,
	'must be a lower-case word, for example png',
);

/** A link, or the name of a file of the item. */
export const file: JsonSchema = { type: 'string', format: 'uri' };
