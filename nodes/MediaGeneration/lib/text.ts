/** Cuts a text that is longer than allowed, in characters, and ends it with "…". */
export const cutText = (text: string, longest: number): string =>
	text.length > longest ? `${text.slice(0, longest - 1).trimEnd()}…` : text;

/** Writes a text as HTML, which the editor makes of notices, hints, and descriptions. */
export const escapeHtml = (text: string): string =>
	text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Writes a name in lower-case words, for example "first frame url" for `firstFrameUrl`. */
export const spaceWords = (name: string): string =>
	name
		.replace(/([a-z\d])([A-Z])/g, '$1 $2')
		.toLowerCase()
		.replace(/[^a-z\d]+/g, ' ');

/** Encodes the links in a value so that no part of one reads as Markdown or as words. */
export const encodeLinks = (value: object): unknown =>
	JSON.parse(JSON.stringify(value, (_, part: unknown) => encodeLink(part)));

function encodeLink(value: unknown): unknown {
	if (typeof value !== 'string' || !/^https?:/i.test(value) || !URL.canParse(value)) return value;
	const { origin, pathname, search, hash } = new URL(value);
	const encode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	return origin + `${pathname}${search}${hash}`.replace(/[\s"'()<>[\]{}\\^`|]/g, encode);
}
