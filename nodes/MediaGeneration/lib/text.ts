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
