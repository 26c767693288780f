import type { INodeExecutionData } from 'n8n-workflow';
import { UnknownOutcomeError } from '../api/failure';
import { markTimedOut } from '../api/task';
import type { Call } from '../host/call';
import { toErrorItem, toNodeError } from './errors';
import { FailedTaskError, isFailed, type EndedTask } from './failedTask';
import { describeNoResult, GET_FILES, toTaskItems } from './fileItems';
import { noteRunHere } from './here';
import { showMissing, showOutcome } from './hints';
import { hasFailed, type Outcome, type OutputItem } from './item';
import { describeTask, listTaskIds, type Entry } from './ledger';
import { hasError, isErrorIfFailed } from './onError';
import type { Run } from './open';
import { fitItems } from './toModel';

/**
 * Makes the output of a run: its entries become items, errors and hints. It notes what n8n is told,
 * so that a try may create another task in place of a failed one.
 * @throws with On Error "stop", the first error
 */
export function show(run: Run): INodeExecutionData[] {
	const { call, refusal } = run;
	const { entries } = run.ledger;
	if (refusal && call.stops)
		throw toNodeError(call, refusal.error, undefined, listTaskIds(entries));
	const outcomes = makeOutcomes(run);
	showHints(run, outcomes);
	noteTold(entries, outcomes);
	noteRunHere(call, run.ledger, Date.now());
	throwFirstError(call, outcomes, entries);
	return toOutput(call, outcomes, entries);
}

function noteTold(entries: Entry[], outcomes: Outcome[]): void {
	for (const [item, outcome] of outcomes.entries()) {
		if (!hasFailed(outcome) || !(outcome.error instanceof FailedTaskError)) continue;
		const { task } = outcome.error;
		const attempt = entries[item]?.attempts.find(({ taskId }) => taskId === task.taskId);
		if (!attempt) continue;
		attempt.end ??= task;
		attempt.told = true;
	}
}

/** Says in hints how the tasks that the run waited for have ended. */
export function showHints(run: Run, outcomes: Outcome[]): void {
	const { call, ledger, looks } = run;
	if (!looks) return;
	const tasks = new Map<string, EndedTask>();
	for (const [item, entry] of ledger.entries.entries()) {
		const task = !hasError(run, item) && describeEntry(run, entry);
		if (task) tasks.set(task.taskId, task);
	}
	showOutcome(call.context, [...tasks.values()], looks.failure);
	showMissing(call.context, outcomes);
}

/** Makes the outcome of each item. A task that was waited for, and has not ended, is `timedOut`. */
export const makeOutcomes = (run: Run): Outcome[] =>
	run.ledger.entries.map((entry, item) => makeOutcome(run, entry, item));

function makeOutcome(run: Run, entry: Entry, item: number): Outcome {
	const { errors, ledger, looks, notAgain, refusal } = run;
	if (errors.has(item)) return { error: errors.get(item) };
	if (entry.unknown) return { error: new UnknownOutcomeError(entry.unknown) };
	if (refusal) return refusal;
	const task = describeEntry(run, entry);
	if (!task) return undefined;
	if (!looks) return { items: [{ json: task }] };
	const { failure } = looks.find(task.taskId);
	const ended = { ...markTimedOut(task), ...(failure && { lookError: failure.message }) };
	if (!isErrorIfFailed(run) || !isFailed(ended)) return { items: makeItems(run, ended) };
	const taskIds = listTaskIds(ledger.entries);
	return { error: new FailedTaskError(ended, taskIds, notAgain.get(item)) };
}

function describeEntry({ looks }: Run, entry: Entry): EndedTask | undefined {
	const attempt = looks ? looks.attemptOf(entry) : entry.attempts.at(-1);
	return attempt && describeTask(entry, attempt, looks?.find(attempt.taskId).said);
}

const LIMIT_PASSED = `The wait limit passed before the file was complete. ${GET_FILES} To have more time, raise 'Limit Wait Time' or the workflow's timeout.`;

/** Makes a task's items, from what is known now. */
function makeItems({ ledger, files }: Run, task: EndedTask): OutputItem[] {
	const { downloads, perFile = false } = ledger.settings ?? {};
	const withFiles = files?.find(task.taskId);
	if (withFiles) return withFiles;
	const isMissing = downloads && task.status === 'completed';
	const downloadError =
		isMissing && (task.resultUrls?.length ? LIMIT_PASSED : describeNoResult(task));
	return toTaskItems(downloadError ? { ...task, downloadError } : task, perFile);
}

/** @throws with On Error "stop", the error of the first item that has one */
export function throwFirstError(
	call: Call,
	outcomes: Array<object | undefined>,
	entries: Entry[] = [],
): void {
	const index = call.stops ? outcomes.findIndex(hasFailed) : -1;
	const first = outcomes[index];
	if (hasFailed(first)) throw toNodeError(call, first.error, index, listTaskIds(entries));
}

/** Makes the node's output: each item's, paired with it. */
export function toOutput(
	call: Call,
	outcomes: Outcome[],
	entries: Entry[] = [],
): INodeExecutionData[] {
	return outcomes.flatMap((outcome, item) => {
		if (!outcome) return [];
		const { unknown, attempts = [] } = { ...entries[item] };
		const taskId = unknown ? undefined : attempts.at(-1)?.taskId;
		if (hasFailed(outcome)) return [toErrorItem(call, outcome.error, item, taskId)];
		const items = fitItems(call, outcome.items) as INodeExecutionData[];
		return call.context.helpers.constructExecutionMetaData(items, { itemData: { item } });
	});
}
