import type { INodeExecutionData } from 'n8n-workflow';
import { buildUnknownError, factsOf } from '../../api/failure';
import { markTimedOut, type Task } from '../../api/task';
import type { Call } from '../../host/call';
import { Excerpt } from '../../lib/excerpt';
import { cutText, toPlainText } from '../../lib/text';
import { describeNoResult, GET_FILES, toTaskItems } from '../files/taskFiles';
import type { Outcome, OutputItem } from '../input/item';
import { noteCosts, hideResults, noteReported } from '../ledger/changes';
import { publishTasks } from '../ledger/costs';
import {
	describeTask,
	type Entry,
	findAttempt,
	isFailedOrTimedOut,
	type Ledger,
	statusOf,
} from '../ledger/ledger';
import type { Looks } from '../looks';
import { isErrorIfFailed, type Run } from '../run';
import {
	ABOUT_SERVICE_TEXTS,
	buildFailedTaskError,
	sayReason,
	saySums,
	toErrorItem,
	toNodeError,
} from './errors';

/**
 * Concludes a run, and makes its output: entries become items, errors and hints. The ledger notes what tasks
 * cost, and which failures n8n is given as errors, so that a try may create another task in their place.
 * Results are hidden from what n8n stores.
 * @throws with On Error "stop", the first error
 */
export function concludeRun(run: Run): INodeExecutionData[] {
	const { call, fatal, ledger } = run;
	const outcomes = publishOutcomes(run);
	if (fatal && call.stopsOnError) throw toNodeError(call, fatal.error, ledger);
	noteReported(ledger, outcomes);
	hideResults(ledger);
	return outputOrThrow(call, outcomes, ledger);
}

/**
 * Makes the outcome of each item: an error stays an outcome, and isn't thrown. Notes what tasks cost, and
 * shows this with the execution. Once the run has waited, adds hints to the output.
 */
export function publishOutcomes(run: Run): Outcome[] {
	noteCosts(run.ledger);
	publishTasks(run);
	const outcomes = makeOutcomes(run);
	if (run.looks) addHints(run, run.looks, outcomes);
	return outcomes;
}

/**
 * Makes the outcome of each item, and writes nothing.
 * @param hasWaited the wait is over: a task that has not ended is `timedOut`
 * @param isError a failed task is the error of its item
 */
export const makeOutcomes = (
	run: Run,
	{ hasWaited = run.looks !== undefined, isError = isErrorIfFailed(run) } = {},
): Outcome[] =>
	run.ledger.entries.map((entry, item) => {
		const { errors, looks, fatal } = run;
		if (errors.has(item)) return { error: errors.get(item) };
		if (entry.unknown && statusOf(entry) === 'unknown')
			return { error: buildUnknownError(entry.unknown) };
		// The run can't go on, so even an item that has a task gets the error of the run.
		if (fatal) return { error: fatal.error };
		const attempt = findAttempt(entry);
		// The item wasn't begun.
		if (!attempt) return undefined;
		const { answer, failure } = looks?.find(looks.keyOf(entry)) ?? {};
		const task = describeTask(entry, attempt, answer);
		if (!hasWaited) return { items: [{ json: task }] };
		const ended = { ...markTimedOut(task), ...(failure && { lookError: failure.message }) };
		if (isError && isFailedOrTimedOut(ended)) return { error: buildFailedTaskError(ended) };
		return { items: makeItemsOfTask(run, entry, ended) };
	});

/** Makes a task's items, with the files that are complete. */
function makeItemsOfTask({ ledger, looks, files }: Run, entry: Entry, task: Task): OutputItem[] {
	const { downloads, perFile } = ledger.settings ?? {};
	const taskFiles = looks && files?.find(looks.keyOf(entry));
	const isMissing = downloads && !taskFiles && task.status === 'completed';
	const reason = task.resultUrls?.length
		? `The wait limit passed before the file was complete. ${GET_FILES}`
		: describeNoResult(task);
	const withReason = isMissing && reason ? { ...task, downloadError: reason } : task;
	return toTaskItems(withReason, { perFile, field: downloads?.field }, taskFiles);
}

/** @throws with On Error "stop", the error of the first item that has one */
export function throwFirstError(
	call: Call,
	outcomes: Array<object | undefined>,
	ledger?: Ledger,
): void {
	for (const [item, outcome] of outcomes.entries())
		if (call.stopsOnError && outcome && 'error' in outcome)
			throw toNodeError(call, outcome.error, ledger, item);
}

/**
 * Makes the node's output, in which each item is paired with its input item.
 * @throws with On Error "stop", the error of the first item that has one
 */
export function outputOrThrow(
	call: Call,
	outcomes: Outcome[],
	ledger?: Ledger,
): INodeExecutionData[] {
	throwFirstError(call, outcomes, ledger);
	return outcomes.flatMap((outcome, item) => {
		if (!outcome) return [];
		if ('error' in outcome) {
			const entry = ledger?.entries[item];
			// An item of unknown outcome doesn't name the task that failed before: a reader would take it for
			// the task that may exist.
			const isUnknown = entry && statusOf(entry) === 'unknown';
			return [toErrorItem(call, outcome.error, item, isUnknown ? undefined : entry)];
		}
		const items = fitItems(call, outcome.items) as INodeExecutionData[];
		return call.context.helpers.constructExecutionMetaData(items, { itemData: { item } });
	});
}

