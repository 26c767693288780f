import { UserError, type INodeProperties, type INodePropertyTypeOptions } from 'n8n-workflow';
import { z } from 'zod';
import { isWebUrl } from '../lib/url';
import { findJsonFault, isExact, isObject, parseJson } from '../lib/json';
import { toTitle } from './title';

/** How a field is sent. */
interface Send {
	/** Key in the request's `input`; absent: the field's name in snake_case. */
	as?: string;
	/** Valid values, and their form in the request; absent: by n8n's own `type`. */
	shape?: z.ZodTypeAny;
	/** A blank field is sent too. */
	blank?: boolean;
}

/** An n8n property, and how it is sent. */
export interface Field extends INodeProperties {
	send?: Send;
}

/**
 * Makes the error for a value that can't be sent.
 * @param message names the field as the editor does and says what is allowed
 * @param remedy what to do
 */
export const buildFieldError = (
	message: string,
	remedy = 'Correct the field, then run the node again.',
): UserError =>
	new UserError(message, { description: `Nothing was sent for this item. ${remedy}` });

/** An error of a required field that is blank. */
export interface BlankFieldError extends UserError {
	/** The name of the field, as the workflow stores it. */
	readonly blankField: string;
	/** What to do, where a field needs something special. */
	readonly remedy?: string;
}

/**
 * Makes the error of a required field that is blank.
 * @param label its name in the editor
 */
export const buildBlankError = (
	blankField: string,
	label: string,
	remedy?: string,
): BlankFieldError =>
	Object.assign(buildFieldError(`'${label}' is required`, remedy), { blankField, remedy });

/** Follows the name of a number that JavaScript can't hold exactly. */
export const INEXACT =
	'must be between -9007199254740991 and 9007199254740991, so that no digit is lost';

/** Text. A number is written as text. */
export const text = z.preprocess(
	(value) => (typeof value === 'number' && isExact(value) ? String(value) : value),
	z.string({ message: 'must be text' }),
);

/** Trimmed text. */
export const trimmed = text.transform((value) => value.trim());

const textLike = (pattern: RegExp, message: string) =>
	trimmed.refine((value) => pattern.test(value), message);

/** An absolute http or https URL. */
export const webUrl = trimmed.refine(
	isWebUrl,
	'must be a URL that begins with http:// or https://',
);

/** `W:H`, for example 16:9. */
export const ratio = textLike(/^[1-9]\d*:[1-9]\d*$/, 'must be a ratio, for example 16:9');

/** Digits followed by p, for example 720p. */
export const resolutionLabel = textLike(
	/^[1-9]\d*p$/,
	'must be digits followed by p, for example 720p',
);

/** One word in lower case, for example png. */
export const lowerCaseLabel = textLike(/^[^\sA-Z]+$/, 'must be a lower-case word, for example png');

/** Some models want a single value as an array of one. */
export const listOfOne = <T>(value: T): [T] => [value];

/** A JSON object, written as text or given by an expression. */
const jsonObject = z.preprocess(
	(value) => (typeof value === 'string' ? parseJson(value) : value),
	z.record(z.string(), z.unknown(), {
		message: 'must be a JSON object, for example {"key": "value"}',
	}),
);

/** A plain decimal number as text, possibly with blanks around it. */
export const DECIMAL = /^\s*-?\d+(\.\d+)?\s*$/;

/** A number within a range that its property doesn't have: n8n moves what is outside into it. */
export const numberFrom = (minValue: number, maxValue: number): z.ZodTypeAny =>
	buildNumberShape({ minValue, maxValue });

function buildNumberShape(options: INodePropertyTypeOptions = {}): z.ZodTypeAny {
	const { numberPrecision, minValue, maxValue } = options;
	const [kind, isOfKind] =
		numberPrecision === 0 ? ['whole number', Number.isInteger] : ['number', Number.isFinite];
	const least = minValue === undefined ? '' : ` of at least ${minValue}`;
	const range = maxValue === undefined ? least : ` from ${minValue} to ${maxValue}`;
	const message = `must be a ${kind}${range}`;
	return z.preprocess(
		(value) => (typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value),
		z
			.number({ message })
			.refine(isOfKind, message)
			.refine(isExact, INEXACT)
			.refine((value) => !(value < (minValue ?? value) || value > (maxValue ?? value)), message),
	);
}

const flag = z.preprocess(
	(value) => (value === 'true' || value === 'false' ? value === 'true' : value),
	z.boolean({ message: 'must be true or false' }),
);

