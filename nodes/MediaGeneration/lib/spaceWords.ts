/** Writes a name in lower-case words with spaces between them, for example "first frame url" for `firstFrameUrl`. */
export const spaceWords = (name: string): string =>
	name
		.replace(/([a-z\d])([A-Z])/g, '$1 $2')
		.toLowerCase()
		.replace(/[^a-z\d]+/g, ' ');
