import { z } from 'zod';
import { dropUndefined, isObject } from '../lib/json';
import { readWebUrl } from '../lib/url';
import { spaceWords } from '../lib/text';
import { message, nonEmptyText, number, parseServiceJson } from './schemas';

/** The kinds of links, with their names in the editor. */
export const LINK_KINDS = { preview: 'Preview', result: 'Result' };

/** What the service says about a file. Other models take the file by its ID. */
interface FileFacts {
	id?: string;
	title?: string;
	durationSeconds?: number;
	coverUrl?: string;
}

export interface ResultLink extends FileFacts {
	kind: keyof typeof LINK_KINDS;
	url: string;
}

const MAX_LINKS = 100;

/** Keys of what the task was given, and of the service's own addresses. */
const NO_RESULT =
	/\b(call ?back|(web ?)?hook|status|cancel|input|param|parameter|prompt|reference|request)s?\b/;

/** Keys of a song in progress, of what a file was made from, and of pages. */
const SUBSTITUTE = /\b(stream|streaming|source|origin|original|((web|home) ?)?(page|site)|doc)s?\b/;

const PREVIEW =
	/\b(preview|teaser|first frame|last frame)s?\b|(?<!\b(no|non|without) )\bwater ?mark/;

const COVER = /\b(cover|thumb|thumbnail|poster|artwork)s?\b/;

const PICTURE = /\b(image|img|picture|photo)\b/;

/** Keys of media that a picture next to them is the cover of. */
const HAS_COVER = /\b(audio|clip|mp3|mp4|music|song|sound|speech|track|video|voice|wav)s?\b/;

/**
 * How likely a link is what was paid for; the least number is the likeliest. The contract doesn't say
 * where links are, and models differ, so any http(s) text counts, and the words of its key tell.
 */
const RANK = { result: 0, substitute: 1, preview: 2 };

/** A link where it was found. */
interface Found {
	url: string;
	rank: number;
	/** Reads what is said about the file. Most links are known already, or are too many. */
	readFacts: () => FileFacts;
}

/** A value in an object, with the words of its key. */
type Said = [words: string, part: unknown];

/** Lists the links in a parsed result: results, and previews behind them. */
export const readResultLinks = (result: unknown): ResultLink[] =>
	toResultLinks(collectLinks(result));

/**
 * Finds the result with the likeliest links, the first of several, and lists its links.
 * @returns undefined if none has any
 */
export function findResult(
	results: unknown[],
): { result: unknown; links: ResultLink[] } | undefined {
	let [found, best]: [{ result: unknown; links: Found[] } | undefined, number] = [
		undefined,
		Infinity,
	];
	for (const result of results) {
		const links = collectLinks(result);
		const rank = findBestRank(links);
		if (rank < best) [found, best] = [{ result, links }, rank];
		if (best === RANK.result) break;
	}
	return found && { ...found, links: toResultLinks(found.links) };
}

/** The likeliest links are the results, whatever they are, because they are what was paid for. */
function toResultLinks(links: Found[]): ResultLink[] {
	const best = findBestRank(links);
	const list = (kind: ResultLink['kind'], rank: number) =>
		links
			.filter((link) => link.rank === rank)
			.map(({ url, readFacts }) => {
				const { coverUrl, ...facts } = readFacts();
				const cover = coverUrl === url ? undefined : coverUrl;
				return dropUndefined({ kind, url, ...facts, coverUrl: cover });
			});
	const previews = best === RANK.preview ? [] : list('preview', RANK.preview);
	return [...list('result', best), ...previews];
}

/** Infinity without links. */
const findBestRank = (links: Found[]): number => Math.min(...links.map(({ rank }) => rank));

/** Collects at most 100 links, each once, with what is said at its likeliest place. */
function collectLinks(result: unknown): Found[] {
	const links = new Map<string, Found>();
	addLinks(links, result, { rank: RANK.result, readFacts: () => ({}) });
	return [...links.values()];
}

/** Adds the links in a value. @param place where the value stands */
function addLinks(links: Map<string, Found>, given: unknown, place: Omit<Found, 'url'>): void {
	if (links.size === MAX_LINKS) return;
	const value = openJson(given);
	if (Array.isArray(value)) for (const entry of value) addLinks(links, entry, place);
	else if (isObject(value)) addLinksInObject(links, value, place);
	const url = readLink(value);
	if (url === undefined) return;
	const known = links.get(url);
	if (!known || place.rank < known.rank) links.set(url, { ...place, url });
}

