/** The longest text of an error, a warning or an excerpt, in characters. */
export const LONGEST_TEXT = 4_000;

/**
 * Cuts a text to a length in characters, and marks the cut with "…". A link at the cut is dropped,
 * because a part of a link is useless. Half a character is dropped too. A link alone is cut like other
 * texts.
 */
export const cutText = (text: string, longest = 200): string =>
	text.length > longest
		? `${text
				.slice(0, longest - 1)
				.replace(/(?<=[^a-z])[a-z]{1,10}:\/\/[^\s"'<>]*$|\p{Cs}$/iu, '')
				.trimEnd()}…`
		: text;

/**
 * Makes foreign text safe to show as HTML. n8n's editor renders messages, descriptions, hints, notices
 * and labels as HTML, with styles (2.41.1). `e2e/editor` fails first. Call it last, after secrets are
 * hidden.
 */
export const toPlainText = (text: string): string => text.replaceAll('<', '‹').replaceAll('>', '›');

/** Makes all texts of an error plain, including those that n8n copied from its cause. */
export function toPlainError<
	E extends Error & { description?: string | null; messages?: string[] },
>(error: E): E {
	error.message = toPlainText(error.message);
	if (error.description) error.description = toPlainText(error.description);
	if (error.messages) error.messages = error.messages.map(toPlainText);
	return error;
}

/** Splits a name into lower-case words: `firstFrameUrl` becomes "first frame url". */
export const spaceWords = (name: string): string =>
	name
		.replace(/([a-z\d])([A-Z])/g, '$1 $2')
		.toLowerCase()
		.replace(/[^a-z\d]+/g, ' ');
