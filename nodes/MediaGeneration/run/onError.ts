import { stateOf, type Entry } from './ledger';
import type { Run } from './run';

/** What On Error, with Failed Tasks, means for a run. A failed task is an error only once it is output. */

/** Says whether an item has no task, or no further one, for a reason. */
export const hasError = ({ errors, ledger }: Run, item: number): boolean =>
	errors.has(item) || stateOf(ledger.entries[item] as Entry) === 'unknown';

/** Lists the items that may have a task to wait for. */
export const listWithoutError = (run: Run): Array<{ item: number; entry: Entry }> =>
	run.ledger.entries
		.map((entry, item) => ({ item, entry }))
		.filter(({ item }) => !hasError(run, item));

/** Says whether the run ends before it waits: it was stopped, or an error ends it. */
export function endsRun(run: Run): boolean {
	const { call, ledger, refusal } = run;
	if (refusal || call.signal?.aborted) return true;
	return call.stops && ledger.entries.some((_, item) => hasError(run, item));
}

/** Says whether a failed task is the error of its item. */
export const isErrorIfFailed = ({ ledger }: Run): boolean =>
	ledger.settings?.failedTasks === 'error';
