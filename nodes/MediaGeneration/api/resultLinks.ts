import { z } from 'zod';
import { isObject } from '../lib/json';
import { spaceWords } from '../lib/text';
import { isWebUrl, message, nonEmptyText, number, tolerant } from './schemas';

/**
 * The links in a task's result. The contract does not show where they are. So known places come first, and then each http(s) link
 * under a key that speaks of a URL or of a file. Every entry stands for itself: one that can't be read costs no other.
 */

/** What a link leads to, as the editor names it. Only a `result` is what the task was created for. */
export const LINK_KINDS = {
	cover: 'Cover',
	firstFrame: 'First Frame',
	lastFrame: 'Last Frame',
	preview: 'Preview',
	result: 'Result',
	watermarked: 'Result With Watermark',
};

type LinkKind = keyof typeof LINK_KINDS;

/** What the service says of a file beside its link. */
interface LinkFacts {
	/** The service's ID of the file, by which other models take it. */
	id?: string;
	title?: string;
	durationSeconds?: number;
	coverUrl?: string;
}

export interface ResultLink extends LinkFacts {
	kind: LinkKind;
	url: string;
}

interface FoundLink {
	link: ResultLink;
	isKnown: boolean;
}

/** The keys of known places, in words. What they hold counts as a link, whatever its form. */
const KNOWN =
	/^(results? urls?|(stream )?audio url|video url|image url|(first|last) frame urls?|result water ?mark urls?)$/;

const URL_WORDS = /\b(url|uri|link|href|src)s?\b/;
const PICTURE = /\b(image|img|picture|photo)s?\b/;
const ONE_PICTURE = /\b(image|img|picture|photo)\b/;
const FILE_WORDS =
	/\b(audio|clip|data|download|file|gif|image|img|media|midi|mp3|mp4|music|output|photo|picture|result|song|sound|speech|track|video|voice|wav)s?\b/;

/** What a picture beside it is the cover of. */
const HAS_COVER =
	/\b(audio|clip|file|mp3|mp4|music|result|song|sound|speech|track|video|voice|wav)s?\b|^urls?$/;

/** Links that are no files of the result: what the task was given, and pages and addresses of the service. */
const NO_RESULT =
	/\b(call ?back|web ?hook|hook|web ?page|page|web ?site|site|home ?page|docs?|status|cancel|input|param|parameter|prompt|reference|request)s?\b/;

const KINDS: Array<[LinkKind, RegExp]> = [
	['firstFrame', /\bfirst frames?\b/],
	['lastFrame', /\blast frames?\b/],
	['watermarked', /^(?!.*\b(no|non|un|without|free|removed?)\b).*\bwater ?mark(ed|s)?\b/],
	['cover', /\b(cover|thumb|thumbnail|poster|artwork)s?\b/],
	['preview', /\b(preview|teaser)s?\b/],
];

/** Other links to the same file: of the song while it is made, and of the host that made it. */
const QUALIFIERS = [/\bstream(ing)? /, /\bsource /];

/** Where in a result something stands. */
interface Place {
	/** The key, in words; undefined at the root. */
	words?: string;
	/** A key above speaks of a URL. */
	isBelowUrl: boolean;
	kind?: LinkKind;
	facts: LinkFacts;
}

/** Reads all links of a parsed result, each once, those in known places first. */
export function readResultLinks(result: unknown): ResultLink[] {
	const found = collect(result, { isBelowUrl: false, facts: {} });
	const links = new Map<string, ResultLink>();
	for (const { link } of [...found.filter(({ isKnown }) => isKnown), ...found]) {
		const known = links.get(link.url);
		if (!known || (known.kind !== 'result' && link.kind === 'result')) links.set(link.url, link);
	}
	return [...links.values()];
}

/**
 * Selects the links of these kinds, those of one kind together. Where no link is a `result`, whatever there is counts as one: it
 * is what was paid for.
 */
export function selectLinks(links: ResultLink[], kinds: string[]): ResultLink[] {
	const hasResults = links.some(({ kind }) => kind === 'result');
	const takesAll = kinds.includes('result') && !hasResults;
	return Object.keys(LINK_KINDS)
		.filter((kind) => takesAll || kinds.includes(kind))
		.flatMap((kind) => links.filter((link) => link.kind === kind));
}

