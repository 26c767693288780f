const { z } = require('zod');
const { Refusal } = require('./refusal');

/** @param {string} form for example `must be a string` */
const says = (form) => ({ required_error: 'is required', invalid_type_error: form });

/** @param {string} value */
function isHttpUrl(value) {
	return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

const text = z.string(says('must be a string'));
const nonEmptyText = text.min(1, 'must not be empty');
const httpUrl = text.refine(isHttpUrl, 'must be an http(s) URL');
const integer = z.number(says('must be an integer')).int('must be an integer');
const boolean = z.boolean(says('must be a boolean'));
const aspectRatio = text.regex(/^[1-9]\d*:[1-9]\d*$/, 'must be two positive integers written W:H');
const resolution = text.regex(/^\d+p$/, 'must be digits followed by p');
const formatLabel = text.regex(/^[a-z0-9]+$/, 'must be a lower case format label');

/**
 * @template {import('zod').ZodTypeAny} Item
 * @param {Item} item
 */
const list = (item) => z.array(item, says('must be an array'));

/**
 * An object that refuses keys it does not name.
 *
 * @template {import('zod').ZodRawShape} Shape
 * @param {Shape} shape
 */
const strictObject = (shape) => z.object(shape, says('must be a JSON object')).strict();

const anyObject = z.record(z.unknown(), says('must be a JSON object'));

/**
 * @param {(string | number)[]} path
 * @returns {string} for example `input.video_urls[0]`; `body` for the whole
 */
function pathText(path) {
	const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
	return steps.join('').replace(/^\./, '') || 'body';
}

/** @param {import('zod').ZodIssue} issue */
function issueText(issue) {
	if (issue.code === 'unrecognized_keys') {
		return issue.keys.map((key) => `${pathText([...issue.path, key])} is not known`).join('; ');
	}
	return `${pathText(issue.path)} ${issue.message}`;
}

/**
 * The value, when it has the shape.
 *
 * @template {import('zod').ZodTypeAny} Shape
 * @param {Shape} shape
 * @param {unknown} value
 * @param {(string | number)[]} [path] where the value stands in the body; the refusal names it
 * @returns {import('zod').infer<Shape>}
 * @throws {Refusal} 422 that names every field at fault and what it must be
 */
function check(shape, value, path = []) {
	const { success, data, error } = shape.safeParse(value, { path });
	if (!success) throw new Refusal(422, error.issues.map(issueText).join('; '));
	return data;
}

module.exports = {
	anyObject,
	aspectRatio,
	boolean,
	check,
	formatLabel,
	httpUrl,
	integer,
	list,
	nonEmptyText,
	resolution,
	strictObject,
	text,
};
