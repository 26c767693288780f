import { z } from 'zod';

/** A request that the service refuses: HTTP 200, with the reason in the envelope's `code` and `msg`. */
export class Refusal extends Error {
	constructor(
		readonly code: number,
		msg: string,
	) {
		super(msg);
	}
}

/** The envelope of what the service grants. */
export const wrapData = (data: unknown) => ({ code: 200, msg: 'success', data });

const createMessages = (form: string) => ({
	required_error: 'is required',
	invalid_type_error: form,
});

function isHttpUrl(value: string) {
	return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

export const text = z.string(createMessages('must be a string'));
export const nonEmptyText = text.min(1, 'must not be empty');
export const httpUrl = text.refine(isHttpUrl, 'must be an http(s) URL');
export const integer = z.number(createMessages('must be an integer')).int('must be an integer');
export const boolean = z.boolean(createMessages('must be a boolean'));
export const aspectRatio = text.regex(
	/^[1-9]\d*:[1-9]\d*$/,
	'must be two positive integers written W:H',
);
export const resolution = text.regex(/^\d+p$/, 'must be digits followed by p');
export const formatLabel = text.regex(/^[a-z0-9]+$/, 'must be a lower case format label');
export const anyObject = z.record(z.unknown(), createMessages('must be a JSON object'));

export const list = <Item extends z.ZodTypeAny>(item: Item) =>
	z.array(item, createMessages('must be an array'));

/** An object that refuses keys it does not name. */
export const strictObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape, createMessages('must be a JSON object')).strict();

type Path = Array<string | number>;

/** For example `input.video_urls[0]`; `body` for the whole. */
export function formatPath(path: Path) {
	const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
	return steps.join('').replace(/^\./, '') || 'body';
}

function formatIssue(issue: z.ZodIssue) {
	if (issue.code !== 'unrecognized_keys') return `${formatPath(issue.path)} ${issue.message}`;
	return issue.keys.map((key) => `${formatPath([...issue.path, key])} is not known`).join('; ');
}

/**
 * Returns the value if it has the shape.
 *
 * @param path where the value is in the body, for the refusal
 * @throws {Refusal} 422 that names every field at fault and what it must be
 */
export function check<Output>(
	shape: z.ZodType<Output, z.ZodTypeDef, unknown>,
	value: unknown,
	path: Path = [],
): Output {
	const { success, data, error } = shape.safeParse(value, { path });
	if (!success) throw new Refusal(422, error.issues.map(formatIssue).join('; '));
	return data;
}
