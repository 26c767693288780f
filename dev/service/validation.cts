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

export const text = z.string();
export const nonEmptyText = text.min(1);
export const httpUrl = text.url().regex(/^https?:/, 'Not an http(s) URL');
export const integer = z.number().int();
export const anyObject = z.record(z.string(), z.unknown());

/** An object that refuses keys it does not name. */
export const strictObject = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).strict();

/**
 * Returns the value if it has the shape.
 *
 * @throws {Refusal} 422 that names every field at fault, for example `input.video_urls.0: Required`
 */
export function check<Output>(
	shape: z.ZodType<Output, z.ZodTypeDef, unknown>,
	value: unknown,
	path: string[] = [],
): Output {
	const { success, data, error } = shape.safeParse(value, { path });
	if (success) return data;
	const problems = error.issues.map((issue) => {
		const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [];
		return `${[...issue.path, ...unknown].join('.')}: ${issue.message}`;
	});
	throw new Refusal(422, problems.join('; '));
}
