/** Writes a text as HTML, which the editor makes of notices, hints, and the descriptions of options. */
export const escapeHtml = (text: string): string =>
	text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
