import { z } from 'zod';
import { isObject } from '../lib/json';
import { isWebUrl } from '../lib/url';
import { spaceWords } from '../lib/text';
import { message, nonEmptyText, number } from './schemas';

/**
 * The kinds of links, with their names in the editor. The contract doesn't say where links are, and
 * models differ, so any http(s) text is a `result`, unless its key points to something else.
 */
export const LINK_KINDS = {
	cover: 'Cover',
	firstFrame: 'First Frame',
	lastFrame: 'Last Frame',
	preview: 'Preview',
	result: 'Result',
	watermarked: 'Result With Watermark',
};

type LinkKind = keyof typeof LINK_KINDS;

/** What the service says about a file. Other models take the file by its ID. */
interface LinkFacts {
	id?: string;
	title?: string;
	durationSeconds?: number;
	coverUrl?: string;
}

export interface ResultLink extends LinkFacts {
	kind: LinkKind;
	url: string;
}

const MAX_LINKS = 100;

/** Keys of what the task was given, and of the service's own addresses. */
const NO_RESULT =
	/^requests?$|\b(call ?back|web ?hook|hook|web ?page|web ?site|site|home ?page|docs?|status|cancel|input|param|parameter|prompt|reference)s?\b/;

/** Keys that may mean the same. Such links count only if there are no others. */
const LAST_RESORT = /\b(page|origin|original|request|source)s?\b/;

const KINDS: Array<[LinkKind, RegExp]> = [
	['firstFrame', /\bfirst frames?\b/],
	['lastFrame', /\blast frames?\b/],
	['watermarked', /^(?!.*\b(no|non|un|without|free|removed?)\b).*\bwater ?mark(ed|s)?\b/],
	['cover', /\b(cover|thumb|thumbnail|poster|artwork)s?\b/],
	['preview', /\b(preview|teaser)s?\b/],
];

const PICTURE = /\b(image|img|picture|photo)\b/;

/** Keys of media that a picture next to them is the cover of. */
const HAS_COVER = /\b(audio|clip|mp3|mp4|music|song|sound|speech|track|video|voice|wav)s?\b/;

/** Keys of a song in progress, next to the complete one. */
const STREAM = /\bstream(ing)? /;

/** A value in an object, with the words of its key. */
type Said = [words: string, part: unknown];

interface Place {
	kind?: LinkKind;
	facts: LinkFacts;
}

/** The links found so far, by URL, and which keys to skip. */
interface Search {
	links: Map<string, ResultLink>;
	isOmitted: (words: string) => boolean;
}

/** A result, and its links. */
interface Found {
	result: unknown;
	links: ResultLink[];
}

/** Reads the links in a parsed result, at most 100, without duplicates. */
export const readResultLinks = (result: unknown): ResultLink[] =>
	(findResult([result]) ?? findResult([result], true))?.links ?? [];

/**
 * Finds the result that has links, preferably to files and not only to frames and covers.
 * @param isLastResort also counts links whose key may point to something else
 */
export function findResult(results: unknown[], isLastResort = false): Found | undefined {
	const isOmitted = (words: string) =>
		NO_RESULT.test(words) || (!isLastResort && LAST_RESORT.test(words));
	const found = results.map((result) => {
		const links: Search['links'] = new Map();
		collect(result, { facts: {} }, { links, isOmitted });
		return { result, links: [...links.values()] };
	});
	return (
		found.find(({ links }) => links.some(({ kind }) => kind === 'result')) ??
		found.find(({ links }) => links.length > 0)
	);
}

/**
 * Selects the links of these kinds, grouped by kind. If no link is a `result`, all of them count as
 * one, because they are what was paid for.
 */
export function selectLinks(links: ResultLink[], kinds: string[]): ResultLink[] {
	const hasResults = links.some(({ kind }) => kind === 'result');
	const takesAll = kinds.includes('result') && !hasResults;
	return Object.keys(LINK_KINDS)
		.filter((kind) => takesAll || kinds.includes(kind))
		.flatMap((kind) => links.filter((link) => link.kind === kind));
}

function collect(value: unknown, place: Place, search: Search): void {
	const { links } = search;
	if (links.size === MAX_LINKS) return;
	if (typeof value === 'string') addLink(value.trim(), place, links);
	else if (isObject(value)) collectParts(value, place, search);
	else if (Array.isArray(value)) for (const entry of value) collect(entry, place, search);
}

function collectParts(value: object, place: Place, search: Search): void {
	const { links, isOmitted } = search;
	const before = links.size;
	const said = Object.entries(value).map(([key, part]): Said => [spaceWords(key).trim(), part]);
	const parts = said.filter(([words, part]) => !isOmitted(words) && mayHaveLinks(part));
	const names = new Set(parts.map(([words]) => words));
	const hasCover = [...names].some((words) => HAS_COVER.test(words) && !findLinkKind(words));
	const facts = readFacts(said);
	for (const [words, part] of parts) {
		if (STREAM.test(words) && names.has(words.replace(STREAM, ''))) continue;
		const isCover = hasCover && PICTURE.test(words) && !HAS_COVER.test(words);
		const kind = findLinkKind(words) ?? place.kind ?? (isCover ? 'cover' : undefined);
		collect(part, { kind, facts }, search);
	}
	if (links.size > before) addCover([...links.values()].slice(before));
}

const mayHaveLinks = (part: unknown): boolean =>
	typeof part === 'string' ? isWebUrl(part.trim()) : isFilled(part);

const findLinkKind = (words: string): LinkKind | undefined =>
	KINDS.find(([, pattern]) => pattern.test(words))?.[0];

function addLink(url: string, place: Place, links: Map<string, ResultLink>): void {
	if (!isWebUrl(url)) return;
	const { kind = 'result', facts } = place;
	const known = links.get(url);
	if (!known) links.set(url, { kind, url, ...facts });
	else if (kind === 'result') known.kind = kind;
}

/** Sets the cover of an object's files, if they share one. */
function addCover(links: ResultLink[]): void {
	const taken = new Set(links.map(({ coverUrl }) => coverUrl));
	const [cover, ...more] = links.filter(({ kind, url }) => kind === 'cover' && !taken.has(url));
	if (!cover || more.length > 0) return;
	for (const link of links) if (link.kind === 'result') link.coverUrl ??= cover.url;
}

const id = z.union([nonEmptyText, z.number().transform(String)]);
const seconds = number.refine((value) => value > 0);

/** Facts by the words of their key: their name, and which values are valid. */
const FACTS = new Map<string, [keyof LinkFacts, z.ZodTypeAny]>([
	['id', ['id', id]],
	['audio id', ['id', id]],
	['title', ['title', message]],
	['duration', ['durationSeconds', seconds]],
	['duration seconds', ['durationSeconds', seconds]],
]);

function readFacts(said: Said[]): LinkFacts {
	const facts: Record<string, unknown> = {};
	for (const [words, part] of said) {
		const [name, schema] = FACTS.get(words) ?? [];
		const { data } = schema?.safeParse(part) ?? {};
		if (name && data !== undefined) facts[name] = data;
	}
	return facts;
}

/** Whether a result isn't empty. A record may have an empty one next to the full one. */
export const isFilled = (result: unknown): boolean =>
	result !== null &&
	result !== undefined &&
	(typeof result !== 'object' || Object.keys(result).length > 0);
