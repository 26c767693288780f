import { z } from 'zod';
import { isObject } from '../lib/json';
import { isWebUrl } from '../lib/url';
import { spaceWords } from '../lib/text';
import { message, nonEmptyText, number } from './schemas';

/**
 * What a link leads to, in the editor. The contract does not show where links are, and models
 * differ, so each http(s) text is a `result`, save under a key that speaks of something else.
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

/** What the service says of a file beside its link. Other models take it by its ID. */
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

/** What the task was given, and addresses of the service. */
const NO_RESULT =
	/^requests?$|\b(call ?back|web ?hook|hook|web ?page|web ?site|site|home ?page|docs?|status|cancel|input|param|parameter|prompt|reference)s?\b/;

/** May be that too. Such links count where there are no others. */
const LAST_RESORT = /\b(page|origin|original|request|source)s?\b/;

const KINDS: Array<[LinkKind, RegExp]> = [
	['firstFrame', /\bfirst frames?\b/],
	['lastFrame', /\blast frames?\b/],
	['watermarked', /^(?!.*\b(no|non|un|without|free|removed?)\b).*\bwater ?mark(ed|s)?\b/],
	['cover', /\b(cover|thumb|thumbnail|poster|artwork)s?\b/],
	['preview', /\b(preview|teaser)s?\b/],
];

const PICTURE = /\b(image|img|picture|photo)\b/;

/** What a picture beside it is the cover of. */
const HAS_COVER = /\b(audio|clip|mp3|mp4|music|song|sound|speech|track|video|voice|wav)s?\b/;

/** A song while it is made, beside the whole one. */
const STREAM = /\bstream(ing)? /;

/** A part of an object, and the words of its key. */
type Said = [words: string, part: unknown];

interface Place {
	kind?: LinkKind;
	facts: LinkFacts;
}

/** The links found so far, by URL, and whether a key speaks of something else. */
interface Search {
	links: Map<string, ResultLink>;
	isOmitted: (words: string) => boolean;
}

/** A result, and its links. */
interface Found {
	result: unknown;
	links: ResultLink[];
}

/** Reads the links of a parsed result, each once, at most 100 of them. */
export const readResultLinks = (result: unknown): ResultLink[] =>
	(findResult([result]) ?? findResult([result], true))?.links ?? [];

/**
 * Finds the result that has links, rather to files than to frames and covers alone.
 * @param isLastResort counts all links that are not certainly of something else
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
 * Selects the links of these kinds, those of one kind together. Where no link is a `result`,
 * whatever there is counts as one: it is what was paid for.
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

/** Tells the files of an object their cover, if there is one for all. */
function addCover(links: ResultLink[]): void {
	const taken = new Set(links.map(({ coverUrl }) => coverUrl));
	const [cover, ...more] = links.filter(({ kind, url }) => kind === 'cover' && !taken.has(url));
	if (!cover || more.length > 0) return;
	for (const link of links) if (link.kind === 'result') link.coverUrl ??= cover.url;
}

const id = z.union([nonEmptyText, z.number().transform(String)]);
const seconds = number.refine((value) => value > 0);

/** By the words of its key, a fact's name and what is valid. */
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

/** A record may have an empty result in one form beside the full one in the other. */
export const isFilled = (result: unknown): boolean =>
	result !== null &&
	result !== undefined &&
	(typeof result !== 'object' || Object.keys(result).length > 0);
