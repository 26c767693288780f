import { z } from 'zod';
import type { MediaLimits } from '../media/limits';
import { isBlank, isWebUrl, trimmed } from './field';

/** A media file as the user names it: by its URL, or by a binary field of the item, whose file is uploaded first. */
export class Media {
	/** The name of its field in the editor. */
	label = 'Media';

	/** It may be plain text. Only the field's description suggests a file. */
	isGuess = false;

	constructor(
		readonly source: string,
		/** The model's limits for the file; absent: not known. */
		readonly limits?: MediaLimits,
	) {}

	get isUrl(): boolean {
		return isWebUrl(this.source);
	}

	/** Requests are told apart by their JSON. */
	toJSON(): string {
		return this.source;
	}
}

const looksLikeUrl = (text: string): boolean => /^[a-z][a-z\d+.-]*:/i.test(text);

/** A URL or the name of a binary field, of a file within these limits. */
export const media = (limits?: MediaLimits) =>
	trimmed
		.pipe(
			z
				.string()
				.refine(
					(text) => !looksLikeUrl(text) || isWebUrl(text),
					'must be a URL that begins with http:// or https://, or an input data field name',
				),
		)
		.transform((source) => new Media(source, limits));

/** Several of them. Blank entries are dropped, and nested lists from expressions are flattened. */
export const mediaList = (limits?: MediaLimits) =>
	z.preprocess(
		(value) => [value].flat(2).filter((entry) => !isBlank(entry)),
		z.array(media(limits)).nonempty('needs at least one image'),
	);

/** Finds every Media in a value, however deep. */
export function findMedia(value: unknown): Media[] {
	if (value instanceof Media) return [value];
	return typeof value === 'object' && value !== null ? Object.values(value).flatMap(findMedia) : [];
}

/** Copies a value with every Media in it replaced. */
export function replaceMedia(value: unknown, replacement: (media: Media) => string): unknown {
	if (value instanceof Media) return replacement(value);
	if (Array.isArray(value)) return value.map((entry) => replaceMedia(entry, replacement));
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([key, entry]) => [key, replaceMedia(entry, replacement)]),
	);
}
