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
	facts: FileFacts;
}

/** A value in an object, with the words of its key. */
type Said = [words: string, part: unknown];

/**
 * Lists the links in a parsed result: results, and previews behind them. The likeliest links are the
 * results, whatever they are, because they are what was paid for.
 */
export function readResultLinks(result: unknown): ResultLink[] {
	const links = collectLinks(result);
	const best = findBestRank(links);
	const list = (kind: ResultLink['kind'], rank: number) =>
		links
			.filter((link) => link.rank === rank)
			.map(({ url, facts: { coverUrl, ...facts } }) =>
				dropUndefined({ kind, url, ...facts, coverUrl: coverUrl === url ? undefined : coverUrl }),
			);
	const previews = best === RANK.preview ? [] : list('preview', RANK.preview);
	return [...list('result', best), ...previews];
}

/** Finds the result with the likeliest links, the first of several; undefined if none has any. */
export function findResult(results: unknown[]): unknown {
	const ranks = results.map((result) => findBestRank(collectLinks(result)));
	const best = Math.min(...ranks);
	return best === Infinity ? undefined : results[ranks.indexOf(best)];
}

/** Infinity without links. */
const findBestRank = (links: Found[]): number => Math.min(...links.map(({ rank }) => rank));

/** Collects at most 100 links, each once, with what is said at its likeliest place. */
function collectLinks(result: unknown): Found[] {
	const links = new Map<string, Found>();
	for (const link of findLinks(result, { rank: RANK.result, facts: {} })) {
		const known = links.get(link.url);
		if (!known || link.rank < known.rank) links.set(link.url, link);
		if (links.size === MAX_LINKS) break;
	}
	return [...links.values()];
}

/** Finds the links in a value. @param place where the value stands */
function* findLinks(given: unknown, place: Omit<Found, 'url'>): Generator<Found> {
	const value = openJson(given);
	if (Array.isArray(value)) for (const entry of value) yield* findLinks(entry, place);
	else if (isObject(value)) yield* findLinksInObject(value, place);
	const url = readLink(value);
	if (url !== undefined) yield { ...place, url };
}

function* findLinksInObject(object: object, place: Omit<Found, 'url'>): Generator<Found> {
	const said = Object.entries(object).map(
		([key, part]): Said => [spaceWords(key).trim(), openJson(part)],
	);
	const parts = said.filter(([words, part]) => !NO_RESULT.test(words) && mayHaveLinks(part));
	const hasCover = parts.some(([words]) => HAS_COVER.test(words) && !PREVIEW.test(words));
	const isCover = (words: string) =>
		COVER.test(words) || (hasCover && PICTURE.test(words) && !HAS_COVER.test(words));
	const covers = parts.flatMap(([words, part]) => (isCover(words) && readLink(part)) || []);
	const coverUrl = covers[0] ?? place.facts.coverUrl;
	const facts = { ...readFacts(said), coverUrl };
	for (const [words, part] of parts) {
		const rank = isCover(words) ? RANK.preview : toRank(words);
		yield* findLinks(part, { rank: Math.max(rank, place.rank), facts });
	}
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

function readFacts(said: Said[]): FileFacts {
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
	return Object.entries(result).some(
		([key, part]) => !NO_TEXT.test(spaceWords(key).trim()) && hasText(part),
	);
}

/** Whether a result isn't empty. A record may have an empty one next to the full one. */
export const isFilled = (result: unknown): boolean =>
	result !== null &&
	result !== undefined &&
	(typeof result !== 'object' || Object.keys(result).length > 0);