function collect(value: unknown, place: Place): FoundLink[] {
	if (typeof value === 'string') return readLink(value.trim(), place);
	if (Array.isArray(value))
		return value.flatMap((entry) =>
			collect(entry, isObject(entry) ? { ...place, facts: {} } : place),
		);
	if (!isObject(value)) return [];
	const parts = Object.entries(value)
		.filter(([, part]) => isFilled(part))
		.map(([key, part]) => ({ words: spaceWords(key).trim(), part }))
		.filter(({ words }) => !NO_RESULT.test(words));
	const hasCover = parts.some(
		({ words }) => HAS_COVER.test(words) && !PICTURE.test(words) && !findKind(words),
	);
	const facts = { ...place.facts, ...readFacts(value) };
	const links = leaveOutCopies(parts).flatMap(({ words, part }) => {
		const isCover = hasCover && ONE_PICTURE.test(words);
		return collect(part, {
			words,
			isBelowUrl: place.isBelowUrl || URL_WORDS.test(words),
			kind: findKind(words) ?? place.kind ?? (isCover ? 'cover' : undefined),
			facts,
		});
	});
	return addCovers(links);
}

function readLink(url: string, { words, isBelowUrl, kind = 'result', facts }: Place): FoundLink[] {
	const isKnown = words !== undefined && KNOWN.test(words);
	const speaksOfFile =
		words === undefined ||
		isBelowUrl ||
		[URL_WORDS, FILE_WORDS].some((form) => form.test(words)) ||
		findKind(words) !== undefined;
	const isLink = isWebUrl(url) ? speaksOfFile : isKnown && url !== '';
	return isLink ? [{ link: { kind, url, ...facts }, isKnown }] : [];
}

/** Leaves out links to a file that has a better one beside them. */
function leaveOutCopies<T extends { words: string }>(parts: T[]): T[] {
	const best = new Map<string, { rank: number; part: T }>();
	for (const part of parts) {
		const base = QUALIFIERS.reduce((words, qualifier) => words.replace(qualifier, ''), part.words);
		const rank = QUALIFIERS.reduce(
			(sum, qualifier, index) => sum + (qualifier.test(part.words) ? index + 1 : 0),
			0,
		);
		const other = best.get(base);
		if (!other || rank < other.rank) best.set(base, { rank, part });
	}
	return [...best.values()].map(({ part }) => part);
}

/** Tells each file its cover: the only one beside it, or the one in the same place of a list of covers. */
function addCovers(links: FoundLink[]): FoundLink[] {
	const all = links.map(({ link }) => link);
	const taken = new Set(all.map(({ coverUrl }) => coverUrl));
	const covers = all.filter(({ kind, url }) => kind === 'cover' && !taken.has(url));
	const open = all.filter(({ kind, coverUrl }) => kind === 'result' && coverUrl === undefined);
	if (covers.length === 1 || covers.length === open.length)
		for (const [index, link] of open.entries()) link.coverUrl = (covers[index] ?? covers[0])?.url;
	return links;
}

const identifier = z.union([nonEmptyText, z.number().transform(String)]);

const factsShape = z.object({
	id: tolerant(identifier),
	audioId: tolerant(identifier),
	audio_id: tolerant(identifier),
	title: tolerant(message),
	duration: tolerant(number),
	durationSeconds: tolerant(number),
	duration_seconds: tolerant(number),
});

function readFacts(value: object): LinkFacts {
	const { audioId, audio_id, id = audioId ?? audio_id, title, ...times } = factsShape.parse(value);
	const seconds = times.durationSeconds ?? times.duration_seconds ?? times.duration ?? 0;
	return {
		...(id !== undefined && { id }),
		...(title !== undefined && { title }),
		...(seconds > 0 && { durationSeconds: seconds }),
	};
}

const findKind = (words: string): LinkKind | undefined =>
	KINDS.find(([, pattern]) => pattern.test(words))?.[0];

const isFilled = (part: unknown): boolean =>
	typeof part === 'string'
		? part.trim() !== ''
		: typeof part === 'object' && part !== null && Object.keys(part).length > 0;
