import { z } from 'zod';
import { dropUndefined, isObject } from '../lib/json';
import { spaceWords } from '../lib/text';
import { readWebUrl } from '../lib/url';
import {
	embeddedJson,
	messageSchema,
	nonEmptyText,
	numberSchema,
	parseServiceJson,
	taskRecord,
	type TaskRecord,
} from './answers';
import { STATES } from './service';

/** `timedOut`: the run stopped waiting, and the task goes on. */
export type TaskStatus = keyof typeof STATES | 'timedOut';

/** The key of what a task's record says of the request that created the task. */
export const REQUEST = Symbol('request');

/** A task as it is output (see `__schema__`). Unknown facts are absent. */
export interface Task {
	taskId: string;
	status?: TaskStatus;
	/** Links to the results, which usually expire. Empty until there are some. */
	resultUrls?: string[];
	model?: string;
	/** The service's own word for the status. */
	state?: string;
	result?: unknown;
	failCode?: string;
	/** Why the task failed, or why a completed task has no result. */
	failMessage?: string;
	/** Preliminary while the task runs. */
	creditsConsumed?: number;
	/** ISO 8601 in UTC, like `completedAt`. */
	createdAt?: string;
	completedAt?: string;
	/** What may be a mistake in the request. */
	warning?: string;
	/** Why a file, or the result, is missing. */
	downloadError?: string;
	/** Why the last look failed, if the task is pending at the end of a wait. */
	lookError?: string;
	/** Not output, because the key is a symbol. */
	[REQUEST]?: { prompt?: string; callbackUrl?: string };
}

/** Finds the status that a state means; undefined for an unknown state. */
export function findStatus(state: string): TaskStatus | undefined {
	const word = state.toLowerCase().replace(/[\s_-]+/g, '');
	const statuses = Object.keys(STATES) as Array<keyof typeof STATES>;
	return statuses.find((status) => STATES[status].test(word));
}

/** Makes a task of which nothing but the ID is known. */
export const newTask = (taskId: string): Task => ({ taskId, status: 'pending', resultUrls: [] });

/** The task as it is output if the wait ends first. */
export const markTimedOut = (task: Task): Task =>
	task.status === 'pending' ? { ...task, status: 'timedOut' } : task;

/** Finds the prompt in an input. Models of speech call the prompt `text`. */
export function findPrompt(input: unknown): string | undefined {
	const { prompt, text } = { ...(input as object) } as Record<string, unknown>;
	return [prompt, text].map((value) => nonEmptyText.safeParse(value).data).find(Boolean);
}

/** Reads the request that created the task. Its `input` is JSON text within JSON text. */
function readOriginalRequest({ param, paramJson }: TaskRecord): Task[typeof REQUEST] {
	const { input, callBackUrl } = [param, paramJson].find(isObject) ?? {};
	const callbackUrl = nonEmptyText.safeParse(callBackUrl).data;
	const request = { prompt: findPrompt(embeddedJson.parse(input)), callbackUrl };
	return (request.prompt ?? request.callbackUrl) ? request : undefined;
}

/** Makes a Task of a record. */
export function toTask(taskId: string, record: TaskRecord): Task {
	const status = findStatus(record.state) ?? 'pending';
	const results = [record.resultJson, record.response].filter(isFilled);
	// Some services put links under keys that we don't know. These links may be no results. So they count
	// only if the task has completed, and there are no likelier ones. If such links become the result, a
	// text result stays under its own key, because the text was paid for too.
	const unknownKeys = dropUndefined({ ...omitKnown(record), resultJson: results.find(hasText) });
	const lastResort = status === 'completed' ? [unknownKeys] : [];
	const result = findResult([...results, ...lastResort]) ?? results[0];
	const links = listTaskLinks({ taskId, result }, ['result']);
	const hasResult = links.length > 0 || hasText(result);
	const isLeftOut =
		status === 'completed' && !links.length && LEFT_OUT.test(JSON.stringify(result));
	const isFailure = status === 'failed' || (status === 'completed' && !hasResult);
	return dropUndefined({
		taskId,
		status,
		resultUrls: links.map(({ url }) => url),
		model: record.model,
		state: record.state,
		result,
		failCode: status === 'failed' ? record.failCode : undefined,
		failMessage: isFailure ? record.failMsg : undefined,
		creditsConsumed: record.creditsConsumed,
		createdAt: toIsoTime(record.createTime),
		completedAt: toIsoTime(record.completeTime),
		downloadError: isLeftOut ? FILE_LEFT_OUT : undefined,
		[REQUEST]: readOriginalRequest(record),
	});
}

