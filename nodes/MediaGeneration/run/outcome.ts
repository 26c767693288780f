import { buildDoubt } from '../api/failure';
import { markTimedOut, type Task } from '../api/task';
import { isFailed, toFailure } from './failedTask';
import { describeNoResult, GET_FILES, toTaskItems } from './fileItems';
import type { Outcome, OutputItem } from './item';
import { describeTask, findTask, stateOf, type Entry } from './ledger';
import { isErrorIfFailed } from './onError';
import type { Run } from './run';

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
export function describeEntry({ looks }: Run, entry: Entry): Task | undefined {
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
