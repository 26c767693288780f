import { z } from 'zod';
import { isObject } from '../lib/json';
import { isWebUrl } from '../lib/isWebUrl';
import { spaceWords } from '../lib/text';
import { message, nonEmptyText, number, tolerant } from './schemas';

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

/** What the task was given, and pages and addresses of the service. */
const NO_RESULT =
	/\b(call ?back|web ?hook|hook|web ?page|page|web ?site|site|home ?page|docs?|status|cancel|input|origin|original|param|parameter|prompt|reference|request|source)s?\b/;

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

interface Place {
	kind?: LinkKind;
	readFacts: () => LinkFacts;
}

/** Reads the links of a parsed result, each once, at most 100 of them. */
export function readResultLinks(result: unknown): ResultLink[] {
	const links = new Map<string, ResultLink>();
	collect(result, { readFacts: () => ({}) }, links);
	return [...links.values()];
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

function collect(value: unknown, place: Place, links: Map<string, ResultLink>): void {
	if (links.size === MAX_LINKS) return;
	if (typeof value === 'string') return addLink(value.trim(), place, links);
	if (Array.isArray(value)) {
		const apart = { ...place, readFacts: () => ({}) };
		for (const entry of value) collect(entry, isObject(entry) ? apart : place, links);
	} else if (isObject(value)) collectParts(value, place, links);
}

function collectParts(value: object, place: Place, links: Map<string, ResultLink>): void {
	const before = links.size;
	const parts = new Map(
		Object.entries(value)
			.filter(([, part]) => (typeof part === 'string' ? isWebUrl(part.trim()) : isFilled(part)))
			.map(([key, part]) => [spaceWords(key).trim(), part as unknown] as const)
			.filter(([words]) => !NO_RESULT.test(words)),
	);
	const hasCover = [...parts.keys()].some((words) => HAS_COVER.test(words) && !findKind(words));
	const readFacts = () => ({ ...place.readFacts(), ...readFactsOf(value) });
	for (const [words, part] of parts) {
		if (STREAM.test(words) && parts.has(words.replace(STREAM, ''))) continue;
		const isCover = hasCover && PICTURE.test(words) && !HAS_COVER.test(words);
		const kind = findKind(words) ?? place.kind ?? (isCover ? 'cover' : undefined);
		collect(part, { kind, readFacts }, links);
	}
	if (links.size > before) addCovers([...links.values()].slice(before));
}

function addLink(
	url: string,
	{ kind = 'result', readFacts }: Place,
	links: Map<string, ResultLink>,
): void {
	if (!isWebUrl(url)) return;
	const known = links.get(url);
	if (!known) links.set(url, { kind, url, ...readFacts() });
	else if (kind === 'result') known.kind = kind;
}

/** Tells each file its cover: the only one beside it, or the one at its place in a list. */
function addCovers(links: ResultLink[]): void {
	const taken = new Set(links.map(({ coverUrl }) => coverUrl));
	const covers = links.filter(({ kind, url }) => kind === 'cover' && !taken.has(url));
	const open = links.filter(({ kind, coverUrl }) => kind === 'result' && coverUrl === undefined);
	if (covers.length === 1 || covers.length === open.length)
		for (const [index, link] of open.entries()) link.coverUrl = (covers[index] ?? covers[0])?.url;
}

const factsShape = z.object({
	id: tolerant(z.union([nonEmptyText, z.number().transform(String)])),
	title: tolerant(message),
	seconds: tolerant(number),
});

function readFactsOf(value: object): LinkFacts {
	const said = new Map(Object.entries(value).map(([key, part]) => [spaceWords(key), part]));
	const {
		id,
		title,
		seconds = 0,
	} = factsShape.parse({
		id: said.get('id') ?? said.get('audio id'),
		title: said.get('title'),
		seconds: said.get('duration seconds') ?? said.get('duration'),
	});
	return {
		...(id !== undefined && { id }),
		...(title !== undefined && { title }),
		...(seconds > 0 && { durationSeconds: seconds }),
	};
}

const findKind = (words: string): LinkKind | undefined =>
	KINDS.find(([, pattern]) => pattern.test(words))?.[0];

/** A record may have an empty result in one form beside the full one in the other. */
export const isFilled = (result: unknown): boolean =>
	result !== null &&
	result !== undefined &&
	(typeof result !== 'object' || Object.keys(result).length > 0);
