import type { INodeExecutionData } from 'n8n-workflow';
import { buildDoubt } from '../../api/failure';
import { markTimedOut, type Task } from '../../api/task';
import type { Call } from '../../host/call';
import { describeNoResult, GET_FILES, toTaskItems } from '../files/fileItems';
import { hasFailed, type Outcome, type OutputItem } from '../input/item';
import {
	describeTask,
	type Entry,
	findTask,
	isFailed,
	listTaskIds,
	stateOf,
	storeOutput,
} from '../ledger/ledger';
import { noteTold, showTasks } from '../ledger/note';
import { isErrorIfFailed, listWithoutError, type Run } from '../run';
import { toErrorItem, toFailure, toNodeError } from './errors';
import { sayAdopted, showEnds, showMissing } from './hints';
import { fitItems } from './toModel';

/**
 * Makes the output of a run: its entries become items, errors and hints. It notes what n8n is told,
 * so that a try may create another task in place of a failed one.
 * @throws with On Error "stop", the first error
 */
export function show(run: Run): INodeExecutionData[] {
	const { call, refusal } = run;
	const { entries } = run.ledger;
	const outcomes = showOutcomes(run);
	if (refusal) throwRefusal(call, refusal.error, entries);
	noteTold(run.ledger, outcomes);
	for (const entry of entries) storeOutput(entry, false);
	throwFirstError(call, outcomes, entries);
	return toOutput(call, outcomes, entries);
}

/** Makes the outcome of each item, and says how the tasks that the run waited for ended. */
export function showOutcomes(run: Run): Outcome[] {
	const { call, ledger, looks } = run;
	showTasks(run);
	const outcomes = makeOutcomes(run);
	if (!looks) return outcomes;
	const tasks = new Map<string, Task>();
	const adopted = new Set<string>();
	for (const { entry } of listWithoutError(run)) {
		const task = describeEntry(run, entry);
		const key = looks.keyOf(entry);
		if (!task || key === undefined) continue;
		if (ledger.earlier && looks.attemptOf(entry)?.elsewhere) adopted.add(key);
		// The earlier execution has said what it paid.
		tasks.set(key, adopted.has(key) ? { ...task, creditsConsumed: undefined } : task);
	}
	showEnds(call.context, [...tasks.values()], looks.failure);
	sayAdopted(call.context, adopted.size, tasks.size);
	showMissing(call.context, outcomes);
	return outcomes;
}

/**
 * Makes the outcome of each item.
 * @param isOver the wait is over: a task that has not ended is `timedOut`
 */
export const makeOutcomes = (run: Run, isOver = run.looks !== undefined): Outcome[] =>
	run.ledger.entries.map((entry, item) => makeOutcome(run, { entry, item, isOver }));

interface Shown {
	entry: Entry;
	item: number;
	isOver: boolean;
}

function makeOutcome(run: Run, { entry, item, isOver }: Shown): Outcome {
	const { errors, looks, refusal } = run;
	if (errors.has(item)) return { error: errors.get(item) };
	if (entry.unknown && stateOf(entry) === 'unknown') return { error: buildDoubt(entry.unknown) };
	if (refusal) return refusal;
	const task = describeEntry(run, entry);
	if (!task) return undefined;
	if (!isOver) return { items: [{ json: task }] };
	const failure = looks?.find(looks.keyOf(entry)).failure;
	const ended = { ...markTimedOut(task), ...(failure && { lookError: failure.message }) };
	if (!isErrorIfFailed(run) || !isFailed(ended)) return { items: makeItems(run, entry, ended) };
	return { error: toFailure(ended) };
}

/** Makes the task of an entry; undefined where there is none. */
function describeEntry({ looks }: Run, entry: Entry): Task | undefined {
	const attempt = looks ? looks.attemptOf(entry) : findTask(entry);
	return attempt && describeTask(entry, attempt, looks?.find(looks.keyOf(entry)).said);
}

const LIMIT_PASSED = `The wait limit passed before the file was complete. ${GET_FILES} To have more time, raise 'Limit Wait Time' or the workflow's timeout.`;

/** Makes a task's items, from what is known now. */
function makeItems({ ledger, looks, files }: Run, entry: Entry, task: Task): OutputItem[] {
	const { downloads, perFile = false } = ledger.settings ?? {};
	const withFiles = files?.find(looks?.keyOf(entry) ?? '');
	if (withFiles) return withFiles;
	const isMissing = downloads && task.status === 'completed';
	const downloadError =
		isMissing && (task.resultUrls?.length ? LIMIT_PASSED : describeNoResult(task));
	return toTaskItems(downloadError ? { ...task, downloadError } : task, perFile);
}

/** Throws an error of the run as a whole. @throws it, with On Error "stop" */
export function throwRefusal(call: Call, error: unknown, entries: Entry[] = []): void {
	if (call.stops) throw toNodeError(call, error, listTaskIds(entries));
}

/** @throws with On Error "stop", the error of the first item that has one */
export function throwFirstError(
	call: Call,
	outcomes: Array<object | undefined>,
	entries: Entry[] = [],
): void {
	const index = call.stops ? outcomes.findIndex(hasFailed) : -1;
	const first = outcomes[index];
	if (hasFailed(first)) throw toNodeError(call, first.error, listTaskIds(entries), index);
}

/** Makes the node's output: each item's, paired with it. */
export function toOutput(
	call: Call,
	outcomes: Outcome[],
	entries: Entry[] = [],
): INodeExecutionData[] {
	return outcomes.flatMap((outcome, item) => {
		if (!outcome) return [];
		const entry = entries[item];
		const isUnknown = entry && stateOf(entry) === 'unknown';
		const taskId = entry && !isUnknown ? findTask(entry)?.taskId : undefined;
		if (hasFailed(outcome)) return [toErrorItem(call, outcome.error, item, taskId)];
		const items = fitItems(call, outcome.items) as INodeExecutionData[];
		return call.context.helpers.constructExecutionMetaData(items, { itemData: { item } });
	});
}
