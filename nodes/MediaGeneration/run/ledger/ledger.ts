import type { UnknownOutcome } from '../../api/failure';
import { SILENT_UPSTREAM } from '../../api/service';
import { newTask, type Task } from '../../api/task';
import type { Call } from '../../host/call';
import { digest, dropUndefined } from '../../lib/json';
import type { WaitTimes } from '../timetable';

/**
 * What n8n stores of a run of the node: an entry for each item. n8n may call `generate` again after any
 * of its lines, for a try, a retry or a wake. The entry alone says what has become of its item.
 *
 * What is stored is read-only here. `changes.ts` alone writes it.
 *
 * An entry's status is derived, never stored (`statusOf`). An arrow says what happens, and in brackets
 * which function notes it:
 *
 * ```mermaid
 * stateDiagram-v2
 *     [*] --> new
 *     new --> pending: task created (noteTask)
 *     new --> pending: retry adopts a task (adoptEarlier)
 *     new --> failed: retry adopts a failed task (adoptEarlier)
 *     new --> unknown: outcome of the creation unknown (noteUnknown)
 *     pending --> completed: look (noteLook)
 *     pending --> failed: look (noteLook)
 *     failed --> pending: failure reported (noteReported), then a try creates another task (noteTask)
 *     failed --> unknown: outcome of that creation unknown (noteUnknown)
 *     unknown --> pending: its answer came late (noteTask)
 * ```
 *
 * Where two calls of a run meet, the status that has come further counts (mergeLedgers). `timedOut` is no
 * status of an entry: the wait is over, and the task is still pending.
 *
 * Of a sleep, `Ledger.sleep` is stored. Its phases are known to each process for itself (`sleep/nap.ts`):
 *
 * ```mermaid
 * stateDiagram-v2
 *     awake --> waiting: nothing keeps it awake (fallAsleep, noteSleep)
 *     waiting --> waiting: callback or nudge, and a task is pending (wakeExecution)
 *     waiting --> delivering: all tasks have ended, or the wait limit has passed (beginDelivery)
 *     delivering --> waiting: n8n could not store it, and answers with an error
 *     delivering --> over: n8n has stored it, and answers 200
 *     waiting --> over: n8n's own timer, well after the wait limit
 *     over --> awake: a webhook woke it, and n8n calls execute() (openLedger, endSleep)
 * ```
 */
export interface Ledger {
	readonly version: typeof VERSION;
	/** Blank for the calls of an MCP server. */
	readonly executionId: string;
	/** The run's number among the runs of the node in the execution. */
	readonly runIndex: number;
	/** By item. */
	readonly entries: readonly Entry[];
	/** The entries of the executions that this one retries. */
	readonly earlier?: readonly Entry[];
	/** Present if the run waits for its tasks. */
	readonly settings?: WaitSettings;
	/**
	 * When the wait limit begins to count, in milliseconds since 1970: once all tasks were created, or
	 * earlier, once the service took no more tasks at once.
	 */
	readonly waitBeganAt?: number;
	/** The number of the node's last sleep in this execution. */
	readonly lastSleepNumber: number;
	/** Present while the execution sleeps. */
	readonly sleep?: Sleep;
	/**
	 * By account. All runs of the node in the execution share these counts. They aren't in `shared`: the calls
	 * of n8n's Agents share that for an hour, so an outage would stop all calls for the hour.
	 */
	readonly unknownCounts: Readonly<Record<string, UnknownCounts>>;
	readonly shared: Shared;
}

/** What is known of one item. */
export interface Entry {
	readonly request?: StoredRequest;
	/** A digest of the account with which the request was sent. */
	readonly account?: string;
	/** The tasks that were created for the item, one after the other. `findAttempt` finds the one that counts. */
	readonly attempts: readonly Attempt[];
	/** Why a further task may exist. Nothing more is sent for this item in this execution. */
	readonly unknown?: UnknownOutcome;
}

