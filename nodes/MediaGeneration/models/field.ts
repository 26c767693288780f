import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

/** The word that models add to n8n's language: where and in which form a field goes out. */
export interface Send {
	/** Key in the request's `input`; absent: the field's name in snake_case. */
	as?: string;
	/** What is valid, and what it becomes in the request; absent: what n8n's own `type` says. */
	shape?: z.ZodTypeAny;
	/** Whether the field is sent when it is left blank. */
	blank?: boolean;
}

/** An n8n property literal and, in `send`, its place in the request. */
export interface Field extends INodeProperties {
	send?: Send;
}

/** A field's value that can't be sent. The message names the field as the editor does and says what is allowed. */
export class FieldError extends Error {
	constructor(
		message: string,
		readonly description = 'Nothing was sent for this item. Correct the field, then run the node again.',
	) {
		super(message);
		this.name = 'FieldError';
	}
}

const text = z.preprocess(
	(value) => (typeof value === 'number' ? String(value) : value),
	z.string({ message: 'must be text' }),
);

/** Text without the blanks around it. */
export const trimmed = text.transform((value) => value.trim());

const form = (pattern: RegExp, message: string) => trimmed.pipe(z.string().regex(pattern, message));

/** Whether text is an absolute http or https URL. */
export function isWebUrl(value: string): boolean {
	try {
		return ['http:', 'https:'].includes(new URL(value).protocol) && !/\s/.test(value);
	} catch {
		return false;
	}
}

/** An absolute http or https URL. */
export const webUrl = trimmed.pipe(
	z.string().refine(isWebUrl, 'must be a URL that begins with http:// or https://'),
);

/** `W:H`, for example 16:9. */
export const ratio = form(
	/^[1-9]\d*:[1-9]\d*$/,
	'must be a ratio written as width:height, for example 16:9',
);

/** Digits followed by p, for example 720p. */
export const resolution = form(/^[1-9]\d*p$/, 'must be digits followed by p, for example 720p');

/** One word in lower case, for example png. */
export const lowerCaseLabel = form(
	/^[^\sA-Z]+$/,
	'must be one word in lower case, for example png',
);

/** The array of one that some models want around a single value. */
export const listOfOne = <T>(value: T): [T] => [value];

/** A JSON object, written as text or given by an expression. */
export const jsonObject = z
	.preprocess(
		(value) => (typeof value === 'string' ? parseJson(value) : value),
		z.record(z.unknown(), { message: 'must be a JSON object, for example {"key": "value"}' }),
	)
	.pipe(z.record(z.unknown()));

function parseJson(value: string): unknown {
	try {
		return JSON.parse(value);
	} catch {
		return undefined;
	}
}

function numberOf({ typeOptions }: INodeProperties): z.ZodTypeAny {
	const whole = typeOptions?.numberPrecision === 0;
	let schema = z.number({ message: `must be a ${whole ? 'whole ' : ''}number` }).finite();
	if (whole) schema = schema.int('must be a whole number').safe('must be a smaller number');
	if (typeOptions?.minValue !== undefined)
		schema = schema.min(typeOptions.minValue, `must be at least ${typeOptions.minValue}`);
	if (typeOptions?.maxValue !== undefined)
		schema = schema.max(typeOptions.maxValue, `must be at most ${typeOptions.maxValue}`);
	const decimal = /^\s*-?\d+(\.\d+)?\s*$/;
	return z.preprocess(
		(value) => (typeof value === 'string' && decimal.test(value) ? Number(value) : value),
		schema,
	);
}

const flag = z.preprocess(
	(value) => (value === 'true' ? true : value === 'false' ? false : value),
	z.boolean({ message: 'must be true or false' }),
);

function shapeOf(field: Field): z.ZodTypeAny {
	if (field.send?.shape) return field.send.shape;
	switch (field.type) {
		case 'number':
			return numberOf(field);
		case 'boolean':
			return flag;
		case 'json':
			return jsonObject;
		default:
			return text;
	}
}

/** Whether the user left a field blank. */
export const isBlank = (value: unknown): boolean =>
	value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

const shorten = (value: unknown): string => {
	const shown = typeof value === 'string' ? (value.split('?')[0] ?? '') : JSON.stringify(value);
	return `"${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown}"`;
};

/** What the editor shows of a field: the n8n property, without the part that only concerns the request. */
export function propertyOf(field: Field): INodeProperties {
	const property = { ...field };
	delete property.send;
	return property;
}

/** The key under which a field goes out. */
export function keyOf({ name, send }: Field): string {
	return send?.as ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * What a field's value is in the request.
 * @returns the value, or undefined when the field is blank and therefore not sent
 * @throws {FieldError} when the value is required and missing, or has a form that can't be sent
 */
export function valueOf(field: Field, value: unknown): unknown {
	if (isBlank(value)) {
		if (field.required) throw new FieldError(`${field.displayName} is required`);
		return field.send?.blank ? '' : undefined;
	}
	const parsed = shapeOf(field).safeParse(value);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const culprit = issue?.path.reduce<unknown>(
		(inner, step) => (inner as Record<string | number, unknown> | undefined)?.[step],
		value,
	);
	throw new FieldError(
		`${labelOf(field, issue?.path ?? [])} ${issue?.message}` +
			(isBlank(culprit) ? '' : `, but is ${shorten(culprit)}`),
	);
}

/** A place in a field's value in the editor's words, for example "Image References › Reference 2 › Image". */
function labelOf(field: INodeProperties, path: Array<string | number>): string {
	let label = field.displayName;
	let inner: Array<{ name: string; displayName?: string }> = nested(field);
	for (const step of path) {
		if (typeof step === 'number') {
			label += ` ${step + 1}`;
			continue;
		}
		const property = inner.find(({ name }) => name === step);
		label += ` › ${property?.displayName ?? step}`;
		inner = nested(property);
	}
	return label;
}

/** What n8n nests in a collection: its options, or the values of one of them. */
function nested(property: object | undefined): Array<{ name: string; displayName?: string }> {
	const { values, options } = (property ?? {}) as {
		values?: INodeProperties[];
		options?: INodeProperties[];
	};
	return values ?? options ?? [];
}
