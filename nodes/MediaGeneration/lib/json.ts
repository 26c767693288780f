import { createHash } from 'crypto';

/** Recognizes a JSON object: no list, and not null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Recognizes an object that is nothing but its entries: no date, for example, and no Map. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
	if (!isObject(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	// Expressions return objects of another context, whose `Object` is not ours.
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Says whether a number is one that JSON has, and still the one that was written. */
export const isExact = (value: number): boolean =>
	Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));

/** Parses JSON; undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Says whether a parsed JSON value is nested deeper than this. It looks no deeper itself. */
export function isDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	if (levels === 0) return true;
	for (const key in value)
		if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
	return false;
}

/** Copies an object without its undefined entries. */
export const dropUndefined = <T extends object>(object: T): T =>
	Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;

/** Makes a short one-way digest of a JSON value. Equal values have equal digests. */
export const digest = (value: unknown): string =>
	createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