/** What is stored of a request. */
interface StoredRequest {
	readonly digest: string;
	readonly model: string;
	/** What may be a mistake in the request. */
	readonly warning?: string;
	/** The first words of the prompt, for the names of files. */
	readonly words?: string;
}

/** One task. */
export interface Attempt {
	readonly taskId: string;
	/** An earlier execution created the task, and the service calls that execution back. */
	readonly adopted?: true;
	/** What the task costs, as the service said before its end. */
	readonly creditsConsumed?: number;
	/** The ended task, without files; absent while the task is not known to have ended. */
	readonly end?: Task;
	/** This execution reported the failure as the error of the item, so a try may create another task. */
	readonly reported?: true;
}

/** What a run stores when it falls asleep, for the call that continues it. */
export interface Sleep extends Readonly<Pick<WaitTimes, 'limitAt' | 'lastWakeAt'>> {
	/** Counts the node's sleeps in this execution. */
	readonly number: number;
	/** Why items have no task, or no further one; by item. */
	readonly errors: Readonly<Record<number, { message: string; description?: string }>>;
}

/** What all runs of a node share in one execution. */
export interface Shared {
	/** How many tasks they have created, or may have created. */
	readonly taskCount: number;
	/**
	 * The figures that the service has named for each task's cost, the oldest first, by `identifyTask`. A
	 * figure that is repeated is stored once. The last figure is the task's cost. Maximum Credits per Run also
	 * needs the highest figure. Creations of unknown outcome aren't here.
	 */
	readonly costs: Readonly<Record<string, readonly number[]>>;
	/** Why it's unknown whether an agent's calls created a task, by a digest of what the agent asked for. */
	readonly unknownCalls: Readonly<Record<string, UnknownOutcome>>;
}

/** Counts an account's creations of unknown outcome. Too many stop its further ones in the execution. */
interface UnknownCounts {
	/** How many in a row, without those that may be rejections. */
	readonly unknownInARow: number;
	/** How many that may be rejections, since the last task. */
	readonly perhapsRejected: number;
	/** What the last one said. */
	readonly message?: string;
}

/** The settings of a wait. */
export interface WaitSettings {
	/** Of a run that creates tasks. */
	readonly howToWait?: HowToWait;
	/** The longest wait, in milliseconds. */
	readonly waitLimit: number;
	/** For each request for details. */
	readonly timeoutSeconds: number;
	/**
	 * Absent: files are not downloaded. `field` is the binary field of the first file. `maxBytes` is
	 * Infinity, which n8n stores as null, where the size has no limit.
	 */
	readonly downloads?: { field: string; maxBytes: number | null };
	/** Each file of a task becomes an item of its own. */
	readonly perFile?: boolean;
	/** A task that failed, or has not ended at the limit, is the error of its item, or is output. */
	readonly failedTasks: 'error' | 'output';
}

/** In the panel: Automatic, Sleep Until Notified, Keep Asking. */
export type HowToWait = 'automatic' | 'callback' | 'polling';

/** A call, with the ledger that it has opened. */
export interface OpenedCall {
	call: Call;
	ledger: Ledger;
}

/**
 * The version of what n8n stores. An execution may sleep while the package is updated, so every later
 * version reads `dev/fixtures/sleepingRecord.json`.
 */
export const VERSION = 1;

export type EntryStatus = 'new' | 'unknown' | 'pending' | 'completed' | 'failed';

/** Says where an item stands. An unknown outcome never hides a task that exists. */
export function statusOf(entry: Entry): EntryStatus {
	const task = findAttempt(entry);
	const status = task ? ((task.end?.status ?? 'pending') as EntryStatus) : 'new';
	return entry.unknown && (status === 'new' || status === 'failed') ? 'unknown' : status;
}

