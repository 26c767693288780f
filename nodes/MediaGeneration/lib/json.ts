import { createHash } from 'crypto';

/** Whether a value is a JSON object: not an array, not null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value is a plain object: not a Date or a Map, for example. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
	if (!isObject(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	// Expressions return objects from another context, with another `Object`.
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether a number is finite, and small enough not to have lost digits. */
export const isExact = (value: number): boolean =>
	Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));

/** Returns what JSON makes of a value, for example the ISO text of a date. */
export function toJsonValue(value: unknown): unknown {
	const { toJSON } = (value ?? {}) as { toJSON?: unknown };
	return typeof toJSON === 'function' ? toJSON.call(value) : value;
}

/** Parses JSON; undefined if the text isn't JSON. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Takes off the code fence in which chats and pages put JSON, as in ```json … ```. */
export const takeOffFence = (text: string): string =>
	/^\s*```(?:[\w-]*\s)?(.*)```\s*$/s.exec(text)?.[1] ?? text;

/**
 * A file that is written as text: in Base64 or percent-encoded, with the backslashes of JSON. The plain
 * pattern `{10000,}` would overflow V8's stack.
 */
const WRITTEN_FILE = /(?<![\w+/\\=%-])[\w+/\\=%-]{10000}[\w+/\\=%-]*/g;

/** Leaves files, such as those of data URLs, out of the texts in JSON. Takes linear time. */
export const leaveOutData = (json: string): string =>
	json.replace(WRITTEN_FILE, (data) => {
		let end = data.length;
		// The last backslashes may belong to the quote that follows.
		while (data[end - 1] === '\\') end--;
		return `…${data.slice(end)}`;
	});

/** Says in V8's words why a text isn't JSON, and where; undefined for JSON. */
export function findJsonFault(text: string): string | undefined {
	try {
		JSON.parse(text);
		return undefined;
	} catch (error) {
		return (error as Error).message.replace(/\s+/g, ' ');
	}
}

/** Whether a parsed JSON value is nested deeper than some levels. Deeper parts aren't looked at. */
export const isDeeper = (value: unknown, levels: number): boolean =>
	typeof value === 'object' &&
	value !== null &&
	(levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1)));

/** Copies an object without its undefined values. Symbols are keys too. */
export function dropUndefined<T extends object>(object: T): T {
	const copy = { ...object };
	for (const key of Reflect.ownKeys(copy) as Array<keyof T>)
		if (copy[key] === undefined) delete copy[key];
	return copy;
}

/** Copies an object with other values. */
export const mapValues = <Value>(
	object: object,
	map: (value: unknown, key: string) => Value,
): Record<string, Value> =>
	Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));

/** Makes a short one-way digest of a JSON value. The order of keys counts. */
export const digest = (value: unknown): string =>
	createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
