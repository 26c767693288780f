/** Cuts a text that is longer than allowed, in characters, and ends it with "…". */
export const cutText = (text: string, longest: number): string =>
	text.length > longest ? `${text.slice(0, longest - 1).trimEnd()}…` : text;

/**
 * Writes foreign text so that it reads the same as text and as HTML. n8n's editor makes HTML, styles
 * included, of messages, descriptions, hints, notices and labels (2.41.1). `e2e/editor` fails first.
 * It comes last: secrets are hidden, and nothing decides by the text any more.
 */
export const toPlainText = (text: string): string => text.replaceAll('<', '‹').replaceAll('>', '›');

/** The texts of an error that n8n shows. */
type ErrorTexts = Error & { description?: string | null; messages?: string[] };

/** Makes all texts of an error plain, also those that n8n has taken from its cause. */
export function toPlainError<E extends ErrorTexts>(error: E): E {
	error.message = toPlainText(error.message);
	if (error.description) error.description = toPlainText(error.description);
	if (error.messages) error.messages = error.messages.map(toPlainText);
	return error;
}

/** Writes a name in lower-case words, for example "first frame url" for `firstFrameUrl`. */
export const spaceWords = (name: string): string =>
	name
		.replace(/([a-z\d])([A-Z])/g, '$1 $2')
		.toLowerCase()
		.replace(/[^a-z\d]+/g, ' ');