function addLinksInObject(
	links: Map<string, Found>,
	object: object,
	place: Omit<Found, 'url'>,
): void {
	// An answer may have 60,000 objects without a new link. Reading their keys would take a second.
	if (!hasEntry(object, (part) => mayAdd(links, part, place.rank))) return;
	const said = Object.entries(object).map(
		([key, part]): Said => [spaceWords(key).trim(), openJson(part)],
	);
	const parts = said.filter(([words, part]) => !NO_RESULT.test(words) && mayHaveLinks(part));
	const hasCover = parts.some(([words]) => HAS_COVER.test(words) && !PREVIEW.test(words));
	const isCover = (words: string) =>
		COVER.test(words) || (hasCover && PICTURE.test(words) && !HAS_COVER.test(words));
	const readFacts = () => {
		const covers = parts.flatMap(([words, part]) => (isCover(words) && readLink(part)) || []);
		return { ...readFactsIn(said), coverUrl: covers[0] ?? place.readFacts().coverUrl };
	};
	for (const [words, part] of parts) {
		const rank = isCover(words) ? RANK.preview : toRank(words);
		addLinks(links, part, { rank: Math.max(rank, place.rank), readFacts });
	}
}

/** Whether a value of an object may be a link that isn't known from a likelier place, or have some. */
function mayAdd(links: Map<string, Found>, part: unknown, rank: number): boolean {
	if (typeof part !== 'string') return typeof part === 'object' && isFilled(part);
	return /^\s*(https?:|[[{])/i.test(part) && (links.get(part)?.rank ?? Infinity) > rank;
}

/** Parses a list or object that a service wrote as text, within its JSON. */
const openJson = (part: unknown): unknown =>
	typeof part === 'string' && /^\s*[[{]/.test(part) ? (parseServiceJson(part) ?? part) : part;

function toRank(words: string): number {
	if (PREVIEW.test(words)) return RANK.preview;
	return SUBSTITUTE.test(words) ? RANK.substitute : RANK.result;
}

const readLink = (part: unknown): string | undefined =>
	typeof part === 'string' ? readWebUrl(part) : undefined;

const mayHaveLinks = (part: unknown): boolean =>
	typeof part === 'string' ? readLink(part) !== undefined : isFilled(part);

const id = z.union([nonEmptyText, z.number().transform(String)]);
const seconds = number.refine((value) => value > 0);

/** Facts by the words of their key: their name, and which values are valid. */
const FACTS = new Map<string, [keyof FileFacts, z.ZodTypeAny]>([
	['id', ['id', id]],
	['audio id', ['id', id]],
	['title', ['title', message]],
	['duration', ['durationSeconds', seconds]],
	['duration seconds', ['durationSeconds', seconds]],
]);

function readFactsIn(said: Said[]): FileFacts {
	const facts: Record<string, unknown> = {};
	for (const [words, part] of said) {
		const [name, schema] = FACTS.get(words) ?? [];
		const { data } = schema?.safeParse(part) ?? {};
		if (name && data !== undefined) facts[name] = data;
	}
	return facts;
}

/** Keys of texts that are no result: why there is none, links that lead nowhere, facts beside them. */
const NO_TEXT =
	/\b(block|error|fail|filter|flag|moderat|nsfw|reason|refus|reject|safety|violat)|\b(code|date|format|id|language|link|model|msg|name|prompt|state|status|tag|time|title|type|uri|url)s?$/;

/** A link of another kind, or a path. */
const OTHER_LINK = /^(\/|[a-z][a-z\d+.-]*:\/\/)\S*$/i;

/** Whether a result without links has text, which was paid for too, and not only says why it is empty. */
export function hasText(result: unknown): boolean {
	if (typeof result === 'string') return result.trim() !== '' && !OTHER_LINK.test(result.trim());
	if (Array.isArray(result)) return result.some(hasText);
	if (!isObject(result)) return false;
	return hasEntry(result, (part, key) => hasText(part) && !NO_TEXT.test(spaceWords(key).trim()));
}

/** Whether a result isn't empty. A record may have an empty one next to the full one. */
export const isFilled = (result: unknown): boolean =>
	result !== null &&
	result !== undefined &&
	(typeof result !== 'object' || hasEntry(result, () => true));

/** Whether an entry passes a test. `Object.entries` takes three times as long with 60,000 keys. */
function hasEntry(object: object, test: (part: unknown, key: string) => boolean): boolean {
	for (const key in object) if (test((object as Record<string, unknown>)[key], key)) return true;
	return false;
}