/** Finds the task of an entry that counts: the last one, unless an earlier one has come further. */
export const findAttempt = ({ attempts }: Entry): Attempt | undefined =>
	attempts.reduce<Attempt | undefined>(
		(best, one) => (best && rankProgress(best) > rankProgress(one) ? best : one),
		undefined,
	);

/** Rates how far a task has come: failed for good, failed but may still end, pending, completed. */
function rankProgress({ end }: Attempt): number {
	if (!end) return 2;
	if (end.status === 'completed') return 3;
	return isFinalFailure(end) ? 0 : 1;
}

/**
 * Says whether a task failed for good, so that a new task may take its place. A task that timed out may
 * still end. So may a task that failed because the service's upstream was silent. Both may cost something.
 */
export const isFinalFailure = ({ status, failCode }: Partial<Task>): boolean =>
	status === 'failed' && failCode !== String(SILENT_UPSTREAM);

export const isFailedOrTimedOut = ({ status }: Task): boolean =>
	status === 'failed' || status === 'timedOut';

/**
 * Says whether a call creates a task for an item: where the item has none, or in place of a failed task
 * that was reported before.
 * @param mostTries how often n8n calls the node at most. An item gets at most so many tasks.
 */
export function isToSend(entry: Entry, mostTries: number): boolean {
	const status = statusOf(entry);
	if (status === 'new') return true;
	const { reported, end } = findAttempt(entry) ?? {};
	if (status !== 'failed' || !reported || !end) return false;
	return isFinalFailure(end) && entry.attempts.length < mostTries;
}

/** Lists the tasks of an entry that are waited for: all that are pending, unless one has completed. */
export function listAwaited(entry: Entry): Attempt[] {
	const status = statusOf(entry);
	if (status === 'new' || status === 'unknown') return [];
	if (status === 'pending') return entry.attempts.filter(({ end }) => !end);
	return [findAttempt(entry) as Attempt];
}

/** Lists the tasks that are waited for, each once. */
export const listAwaitedIds = (entries: readonly Entry[]): string[] => [
	...new Set(entries.flatMap(listAwaited).map(({ taskId }) => taskId)),
];

/** Lists the tasks that exist, also the failed ones that were created again. */
export const listTaskIds = (entries: readonly Entry[]): string[] =>
	entries.flatMap(({ attempts }) => attempts.map(({ taskId }) => taskId));

/** Makes the key of a task. Services that number their tasks give the same ID in each account. */
export const identifyTask = ({ account = '' }: Entry, taskId: string): string =>
	`${account} ${taskId}`;

/** Takes the key of a task apart. The account is a digest, which has no blank. */
export function readTaskKey(key: string): { account: string; taskId: string } {
	const accountLength = key.indexOf(' ');
	return { account: key.slice(0, accountLength), taskId: key.slice(accountLength + 1) };
}

/**
 * Describes a task by what is known of it.
 * @param answer what the service last said of the task, if it has not ended
 */
export function describeTask({ request }: Entry, attempt: Attempt, answer?: Task): Task {
	const { model, warning } = request ?? {};
	const task = attempt.end ?? answer ?? newTask(attempt.taskId);
	// The service's record may lack the model, and never has our warning.
	return { ...task, ...dropUndefined({ model: task.model ?? model, warning }) };
}

/** When the wait limit passes, in milliseconds since 1970. */
export const findLimitAt = ({ waitBeganAt = Date.now(), settings }: Ledger): number =>
	waitBeganAt + (settings?.waitLimit ?? 0);

/** Finds why it's unknown whether a task was created for what an agent asks for again. */
export const findUnknownCall = (
	{ call, ledger }: OpenedCall,
	item: number,
): UnknownOutcome | undefined =>
	call.isTool ? ledger.shared.unknownCalls[digestCall(call, item)] : undefined;

/** Digests what an agent asked for, without n8n's number of the call. */
export const digestCall = ({ context }: Call, item: number): string =>
	digest(Object.entries({ ...context.getInputData()[item]?.json, toolCallId: undefined }).sort());
