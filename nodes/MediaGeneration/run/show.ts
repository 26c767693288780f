import type { INodeExecutionData } from 'n8n-workflow';
import { factsOf } from '../api/failure';
import type { Task } from '../api/task';
import { sayAdopted, showEnds, showMissing } from './hints';
import { hasFailed, type Outcome } from './item';
import { storeOutput, type Ledger } from './ledger';
import { showTasks } from './note';
import { listWithoutError } from './onError';
import { describeEntry, makeOutcomes } from './outcome';
import { throwFirstError, throwRefusal, toOutput } from './output';
import type { Run } from './run';

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

function noteTold(ledger: Ledger, outcomes: Outcome[]): void {
	for (const [item, outcome] of outcomes.entries()) {
		const task = hasFailed(outcome) ? factsOf(outcome.error).task : undefined;
		const attempts = ledger.entries[item]?.attempts ?? [];
		const attempt = attempts.find(({ taskId }) => taskId === task?.taskId);
		if (attempt && task?.status === 'failed') attempt.told = true;
	}
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