const ABOUT_CUT_SHORT =
	"The wait ended before 'Limit Wait Time', because of n8n's timeout ('Timeout Workflow'), or that of an MCP client.";

/** The longest list of items in a hint, in characters. */
const MAX_ITEM_LIST = 30;

/** Adds hints: how a wait ended, and the warnings of items, which n8n shows behind their files. */
function addHints({ call, ledger, decision, times }: Run, looks: Looks, outcomes: Outcome[]): void {
	const addHint = (type: 'warning' | 'info', text: string) => {
		const message = toPlainText(text);
		call.context.addExecutionHints({ type, location: 'outputPane', message });
	};
	for (const fact of saySums(ledger)) addHint('info', fact);
	if (decision.reason) addHint('info', `The run stayed awake because ${decision.reason}.`);
	const isCutShort = times && times.looksBy < times.limitAt;
	if (isCutShort && !looks.haveEnded) addHint('info', ABOUT_CUT_SHORT);
	for (const [what, reasons] of listWarnings(outcomes)) {
		const [first] = reasons.values();
		const items = cutText([...reasons.keys()].join(', '), MAX_ITEM_LIST);
		addHint('warning', cutText(`${what}: ${reasons.size} (item ${items}). The first: ${first}`));
	}
}

/**
 * Groups the warnings of items.
 * @returns for each kind of warning, the numbers of its items (from 1), each with its reason
 */
function listWarnings(outcomes: Outcome[]): Map<string, Map<number, string>> {
	const warnings = new Map<string, Map<number, string>>();
	for (const [item, outcome = { items: [] }] of outcomes.entries()) {
		const warn = (what: string, reason?: string) => {
			if (!reason) return;
			const reasons = warnings.get(what) ?? new Map<number, string>();
			warnings.set(what, reasons.set(item + 1, reason));
		};
		const isError = 'error' in outcome;
		const tasks = isError ? [] : outcome.items.map(({ json }) => json as Task);
		const task = isError ? factsOf(outcome.error).task : tasks[0];
		if (isError && !task) warn('Items with an error', (outcome.error as Error).message);
		if (task?.status === 'failed') warn('Items whose task failed', sayReason(task));
		if (task?.status === 'timedOut')
			warn('Items whose task goes on (use Wait)', task.lookError ?? 'no look failed');
		for (const { warning, downloadError } of tasks) {
			warn('Items with a warning', warning);
			warn('Items that lack a file', downloadError);
		}
	}
	return warnings;
}

/* What agents, and n8n's AI assistant, get. */

/** The fields of a task that an agent gets beside links or result: all stay in its context. */
const FIELDS_FOR_AGENT = [
	'taskId',
	'status',
	'failCode',
	'failMessage',
	'creditsConsumed',
	'warning',
	'downloadError',
	'lookError',
];

const ABOUT_LINKS =
	'Links usually expire: the operation Get has fresh ones. Show an image to the user as Markdown, ![](link), and any other file as a link.';

const ABOUT_TIMEOUT =
	'The task continues. Do not create it again: use the operation Wait with its taskId, or later Get.';

const ABOUT_CUTS = 'Long texts are cut, and what found no room is left out.';

/** The most that an agent gets of an input item beside notes, in characters of JSON. */
const MAX_JSON = 59_000;

/** Fits the output of an input item to its audience. n8n itself limits what its assistant reads. */
export function fitItems(call: Call, items: OutputItem[]): OutputItem[] {
	if (call.audience === 'agent') return fitForAgent(call, items);
	if (call.audience === 'workflow') return items;
	return items.map((item) => addNote(item, isTimedOut(item) && ABOUT_TIMEOUT));
}

/** Fits the items of a task for an agent. The first one has the notes. */
function fitForAgent({ nodeContext }: Call, items: OutputItem[]): OutputItem[] {
	const excerpt = new Excerpt(MAX_JSON);
	const fitted = items
		.map((item) => ({ ...item, json: (excerpt.copy(selectForAgent(item.json)) ?? {}) as object }))
		.filter(({ json }) => Object.keys(json).length > 0);
	const notes = [
		// Without an execution n8n has no place for files.
		!nodeContext && ABOUT_LINKS,
		ABOUT_SERVICE_TEXTS,
		items.some(isTimedOut) && ABOUT_TIMEOUT,
		excerpt.isCut && ABOUT_CUTS,
	];
	return fitted.map((item, index) => (index ? item : addNote(item, ...notes)));
}

const isTimedOut = ({ json }: OutputItem): boolean => (json as Task).status === 'timedOut';

/** Leaves out what an agent doesn't need of a task, and says no link twice. */
function selectForAgent(json: object): object {
	const { resultUrls, result, file } = json as Task & { file?: object };
	// A raw record may have such names too.
	if (!Array.isArray(resultUrls) || !('status' in json)) return json;
	const facts = Object.entries(json).filter(([name]) => FIELDS_FOR_AGENT.includes(name));
	const shown = Object.fromEntries(facts);
	if (file) return { ...shown, file };
	return resultUrls.length ? { ...shown, resultUrls } : { ...shown, result };
}

function addNote({ json, ...files }: OutputItem, ...notes: Array<string | false>): OutputItem {
	const note = notes.filter(Boolean).join(' ');
	return { ...files, json: note ? { ...json, note } : json };
}
