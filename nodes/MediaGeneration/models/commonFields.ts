import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { isWebUrl } from '../lib/url';
import type { Field } from './field';
import type { JsonSchema } from './schema';

/* What fields of the node take, where n8n's own types don't say it. */

const matchText = (pattern: RegExp, message: string): JsonSchema => ({
	type: 'string',
	rule: { isValid: (text) => pattern.test(text), message },
});

/** Trimmed text. */
export const trimmed = matchText(/\S/, 'must be text');

/** An absolute http or https URL. */
export const webUrl: JsonSchema = {
	type: 'string',
	rule: { isValid: isWebUrl, message: 'must be a URL that begins with http:// or https://' },
};

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
export const fileSchema: JsonSchema = { type: 'string', format: 'uri' };

/** A list of at least one file. @param more narrows it */
export const buildFileList = (more?: JsonSchema): JsonSchema => ({
	...fileSchema,
	type: 'array',
	items: { type: 'string' },
	minItems: 1,
	...more,
});

/**
 * Makes the options of a dropdown that shows values as they are sent. The contract lists no values, so
 * these are the usual ones: the dropdown has `allowArbitraryValues`, and an expression may give any
 * other value of the right form.
 */
export const toOptions = (...values: string[]): INodePropertyOptions[] =>
	values.map((value) => ({ name: value, value }));

/* Fields of several models. A model that differs spreads the field and overrides what differs. */

export const prompt: Field = {
	displayName: 'Prompt',
	name: 'prompt',
	type: 'string',
	typeOptions: { rows: 2 },
	default: '',
	description: 'What the video should show',
};

/** Says in the panel what a field for a file takes. */
export const FILE_HINT = 'URL, or a field such as data';

interface FileField extends Partial<INodeProperties> {
	label: string;
	name: string;
	/** Key in the request. */
	as: string;
	required: boolean;
	/** By default, the schema of one file. */
	schema?: JsonSchema;
}

/** Builds a field for a file, or for several. */
export const file = ({
	label,
	name,
	as,
	required,
	schema = fileSchema,
	...more
}: FileField): Field => ({
	displayName: label,
	name,
	type: 'string',
	default: '',
	required,
	placeholder: 'e.g. https://example.com/photo.png',
	hint: FILE_HINT,
	...more,
	send: { as, schema },
});

export const resolution: Field = {
	displayName: 'Resolution',
	name: 'resolution',
	type: 'options',
	allowArbitraryValues: true,
	options: toOptions('480p', '720p', '1080p'),
	default: '720p',
	description: 'Resolution of the video. For another one, use an expression, for example 540p.',
	send: { schema: resolutionLabel },
};

export const aspectRatio: Field = {
	displayName: 'Aspect Ratio',
	name: 'aspectRatio',
	type: 'options',
	allowArbitraryValues: true,
	options: toOptions('1:1', '16:9', '21:9', '3:4', '4:3', '9:16'),
	default: '16:9',
	description: 'Aspect ratio of the result. For another one, use an expression, for example 5:4.',
	send: { schema: ratio },
};

export const duration: Field = {
	displayName: 'Duration (Seconds)',
	name: 'duration',
	type: 'number',
	typeOptions: { numberPrecision: 0, minValue: 1 },
	default: 5,
	description: 'Length of the video, a whole number',
};

export const seed: Field = {
	displayName: 'Seed',
	name: 'seed',
	type: 'number',
	typeOptions: { numberPrecision: 0 },
	default: '',
	placeholder: 'e.g. 42',
	description: 'Whole number. The same seed usually repeats a result.',
};
