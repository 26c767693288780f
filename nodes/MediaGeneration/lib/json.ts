import { createHash } from 'crypto';

/** Recognizes a JSON object: no list, and not null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

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

/** Makes a short one-way digest of a JSON value. Equal values have equal digests. */
export const digest = (value: unknown): string =>
	createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
