import { z } from 'zod';

/** A request that the service rejects: HTTP 200, with the reason in the envelope's `code` and `msg`. */
export class Rejection extends Error {
	constructor(
		readonly code: number,
		msg: string,
	) {
		super(msg);
	}
}

/** What is wrong with a field. */
export interface Issue {
	/** The field's own name. */
	name: string;
	kind: 'missing' | 'notAllowed' | 'unknown' | 'other';
	/** With the field's path, for example `input.video_urls.0: Required`. */
	text: string;
}

/** Wraps data in the envelope of a successful answer. */
export const wrapData = (data: unknown) => ({ code: 200, msg: 'success', data });

export const nonEmptyText = z.string().min(1);
export const httpUrl = z
	.string()
	.url()
	.regex(/^https?:/, 'Not an http(s) URL');

/** Builds the schema of an object that may have no other keys. */
export const strictObject = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).strict();

function findKind(issue: z.ZodIssue): Issue['kind'] {
	if (issue.code === 'unrecognized_keys') return 'unknown';
	if (issue.code === 'invalid_string') return 'notAllowed';
	return issue.message === 'Required' ? 'missing' : 'other';
}

/** Lists what is wrong with a value, field by field. */
export function listIssues(shape: z.ZodTypeAny, value: unknown, path: string[] = []): Issue[] {
	const issues = shape.safeParse(value, { path }).error?.issues ?? [];
	return issues.map((issue) => {
		const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [];
		const at = [...issue.path, ...unknown];
		const text = `${at.join('.')}: ${issue.message}`;
		return { name: String(at.at(-1)), kind: findKind(issue), text };
	});
}

/** Builds the rejection for what is wrong, if something is. */
export function rejectAll(issues: Issue[]) {
	if (issues.length === 0) return undefined;
	return new Rejection(422, issues.map(({ text }) => text).join('; '));
}

/**
 * Returns the value if it has the shape.
 * @throws {Rejection} 422, which names every field at fault
 */
export function check<Shape extends z.ZodTypeAny>(shape: Shape, value: unknown) {
	const rejection = rejectAll(listIssues(shape, value));
	if (rejection) throw rejection;
	return value as z.infer<Shape>;
}
