import type { TaskService } from '../api/client';
import type { Call } from '../host/call';
import type { Files } from './files/downloads';
import type { Locks } from './ledger/here';
import { type Entry, type Ledger, statusOf } from './ledger/ledger';
import type { Looks } from './looks';
import type { WaitTimes } from './timetable';

/** How a run waits. */
export interface WaitDecision {
	/** The URL that wakes the execution, which sleeps; absent if it stays awake. */
	resumeUrl?: string;
	/** What may keep callbacks away from an execution that sleeps, as the end of a sentence. */
	obstacle?: string;
	/** Why it stays awake, as the end of a sentence; absent if the user knows. */
	reason?: string;
}

/** A run of the node in one call by n8n: what is stored of it, and what this call alone knows. */
export interface Run {
	call: Call;
	ledger: Ledger;
	/** A webhook has woken the execution. Such a call creates nothing. */
	isWoken: boolean;
	locks: Locks;
	/** The service, by the credential of an item, which is read when it is needed. */
	getService: (item: number) => Promise<TaskService>;
	/** Why items have no task, or no further one, in this call; by item. */
	errors: Map<number, unknown>;
	/** Why the run as a whole can't go on. */
	fatal?: { error: unknown };
	/** How the run waits. */
	decision: WaitDecision;
	/** Present once the run waits awake, like the next two. */
	looks?: Looks;
	files?: Files;
	times?: WaitTimes;
}

/* When an error ends a run (On Error, Failed Tasks). A failed task counts as an error only in `show`. */

/** Says whether an item has no task, or no further one, for a reason. */
export const hasError = ({ errors, ledger }: Run, item: number): boolean =>
	errors.has(item) || statusOf(ledger.entries[item] as Entry) === 'unknown';

/** Lists the items that may have a task to wait for. */
export const listWithoutError = (run: Run): Array<{ item: number; entry: Entry }> =>
	run.ledger.entries
		.map((entry, item) => ({ item, entry }))
		.filter(({ item }) => !hasError(run, item));

/** Says whether the run ends before it waits: it was stopped, or an error ends it. */
export function isOver(run: Run): boolean {
	const { call, ledger, fatal } = run;
	if (fatal || call.signal?.aborted) return true;
	return call.stopsOnError && ledger.entries.some((_, item) => hasError(run, item));
}

/** Says whether a failed task is the error of its item. An agent, or n8n's assistant, reads its status. */
export const isErrorIfFailed = ({ call, ledger }: Run): boolean =>
	call.audience === 'workflow' && ledger.settings?.failedTasks === 'error';
