/** Cuts a text that is longer than allowed, in characters, and ends it with "…". */
export const cutText = (text: string, longest: number): string =>
	text.length > longest ? `${text.slice(0, longest - 1).trimEnd()}…` : text;
