import { z } from 'zod';
import type { MediaLimits } from '../media/limits';
import { isObject, isPlainObject, parseJson } from '../lib/json';
import { isWebUrl } from '../lib/url';
import { OR_FIELD } from './commonFields';
import { isBlank, trimmed } from './field';

/** A media file as the user gave it: a URL, or the name of a binary field, which is uploaded. */
export class Media {
	/** The name of its field in the editor. */
	label = 'Media';

	/** It is an entry of a list, where one name may stand for several files. */
	isEntry = false;

	constructor(
		readonly source: string,
		/** The model's limits for the file; absent: unknown. */
		readonly limits?: MediaLimits,
	) {}

	get isUrl(): boolean {
		return isWebUrl(this.source);
	}

	/** Makes the same for another binary field. */
	withSource(source: string): Media {
		return Object.assign(new Media(source, this.limits), { label: this.label });
	}

	/** Serializes to its source, so requests with the same file have equal digests. */
	toJSON(): string {
		return this.source;
	}
}

/** Says whether a text is a URL of any scheme. Some services use their own, such as asset:1. */
export const hasScheme = (text: string): boolean => /^[a-z][a-z\d+.-]+:/i.test(text);

/** Recognizes n8n's own object of a file: of a binary field, or what its form has in `json`. */
export const isOfFile = (value: unknown): boolean =>
	isObject(value) && ('mimeType' in value || 'mimetype' in value);

/** Says whether a text is such an object. */
export const isFileObject = (text: string): boolean => isOfFile(parseJson(text));

/**
 * Takes the URL of an object that stands for a file, such as an attachment of a table. n8n's own objects
 * have none: they become text, for an error that knows the item. All else is returned as it is.
 */
export function toSource(value: unknown): unknown {
	const given = typeof value === 'string' && /^\s*[[{]/.test(value) ? parseJson(value) : value;
	const [object, ...others] = [given].flat();
	if (!isPlainObject(object)) return value;
	if (typeof object.url === 'string') return others.length ? value : object.url;
	const text = JSON.stringify(object);
	return isFileObject(text) ? text : value;
}

/** A URL or the name of a binary field, of a file within these limits. */
export const media = (limits?: MediaLimits) =>
	z.preprocess(
		toSource,
		trimmed
			.refine(
				(text) => !hasScheme(text) || isWebUrl(text),
				`must be a URL that begins with http:// or https://, ${OR_FIELD}`,
			)
			.transform((source) => new Media(source, limits)),
	);

/** In the quotes of JSON, of code, and of writing in several languages. */
const QUOTED = /"[^"\n]*"|'[^'\n]*'|[“„”][^“„”\n]*[“”]|‘[^‘’\n]*’|«[^«»\n]*»/g;

/** Splits a list that was pasted with its quotes; undefined for any other text. */
export function splitQuoted(text: string): string[] | undefined {
	const entries = text.match(QUOTED);
	const isList = entries && /^[\s,[\]]*$/.test(text.replace(QUOTED, ''));
	return isList ? entries.map((entry) => entry.slice(1, -1)) : undefined;
}

/** Several of them. Blank entries are dropped, and nested lists from expressions are flattened. */
export const mediaList = (limits?: MediaLimits) =>
	z.preprocess(
		(value) =>
			[value]
				.flat(2)
				.flatMap(splitPasted)
				.filter((entry) => !isBlank(entry)),
		z.array(media(limits)).nonempty('needs at least one image').transform(markEntries),
	);

const splitPasted = (entry: unknown): unknown =>
	(typeof entry === 'string' && splitQuoted(entry)) || entry;

/** Marks the media in a list as its entries. */
export function markEntries<Entry>(list: Entry[]): Entry[] {
	for (const entry of list) if (entry instanceof Media) entry.isEntry = true;
	return list;
}

/**
 * Copies a value and replaces every object of a class in it, however deep, one after the other. Each
 * step from a field to its upload uses it: label the media, find their files, put in the URLs.
 * @param replace may return a list for an entry of a list, whose place its entries take
 */
export async function replaceEach<T extends object>(
	value: unknown,
	type: abstract new (...args: never[]) => T,
	replace: (found: T) => unknown,
): Promise<unknown> {
	if (value instanceof type) return await replace(value);
	if (Array.isArray(value)) {
		const entries: unknown[] = [];
		for (const entry of value) {
			const replaced = await replaceEach(entry, type, replace);
			if (entry instanceof type && Array.isArray(replaced)) entries.push(...replaced);
			else entries.push(replaced);
		}
		return entries;
	}
	if (!isPlainObject(value)) return value;
	const parts: Array<[string, unknown]> = [];
	for (const [key, part] of Object.entries(value))
		parts.push([key, await replaceEach(part, type, replace)]);
	return Object.fromEntries(parts);
}
