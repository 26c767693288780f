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

/** Where a link stands: how likely the place is, and what is said there about the file. */
interface Place {
	rank: number;
	/** Most links are known already, or are too many. */
	readFacts: () => FileFacts;
}

/** Lists the links in a parsed result: results, and previews behind them. */
export function readResultLinks(result: unknown): ResultLink[] {
	const links = collectLinks(result);
	const best = findBestRank(links);
	return (
		[...links]
			.filter(([, { rank }]) => rank === best || rank === RANK.preview)
			.map(([url, { rank, readFacts }]): ResultLink => {
				const facts = readFacts();
				// The likeliest are the results, whatever they are, because they are what was paid for.
				const kind = rank === best ? 'result' : 'preview';
				const coverUrl = facts.coverUrl === url ? undefined : facts.coverUrl;
				return dropUndefined({ kind, url, ...facts, coverUrl });
			})
			// Results come first.
			.sort((one, other) => other.kind.localeCompare(one.kind))
	);
}

/** Finds the result with the likeliest links, the first of several; undefined if none has any. */
export function findResult(results: unknown[]): unknown {
	let [found, best]: [unknown, number] = [undefined, Infinity];
	for (const result of results) {
		const rank = findBestRank(collectLinks(result));
		if (rank < best) [found, best] = [result, rank];
		if (best === RANK.result) break;
	}
	return found;
}

/** Infinity without links. */
const findBestRank = (links: Map<string, Place>): number =>
	Math.min(...[...links.values()].map(({ rank }) => rank));

/**
 * Collects at most 100 links, each once, with its likeliest place.
 * @param place where the value stands
 */
function collectLinks(
	given: unknown,
	place: Place = { rank: RANK.result, readFacts: () => ({}) },
	links = new Map<string, Place>(),
): Map<string, Place> {
	if (links.size === MAX_LINKS) return links;
	const value = openJson(given);
	if (Array.isArray(value)) for (const entry of value) collectLinks(entry, place, links);
	else if (isObject(value)) addLinksInObject(links, value, place);
	const url = readLink(value);
	if (url !== undefined && place.rank < (links.get(url)?.rank ?? Infinity)) links.set(url, place);
	return links;
}

function addLinksInObject(links: Map<string, Place>, object: object, place: Place): void {
	// An answer may have 60,000 objects without a new link. Reading their keys would take a second.
	const isKnown = (part: unknown) => (links.get(part as string)?.rank ?? Infinity) <= place.rank;
	if (!Object.values(object).some((part) => mayHaveLinks(part) && !isKnown(part))) return;
	const said = Object.entries(object).map(([key, part]): [words: string, part: unknown] => [
		spaceWords(key).trim(),
		openJson(part),
	]);
	const parts = said.filter(([words, part]) => !NO_RESULT.test(words) && mayHaveLinks(part));
	const hasCover = parts.some(([words]) => HAS_COVER.test(words) && !PREVIEW.test(words));
	const isCover = (words: string) =>
		COVER.test(words) || (hasCover && PICTURE.test(words) && !HAS_COVER.test(words));
	const covers = parts.flatMap(([words, part]) => (isCover(words) && readLink(part)) || []);
	const find = <Fact>(schema: z.ZodType<Fact, z.ZodTypeDef, unknown>, name: RegExp) =>
		said.flatMap(([words, part]) => (name.test(words) && schema.safeParse(part).data) || [])[0];
	const readFacts = () => ({
		id: find(id, /^(audio )?id$/),
		title: find(message, /^title$/),
		durationSeconds: find(number, /^duration( seconds)?$/),
		coverUrl: covers[0] ?? place.readFacts().coverUrl,
	});
	for (const [words, part] of parts) {
		const rank = isCover(words) ? RANK.preview : toRank(words);
		collectLinks(part, { rank: Math.max(rank, place.rank), readFacts }, links);
	}
}

/** Parses a list or object that a service wrote as text, within its JSON. */
const openJson = (part: unknown): unknown =>
	typeof part === 'string' && /^\s*[[{]/.test(part) ? (parseServiceJson(part) ?? part) : part;

const readLink = (part: unknown): string | undefined =>
	typeof part === 'string' ? readWebUrl(part) : undefined;

const mayHaveLinks = (part: unknown): boolean =>
	typeof part === 'string'
		? /^\s*(https?:|[[{])/i.test(part)
		: typeof part === 'object' && isFilled(part);

const id = z.union([nonEmptyText, z.number().transform(String)]);

function toRank(words: string): number {
	if (PREVIEW.test(words)) return RANK.preview;
	return SUBSTITUTE.test(words) ? RANK.substitute : RANK.result;
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
		([key, part]) => hasText(part) && !NO_TEXT.test(spaceWords(key).trim()),
	);
}

/** Whether a result isn't empty. A record may have an empty one next to the full one. */
export const isFilled = (result: unknown): boolean =>
	typeof result === 'object' ? Object.keys(result ?? {}).length > 0 : result !== undefined;