const FILE_LEFT_OUT =
	"The service sent its result as a file within its answer, which was too large to keep that. Next time choose links. To get this file, ask for the task's details with n8n's HTTP Request and this credential. Running Generate again pays for a new task.";

/** A text in JSON in whose place a file was, alone or in a data URL. */
const LEFT_OUT = /"(data:[^\s",]*,[^"]*)?…\\*"/;

/** Copies the keys of a record that `taskRecord` doesn't list. */
const omitKnown = (record: TaskRecord): object =>
	Object.fromEntries(Object.entries(record).filter(([key]) => !(key in taskRecord.shape)));

/** Lists the links of these kinds in a task's result; without a result, in `resultUrls`. */
export const listTaskLinks = ({ result, resultUrls }: Task, kinds: string[]): ResultLink[] =>
	readResultLinks(result ?? resultUrls).filter(({ kind }) => kinds.includes(kind));

/** Reads a time. Below 1e11 (in milliseconds, March 1973), it is in seconds. */
function toIsoTime(sent?: number): string | undefined {
	const time = new Date(sent && sent < 1e11 ? sent * 1000 : sent || NaN);
	return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** The kinds of links, by their names in the editor. */
export const LINK_KINDS = { preview: 'Preview', result: 'Result' };

/** What the service says about a file. Some models take a file by its ID. */
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

const MOST_LINKS = 100;

/** Keys of what the task was given, and of the service's own addresses. */
const NO_RESULT_KEY =
	/\b(call ?back|(web ?)?hook|status|cancel|input|param|parameter|prompt|reference|request)s?\b/;

/** Keys of a song in progress, of what a file was made from, and of pages. */
const SUBSTITUTE_KEY =
	/\b(stream|streaming|source|origin|original|((web|home) ?)?(page|site)|doc)s?\b/;

const PREVIEW_KEY =
	/\b(preview|teaser|first frame|last frame)s?\b|(?<!\b(no|non|without) )\bwater ?mark/;

const COVER_KEY = /\b(cover|thumb|thumbnail|poster|artwork)s?\b/;

const PICTURE_KEY = /\b(image|img|picture|photo)\b/;

/** Keys of sounds and videos. A picture beside one is its cover. */
const COVERED_KEY = /\b(audio|clip|mp3|mp4|music|song|sound|speech|track|video|voice|wav)s?\b/;

/**
 * How likely a link is what was paid for; the least number is the likeliest. The contract doesn't say
 * where links are, and models differ. So any http(s) text counts, and the words of its key rank it.
 */
const RANKS = { result: 0, substitute: 1, preview: 2 };

/** Where a link stands: how likely a result stands there, and what is said there about the file. */
interface Place {
	rank: number;
	/** Called only for links that are returned: an answer may have thousands. */
	readFacts: () => FileFacts;
}

/** Lists the links in a parsed result: first results, then previews. */
export function readResultLinks(result: unknown): ResultLink[] {
	const links = collectLinks(result);
	const best = findBestRank(links);
	return [...links]
		.filter(([, { rank }]) => rank === best || rank === RANKS.preview)
		.sort(([, one], [, other]) => one.rank - other.rank)
		.map(([url, { rank, readFacts }]) => {
			const { coverUrl, ...facts } = readFacts();
			// The likeliest links are the results, whatever their rank: something was paid for.
			const kind = rank === best ? 'result' : 'preview';
			return dropUndefined({
				kind,
				url,
				...facts,
				coverUrl: coverUrl === url ? undefined : coverUrl,
			});
		});
}

/** Finds the first result with the likeliest links; undefined if no result has links. */
function findResult(results: unknown[]): unknown {
	const ranks = results.map((result) => findBestRank(collectLinks(result)));
	const best = Math.min(...ranks);
	return best < Infinity ? results[ranks.indexOf(best)] : undefined;
}

/** Finds the rank of the likeliest link; Infinity without links. */
const findBestRank = (links: Map<string, Place>): number =>
	Math.min(...[...links.values()].map(({ rank }) => rank));

/**
 * Collects at most 100 links, each once, with its likeliest place.
 * @param result a result, or a part of one
 * @param place where the part stands
 */
function collectLinks(
	result: unknown,
	place: Place = { rank: RANKS.result, readFacts: () => ({}) },
	links = new Map<string, Place>(),
): Map<string, Place> {
	if (links.size === MOST_LINKS) return links;
	const value = openJson(result);
	if (Array.isArray(value)) for (const part of value) collectLinks(part, place, links);
	else if (isObject(value)) addLinksInObject(links, value, place);
	const url = readLink(value);
	if (url !== undefined && place.rank < (links.get(url)?.rank ?? Infinity)) links.set(url, place);
	return links;
}

function addLinksInObject(links: Map<string, Place>, object: object, place: Place): void {
	const parts = Object.entries(object).flatMap(([key, value]): Array<[string, unknown]> => {
		const part = openJson(value);
		// An answer may have 60,000 objects without a link. Reading all keys would take a second.
		if (!mayHaveLinks(part)) return [];
		const words = spaceKey(key);
		return NO_RESULT_KEY.test(words) ? [] : [[words, part]];
	});
	const isCovered = parts.some(([words]) => COVERED_KEY.test(words) && !PREVIEW_KEY.test(words));
	const isCover = (words: string) =>
		COVER_KEY.test(words) || (isCovered && PICTURE_KEY.test(words) && !COVERED_KEY.test(words));
	const readFacts = () => {
		const find = <Fact>(schema: z.ZodType<Fact, z.ZodTypeDef, unknown>, name: RegExp) =>
			Object.entries(object).flatMap(
				([key, part]) => (name.test(spaceKey(key)) && schema.safeParse(part).data) || [],
			)[0];
		const covers = parts.flatMap(([words, part]) => (isCover(words) && readLink(part)) || []);
		return {
			id: find(fileIdSchema, /^(audio )?id$/),
			title: find(messageSchema, /^title$/),
			durationSeconds: find(numberSchema, /^duration( seconds)?$/),
			coverUrl: covers[0] ?? place.readFacts().coverUrl,
		};
	};
	for (const [words, part] of parts) {
		const rank = isCover(words) ? RANKS.preview : toRank(words);
		collectLinks(part, { rank: Math.max(rank, place.rank), readFacts }, links);
	}
}

const spaceKey = (key: string): string => spaceWords(key).trim();

/** Parses a list or object that a service wrote as text, within its JSON. */
const openJson = (part: unknown): unknown =>
	typeof part === 'string' && /^\s*[[{]/.test(part) ? (parseServiceJson(part) ?? part) : part;

const readLink = (part: unknown): string | undefined =>
	typeof part === 'string' ? readWebUrl(part) : undefined;

const mayHaveLinks = (part: unknown): boolean =>
	typeof part === 'string'
		? /^\s*(https?:|[[{])/i.test(part)
		: typeof part === 'object' && isFilled(part);

const fileIdSchema = z.union([nonEmptyText, z.number().transform(String)]);

function toRank(words: string): number {
	if (PREVIEW_KEY.test(words)) return RANKS.preview;
	return SUBSTITUTE_KEY.test(words) ? RANKS.substitute : RANKS.result;
}

/** Keys of texts that are no result: why there is no result, links that lead nowhere, facts. */
const NO_TEXT_KEY =
	/\b(block|error|fail|filter|flag|moderat|nsfw|reason|refus|reject|safety|violat)|\b(code|date|format|id|language|link|model|msg|name|prompt|state|status|tag|time|title|type|uri|url)s?$/;

/** A link of another kind, or a path. */
const OTHER_LINK = /^(\/|[a-z][a-z\d+.-]*:\/\/)\S*$/i;

/** Whether a result without links has text that was paid for, beside why there are no links. */
export function hasText(result: unknown): boolean {
	if (typeof result === 'string') return result.trim() !== '' && !OTHER_LINK.test(result.trim());
	if (Array.isArray(result)) return result.some(hasText);
	if (!isObject(result)) return false;
	return Object.entries(result).some(
		([key, part]) => hasText(part) && !NO_TEXT_KEY.test(spaceKey(key)),
	);
}

/** Whether a result isn't empty. A record may have two, one of them empty. */
export const isFilled = (result: unknown): boolean =>
	typeof result === 'object' ? Object.keys(result ?? {}).length > 0 : result !== undefined;
