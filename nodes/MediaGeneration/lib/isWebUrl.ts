/** Recognizes an absolute http or https URL, as people write it: with no blanks in it. */
export const isWebUrl = (text: string): boolean =>
	/^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
