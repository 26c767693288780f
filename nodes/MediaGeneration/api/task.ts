import { dropUndefined, isObject } from '../lib/json';
import { findResult, hasText, isFilled, readResultLinks, type ResultLink } from './resultLinks';
import { embeddedJson, nonEmptyText, taskRecord, type TaskRecord } from './schemas';
import { STATES } from './service';

/** `timedOut`: we stopped waiting, the task goes on. */
export type TaskStatus = keyof typeof STATES | 'timedOut';

/** The key under which a Task keeps what its record says of the original request. */
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
	/** Of a completed task, only if it has no result. */
	failMessage?: string;
	/** Preliminary while the task runs. */
	creditsConsumed?: number;
	/** ISO 8601 in UTC, like the next one. */
	createdAt?: string;
	completedAt?: string;
	/** What was sent that may be a mistake. Only of tasks that this node created. */
	warning?: string;
	/** Why a file, or the result, is missing. */
	downloadError?: string;
	/** Why the last look failed, of one that has not ended at the end of a wait. */
	lookError?: string;
	/** Not output, because its key is a symbol. */
	[REQUEST]?: { prompt?: string; callbackUrl?: string };
}

/** Reads a state; undefined for an unknown word. */
export function findStatus(state: string): TaskStatus | undefined {
	const word = state.toLowerCase().replace(/[\s_-]+/g, '');
	const statuses = Object.keys(STATES) as Array<keyof typeof STATES>;
	return statuses.find((status) => STATES[status].test(word));
}

/** A task of which only its ID is known, and if this node created it, its model and a warning. */
export const newTask = (taskId: string, model?: string, warning?: string): Task =>
	dropUndefined({ taskId, status: 'pending', resultUrls: [], model, warning });

/** The task as it is output if the wait ends first. */
export const markTimedOut = (task: Task): Task =>
	task.status === 'pending' ? { ...task, status: 'timedOut' } : task;

/** Reads the prompt of an input. Models of speech call it text. */
export function findPrompt(input: unknown): string | undefined {
	const { prompt, text } = { ...(input as object) } as Record<string, unknown>;
	return [prompt, text].map((said) => nonEmptyText.safeParse(said).data).find(Boolean);
}

/** Reads the original request, whose `input` is JSON text within JSON text. */
function readRequest({ param, paramJson }: TaskRecord): Task[typeof REQUEST] {
	const { input, callBackUrl } = [param, paramJson].find(isObject) ?? {};
	const callbackUrl = nonEmptyText.safeParse(callBackUrl).data;
	const request = { prompt: findPrompt(embeddedJson.parse(input)), callbackUrl };
	return (request.prompt ?? request.callbackUrl) ? request : undefined;
}

/** Turns a record into a Task. */
export function toTask(taskId: string, record: TaskRecord): Task {
	const status = findStatus(record.state) ?? 'pending';
	const results = [record.resultJson, record.response].filter(isFilled);
	// A text was paid for too, so it stays beside links that may be none of a result.
	const left = dropUndefined({ ...omitKnown(record), resultJson: results.find(hasText) });
	const others = status === 'completed' ? [left] : [];
	const result = findResult([...results, ...others]) ?? results[0];
	const links = listTaskLinks({ taskId, result }, ['result']);
	const hasResult = links.length > 0 || hasText(result);
	const isFailure = status === 'failed' || (status === 'completed' && !hasResult);
	return dropUndefined({
		taskId,
		status,
		resultUrls: links.map(({ url }) => url),
		model: record.model,
		state: record.state,
		result,
		failCode: status === 'failed' ? (record.failCode ?? record.errorCode) : undefined,
		failMessage: isFailure ? (record.failMsg ?? record.errorMessage) : undefined,
		creditsConsumed: record.creditsConsumed,
		createdAt: toIsoTime(record.createTime),
		completedAt: toIsoTime(record.completeTime),
		[REQUEST]: readRequest(record),
	});
}

const FILE_LEFT_OUT =
	"The service sent its result as a file within its answer, which was too large to keep that. Next time choose links. To get this file, ask for the task's details with n8n's HTTP Request and this credential. Running Generate again pays for a new task.";

/** A text in JSON that is a file, alone or in a data URL, which was left out. */
const LEFT_OUT = /"(data:[^\s",]*,[^"]*)?…\\*"/;

/** Says that a result was a file, and no link, in an answer that was too large to keep it. */
export const describeLeftOut = ({ status, resultUrls, result }: Task): string | undefined =>
	status === 'completed' && !resultUrls?.length && LEFT_OUT.test(JSON.stringify(result) ?? '')
		? FILE_LEFT_OUT
		: undefined;

/** Says that in a warning. */
export function warnOfLeftOut(task: Task): Task {
	const warning = [task.warning, describeLeftOut(task)].filter(Boolean).join(' ');
	return warning ? { ...task, warning } : task;
}

/** The parts of a record that have no field in a Task. Some services may put the result there. */
const omitKnown = (record: TaskRecord): object =>
	Object.fromEntries(Object.entries(record).filter(([key]) => !(key in taskRecord.shape)));

/** Lists the links of these kinds in a task's result, or in `resultUrls` if it has no result. */
export const listTaskLinks = ({ result, resultUrls }: Task, kinds: string[]): ResultLink[] =>
	readResultLinks(result ?? resultUrls).filter(({ kind }) => kinds.includes(kind));

/** Times before March 1973 in milliseconds are in seconds, which reach the year 5138. */
function toIsoTime(sent?: number): string | undefined {
	const time = new Date(sent && sent < 1e11 ? sent * 1000 : sent || NaN);
	return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
