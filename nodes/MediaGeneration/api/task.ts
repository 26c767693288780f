import { dropUndefined, isObject } from '../lib/json';
import { findResult, hasText, isFilled, readResultLinks, type ResultLink } from './resultLinks';
import { embeddedJson, nonEmptyText, taskRecord, type TaskRecord } from './schemas';
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

/** Makes a task of which the service has said nothing but the ID. */
export const newTask = (taskId: string, model?: string, warning?: string): Task =>
	dropUndefined({ taskId, status: 'pending', resultUrls: [], model, warning });

/** The task as it is output if the wait ends first. */
export const markTimedOut = (task: Task): Task =>
	task.status === 'pending' ? { ...task, status: 'timedOut' } : task;

/** Finds the prompt in an input. Models of speech call the prompt `text`. */
export function findPrompt(input: unknown): string | undefined {
	const { prompt, text } = { ...(input as object) } as Record<string, unknown>;
	return [prompt, text].map((said) => nonEmptyText.safeParse(said).data).find(Boolean);
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
	// Links elsewhere in the record may be no results. A text result stays beside them: it was paid for.
	const left = dropUndefined({ ...omitKnown(record), resultJson: results.find(hasText) });
	const others = status === 'completed' ? [left] : [];
	const result = findResult([...results, ...others]) ?? results[0];
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

/** Copies the parts of a record that no field of a Task has. Some services put the result there. */
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