function findShape(field: Field): z.ZodTypeAny {
	if (field.send?.shape) return field.send.shape;
	if (field.type === 'number') return buildNumberShape(field.typeOptions);
	if (field.type === 'boolean') return flag;
	return field.type === 'json' ? jsonObject : text;
}

export const isBlank = (value: unknown): boolean =>
	value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** Shortens a value for a message. A URL's query is left out, because it may hold a secret. */
export function shorten(value: unknown): string {
	const text = typeof value === 'object' ? writeJson(value) : String(value);
	const shown = typeof value === 'string' ? (text.split('?')[0] ?? '') : text;
	return `"${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown}"`;
}

/** Writes an object for a message. One from an expression may contain itself. */
function writeJson(value: object | null): string {
	try {
		return String(JSON.stringify(value));
	} catch {
		return 'an object';
	}
}

/** The n8n property of a field, which the editor shows. Options has fields of its own. */
export function toProperty(field: Field): INodeProperties {
	const property = { ...field };
	delete property.send;
	if (property.type === 'collection')
		property.options = property.options?.map((option) =>
			'type' in option ? toProperty(option) : option,
		);
	return property;
}

/** The key of a field in the request. */
export const toRequestKey = ({ name, send }: Field): string =>
	send?.as ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Checks a field's value and turns it into the form of the request.
 * @returns undefined when the field is blank and therefore not sent
 * @throws {UserError} when the value is required and missing, or has a form that can't be sent
 */
export function parseValue(field: Field, value: unknown): unknown {
	const isLocator = field.type === 'resourceLocator' && isObject(value);
	const given = isLocator ? value.value : value;
	if (!isBlank(given)) return parse(field, given);
	if (field.required) throw buildBlankError(field.name, field.displayName);
	return field.send?.blank ? '' : undefined;
}

/** @param where follows the field's name in the error, for example " in Options" */
function parse(field: Field, value: unknown, where = '', remedy?: string): unknown {
	const parsed = findShape(field).safeParse(value);
	if (parsed.success) return parsed.data;
	if (field.type === 'json' && typeof value === 'string') refuseBrokenJson(field, value);
	const { path = [], message } = parsed.error.issues[0] ?? {};
	let refused = value;
	for (const step of path) refused = (refused as Record<string | number, unknown> | null)?.[step];
	const given = isBlank(refused) ? 'blank' : shorten(refused);
	const place = `'${namePlace(path, field.displayName)}'${where}`;
	throw buildFieldError(`${place} ${message}, but is ${given}`, remedy);
}

/** @throws {UserError} for a text that is no JSON, with the place and what helps */
function refuseBrokenJson({ displayName }: Field, text: string): void {
	const fault = findJsonFault(text);
	if (fault === undefined) return;
	throw buildFieldError(
		`'${displayName}' is not valid JSON ${fault}`,
		"JSON has straight double quotes, no comma behind the last entry, and no comments. A text from an expression may break it by quotes or line breaks: put a prompt into 'Prompt' and delete its line from the JSON, or write {{ JSON.stringify($json.prompt) }} without quotes around it.",
	);
}

/** Reads an entry of Options: undefined if the user didn't add it, null if its expression gives nothing. */
export type OptionReader = (name: string) => unknown;

/**
 * Reads an entry of Options; undefined if the user did not add it.
 * @throws {UserError} when it is blank or has another form; it names the option and what it takes
 */
export function readOption(option: OptionReader, field: Field): unknown {
	const value = option(field.name);
	if (value === undefined) return undefined;
	const remedy = 'Correct the option or remove it, then run the node again.';
	return parse(field, value, ' in Options', remedy);
}

/** Reads a number as `readOption` does; its default if the user did not add the option. */
export const readNumberOption = (option: OptionReader, field: Field): number =>
	(readOption(option, field) ?? field.default) as number;

/**
 * Checks the numbers and switches in Options. One that is shown only beside another field is checked
 * where that field is read.
 * @throws {UserError} for the first that is blank, of another type, or out of its range
 */
export function checkOptions(fields: INodeProperties[], option: OptionReader): void {
	const { options = [] } = fields.find(({ name }) => name === 'options') ?? {};
	for (const property of options)
		if ('type' in property && /^(number|boolean)$/.test(property.type) && !property.displayOptions)
			readOption(option, property);
}

/**
 * Names a place in a value as the editor does, for example "Shots 2 › Prompt".
 * @param label what the value itself is called
 */
export const namePlace = (path: Array<string | number>, label = ''): string =>
	path.reduce<string>((place, step) => {
		if (typeof step === 'number') return `${place} ${step + 1}`;
		return place ? `${place} › ${toTitle(step)}` : toTitle(step);
	}, label);
