import type { CatalogueModel } from './schemas';

/** What people say, and what services call it. */
const SYNONYMS = new Map([
	['photo', 'image'],
	['picture', 'image'],
	['song', 'music'],
	['voice', 'speech'],
]);

/**
 * Finds the models that have each word of a filter in their name, provider or types. Those that have
 * the words side by side are first, because "text to video" fits a model from video to text as well;
 * of these the ones that make what is looked for: "image" means text to image before image to video.
 */
export function filterModels(models: CatalogueModel[], filter: string): CatalogueModel[] {
	const words = toPlainWords(filter).split(' ').filter(Boolean);
	if (!words.length) return models;
	const found = models
		.map((model) => ({ model, text: toSearchText(model) }))
		.filter(({ text }) => words.every((word) => has(text, word)));
	const asked = words.join(' ');
	const meant = words.map(translate).join(' ');
	const ranks = [`to ${asked}`, asked, `to ${meant}`, meant].map((phrase) =>
		found.filter(({ text }) => text.includes(phrase)),
	);
	return [...new Set([...ranks.flat(), ...found])].map(({ model }) => model);
}

/** Says in the service's words what a word means, in the plural too. */
const translate = (word: string): string => SYNONYMS.get(word.replace(/s$/, '')) ?? word;

const has = (text: string, word: string): boolean =>
	text.includes(word) || text.includes(translate(word));

const toSearchText = ({ model, title, provider, taskType }: CatalogueModel): string =>
	toPlainWords([model, title, provider, ...taskType].join(' '));

/** Hyphens and the like count as spaces, as in "text-to-video". */
const toPlainWords = (text: string): string => text.toLowerCase().replace(/[\s/_-]+/g, ' ');
