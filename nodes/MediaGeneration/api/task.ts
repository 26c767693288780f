import { z } from 'zod';
import { isObject } from '../lib/json';
import { isFilled, readResultLinks, selectLinks, type ResultLink } from './resultLinks';
import { message, nonEmptyText, number, parseServiceJson, toMessage, tolerant } from './schemas';

/** JSON in a string. Some services send the object itself. Other text stays text. */
const embeddedJson = z.unknown().transform((value) => {
	if (value === '') return undefined;
	if (typeof value !== 'string') return value;
	const parsed = parseServiceJson(value);
	return parsed === undefined ? value : parsed;
});

/** The ID of a record, if it has one. It must be the one that was asked for. */
const recordId = z.preprocess(
	(id) => (id === null || id === '' ? undefined : id),
	z.union([z.string(), z.number().transform(String)]).optional(),
);

/** `data` of a task-details answer, as the service sends it. */
export const rawTaskRecord = z.object({ taskId: recordId, state: z.string() }).passthrough();

/** The parts of it that make a Task. */
export const taskRecord = rawTaskRecord.extend({
	state: z.string().transform(toMessage),
	model: tolerant(message),
	resultJson: tolerant(embeddedJson),
	response: tolerant(embeddedJson),
	failCode: tolerant(z.union([message, z.number().transform(String)])),
	failMsg: tolerant(message),
	creditsConsumed: tolerant(number),
	createTime: tolerant(number),
	completeTime: tolerant(number),
	param: tolerant(embeddedJson),
	/** Newer records have it in place of `param`, or beside it. */
	paramJson: tolerant(embeddedJson),
});

export type TaskRecord = z.infer<typeof taskRecord>;

/** The service's many states, mapped to four. `timedOut`: our wait ended, the task continues. */
export type TaskStatus = 'pending' | 'completed' | 'failed' | 'timedOut';

/** The key of the prompt that a task was created with, where its record holds the request. */
export const PROMPT = Symbol('prompt');

/** A task as it is output, as in `__schema__`. A key is absent where nothing is known. */
export interface Task {
	taskId: string;
	status?: TaskStatus;
	/** Links to the results, which usually expire. Empty while there are none. */
	resultUrls?: string[];
	model?: string;
	/** The service's own word for the status. */
	state?: string;
	result?: unknown;
	failCode?: string;
	failMessage?: string;
	creditsConsumed?: number;
	/** ISO 8601, UTC, as the next one. */
	createdAt?: string;
	completedAt?: string;
	/** Names its files. Being a symbol, it is no part of what is output. */
	[PROMPT]?: string;
}

/** The service's words, in lower case and without separators inside. */
const STATES: Array<[TaskStatus, RegExp]> = [
	['completed', /^(completed?|done|finished|succeed(ed)?|success)$/],
	['failed', /^(aborted|cancell?ed|error(ed)?|expired|fail(ed|ure)?|rejected)$/],
	['failed', /^(terminated|timed?out)$/],
	['pending', /^(generating|inprogress|pending|processing|queu(ed|ing)|running|waiting)$/],
];

/** Reads a state. @param otherwise the status of an unknown one; by default it has not ended */
export function toStatus(state: string, otherwise: TaskStatus = 'pending'): TaskStatus {
	const word = state.toLowerCase().replace(/[\s_-]+/g, '');
	return STATES.find(([, words]) => words.test(word))?.[0] ?? otherwise;
}

/** A task right after its creation. */
export const newTask = (taskId: string, model: string): Task => ({
	taskId,
	status: 'pending',
	resultUrls: [],
	model,
});

/** The task as it is output when the wait ends before it. */
export const markTimedOut = (task: Task): Task =>
	task.status === 'pending' ? { ...task, status: 'timedOut' } : task;

/** A failed task for which the service has no record. */
export const failedTask = (taskId: string, code: number, failMessage?: string): Task => ({
	taskId,
	status: 'failed',
	resultUrls: [],
	failCode: String(code),
	...(failMessage && { failMessage }),
});

const readRequest = ({ param, paramJson }: TaskRecord): Record<string, unknown> =>
	[param, paramJson].find(isObject) ?? {};

/** Reads the callback URL, if the record has the request. */
export const readCallbackUrl = (record: TaskRecord): string | undefined =>
	nonEmptyText.safeParse(readRequest(record).callBackUrl).data;

/** Its `input` is JSON text again. */
function readPrompt(record: TaskRecord): string | undefined {
	const input = embeddedJson.parse(readRequest(record).input);
	return nonEmptyText.safeParse(isObject(input) ? input.prompt : undefined).data;
}

/** Reads the record of a task. */
export function toTask(taskId: string, record: TaskRecord): Task {
	const status = toStatus(record.state);
	const results = [record.resultJson, record.response].filter(isFilled);
	const others = status === 'completed' ? [omitKnown(record)] : [];
	const found = [...results, ...others].map((result) => ({
		result,
		links: readResultLinks(result),
	}));
	const best =
		found.find(({ links }) => links.some(({ kind }) => kind === 'result')) ??
		found.find(({ links }) => links.length);
	const prompt = readPrompt(record);
	const task = dropUndefined({
		taskId,
		status,
		resultUrls: selectLinks(best?.links ?? [], ['result']).map(({ url }) => url),
		model: record.model,
		state: record.state,
		result: results[0] ?? best?.result,
		failCode: status === 'failed' ? record.failCode : undefined,
		failMessage: status === 'failed' ? record.failMsg : undefined,
		// Preliminary while the task runs.
		creditsConsumed: status === 'pending' ? undefined : record.creditsConsumed,
		createdAt: toIsoTime(record.createTime),
		completedAt: toIsoTime(record.completeTime),
	});
	return prompt === undefined ? task : { ...task, [PROMPT]: prompt };
}

/** Leaves of a record what a Task has no field for: some services may have the result there. */
const omitKnown = (record: TaskRecord): object =>
	Object.fromEntries(Object.entries(record).filter(([key]) => !(key in taskRecord.shape)));

/**
 * Lists the links of these kinds in a task's result. Where its record has two results, the one with
 * the links may be known by `resultUrls` only.
 */
export function listTaskLinks({ result, resultUrls = [] }: Task, kinds: string[]): ResultLink[] {
	const links = readResultLinks(result);
	const isWhole = resultUrls.every((url) => links.some((link) => link.url === url));
	const results = resultUrls.map((url): ResultLink => ({ kind: 'result', url }));
	return selectLinks(
		isWhole ? links : [...links.filter(({ kind }) => kind !== 'result'), ...results],
		kinds,
	);
}

/** Times before this are in seconds: in milliseconds it is March 1973, in seconds the year 5138. */
const LEAST_MILLISECONDS = 1e11;

function toIsoTime(sent?: number): string | undefined {
	const time = new Date(sent && sent < LEAST_MILLISECONDS ? sent * 1000 : sent || NaN);
	return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

function dropUndefined<T extends object>(value: T): T {
	return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T;
}
