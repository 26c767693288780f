import { type IDataObject, UserError } from 'n8n-workflow';
import type { UnknownOutcome } from '../../api/failure';
import { SILENT_UPSTREAM } from '../../api/service';
import { findPrompt, newTask, REQUEST, type Task } from '../../api/task';
import { toWords } from '../../lib/fileName';
import { digest, dropUndefined } from '../../lib/json';
import type { CreateRequest } from '../input/item';
import type { WaitTimes } from '../timetable';

/**
 * What n8n stores of a run of the node: one entry for each item. n8n may call `generate` again after any
 * of its lines, for a try, a retry or a wake. The entry alone says what has become of its item.
 */
export interface Ledger {
	version: typeof VERSION;
	/** Its execution, and its number among the runs of the node there. */
	executionId: string;
	runIndex: number;
	/** One for each item. */
	entries: Entry[];
	/** The entries of the executions that this one retries. */
	earlier?: Entry[];
	/** Present if the run waits for its tasks. */
	settings?: RunSettings;
	/**
	 * When the wait limit begins to count, in milliseconds since 1970: once all tasks were created, or
	 * earlier, once the service took no more tasks at once.
	 */
	waitBegan?: number;
	/** The number of the last sleep of the node in this execution. */
	sleeps: number;
	/** Present while the execution sleeps. */
	sleep?: Sleep;
	/** By account. All runs of the node in the execution share them. */
	unknownCounts?: Record<string, UnknownCounts>;
	shared: Shared;
}

/** What is known of one item. */
export interface Entry {
	request?: NotedRequest;
	/** The account that it is sent with, as a digest. */
	account?: string;
	/** The tasks that were created for it, one after the other. `findTask` finds the one that counts. */
	attempts: Attempt[];
	/** A further task may exist: nothing more is sent for this item in this execution. */
	unknown?: UnknownOutcome;
}

/** What is kept of a request. */
interface NotedRequest {
	digest: string;
	model: string;
	/** What may be a mistake in it. */
	warning?: string;
	/** The first words of its prompt, for the names of its files. */
	words?: string;
}

/** One task. */
export interface Attempt {
	taskId: string;
	/** An earlier execution created the task, and the service calls that execution back. */
	adopted?: true;
	/** The ended task, without files; absent while the task is not known to have ended. */
	end?: Task;
	/** This execution output the failure as the error of the item, so a try may create another task. */
	reported?: true;
	/** The creation counted as of unknown outcome before: `since` of that `unknown`. */
	settles?: number;
}

export type HowToWait = 'automatic' | 'callback' | 'polling';

/** The settings of a wait. */
export interface WaitSettings {
	/** The longest wait, in milliseconds. */
	waitLimit: number;
	/** For each request for details. */
	timeoutSeconds: number;
	/**
	 * Absent: files are not downloaded. `field` is the binary field of the first file. Without a
	 * limit of its size, `maxBytes` is Infinity, which n8n stores as null.
	 */
	downloads?: { field: string; maxBytes: number | null };
	/** Each file of a task becomes an item of its own. */
	perFile?: boolean;
	/** A task that failed, or has not ended at the limit, is the error of its item, or is output. */
	failedTasks: 'error' | 'output';
}

export type RunSettings = WaitSettings & { howToWait: HowToWait };

/** What a run stores when it falls asleep, for the call that continues it. */
export interface Sleep extends Pick<WaitTimes, 'limitAt' | 'lastWakeAt'> {
	/** Counts the sleeps of the node in this execution. */
	number: number;
	/** Why items have no task, or no further one; by item. */
	errors: Record<number, { message: string; description?: string }>;
}

/** Where the task of an item stands. */
export type EntryStatus = 'new' | 'unknown' | 'pending' | 'completed' | 'failed';

export function statusOf(entry: Entry): EntryStatus {
	const task = findTask(entry);
	const status = task ? ((task.end?.status ?? 'pending') as EntryStatus) : 'new';
	// A doubt never hides a task that exists.
	return entry.unknown && (status === 'new' || status === 'failed') ? 'unknown' : status;
}

/** Rates a task: failed for good, failed but may still end, open, completed. */
function rate(attempt: Attempt): number {
	const { end } = attempt;
	if (!end) return 2;
	if (end.status === 'completed') return 3;
	return hasFailedForGood(attempt) ? 0 : 1;
}

/** Finds the task of an entry that counts: the last one, unless an earlier one has come further. */
export const findTask = ({ attempts }: Pick<Entry, 'attempts'>): Attempt | undefined =>
	attempts.reduce<Attempt | undefined>(
		(best, one) => (best && rate(best) > rate(one) ? best : one),
		undefined,
	);

/** Lists the tasks of an entry that are waited for: all that are open, unless one has completed. */
export function listAwaited(entry: Entry): Attempt[] {
	const status = statusOf(entry);
	if (status === 'new' || status === 'unknown') return [];
	if (status === 'pending') return entry.attempts.filter(({ end }) => !end);
	return [findTask(entry) as Attempt];
}

/** Says whether a task failed, and can't end otherwise any more. */
const hasFailedForGood = ({ end }: Attempt): boolean => end !== undefined && mayCreateAgain(end);

/**
 * Says whether a try creates a task for an item: where there is none, or in place of a failed one
 * that n8n was given as an error before.
 * @param tries the most tasks that an item may get
 */
export function isToSend(entry: Entry, tries: number): boolean {
	const { attempts } = entry;
	if (statusOf(entry) === 'new') return true;
	const task = findTask(entry);
	if (statusOf(entry) !== 'failed' || !task) return false;
	return task.reported === true && hasFailedForGood(task) && attempts.length < tries;
}

/**
 * Copies the tasks of an earlier execution. Only a failure keeps its end: links have expired since, and
 * a task that timed out may have ended.
 */
export const adopt = (attempts: Attempt[]): Attempt[] =>
	attempts.map((attempt) => {
		const { taskId, end } = attempt;
		return { taskId, adopted: true, ...(hasFailedForGood(attempt) && { end }) };
	});

/**
 * Hides results and prompts from n8n's serializer by making them non-enumerable, or shows them again:
 * n8n redacts a node's output, but not its context. In memory they stay readable, for tries in the same
 * process. A run that falls asleep again needs them stored.
 */
export function storeOutput({ request, attempts }: Entry, isStored: boolean): void {
	const set = (owner: object, name: string, value: unknown) =>
		// What n8n has stored may lack the property: a new one could not be changed again.
		Object.defineProperty(owner, name, {
			value,
			enumerable: isStored,
			configurable: true,
			writable: true,
		});
	for (const attempt of attempts)
		if (attempt.end?.status === 'completed') set(attempt, 'end', attempt.end);
	if (request) set(request, 'words', request.words);
}

/** Copies what decides whether an item gets another task, without results and prompts. */
export const copyForPayment = ({ request, attempts, ...others }: Entry): Entry => ({
	...others,
	request: request && { ...request, words: undefined },
	attempts: attempts.map(({ end, ...attempt }) =>
		end?.status === 'failed'
			? { ...attempt, end: { ...end, result: undefined, [REQUEST]: undefined } }
			: attempt,
	),
});

/**
 * Merges `copy` into `entry`, in place because a call may hold it. The tasks of both are kept, and the
 * doubt of either, unless one of the tasks has settled that doubt.
 */
export function mergeEntry(entry: Entry, copy: Entry): void {
	const missing: Attempt[] = [];
	for (const other of copy.attempts) {
		const attempt = entry.attempts.find(({ taskId }) => taskId === other.taskId);
		if (!attempt) {
			missing.push(other);
			continue;
		}
		attempt.end ??= other.end;
		attempt.reported ??= other.reported;
	}
	entry.attempts.push(...missing);
	const isOfCopy = missing.some((attempt) => attempt === findTask(entry));
	if (isOfCopy || !entry.request)
		Object.assign(entry, { request: copy.request, account: copy.account });
	const isSettled = ({ since }: UnknownOutcome) =>
		since !== undefined && entry.attempts.some(({ settles }) => settles === since);
	entry.unknown = [entry.unknown, copy.unknown].find((unknown) => unknown && !isSettled(unknown));
}

/** Tells tasks apart: services that number theirs give the same ID in each account. */
export const identifyTask = ({ account = '' }: Pick<Entry, 'account'>, taskId: string): string =>
	`${account} ${taskId}`;

/** Lists the tasks that exist, also the failed ones that were created again. */
export const listTaskIds = (entries: Entry[]): string[] =>
	entries.flatMap(({ attempts }) => attempts.map(({ taskId }) => taskId));

/** Lists the tasks that are waited for, each once. */
export const listAwaitedIds = (entries: Entry[]): string[] => [
	...new Set(entries.flatMap(listAwaited).map(({ taskId }) => taskId)),
];

/**
 * Makes a task of what is known of it.
 * @param said what the service last said of it, if it has not ended
 */
export function describeTask({ request }: Entry, attempt: Attempt, said?: Task): Task {
	const { model, warning } = request ?? {};
	const task = attempt.end ?? said ?? newTask(attempt.taskId);
	// The service's record may lack the model, and never has our warning.
	return { ...task, ...dropUndefined({ model: task.model ?? model, warning }) };
}

/** When the wait limit passes, in milliseconds since 1970. */
export const findLimitAt = ({ waitBegan = Date.now(), settings }: Ledger): number =>
	waitBegan + (settings?.waitLimit ?? 0);

/** Makes what is kept of a request. */
export const noteRequest = (request: CreateRequest): NotedRequest => ({
	digest: digest(request.given),
	model: request.model,
	warning: request.warning,
	words: toWords(findPrompt(request.input) ?? ''),
});

/**
 * The version of what n8n stores. An execution may sleep while the package is updated, so every later
 * version reads `dev/fixtures/sleepingRecord.json`.
 */
const VERSION = 1;

/** The key in the node's context. */
const KEY = 'run';

export const beginLedger = (known: Partial<Ledger>): Ledger => ({
	version: VERSION,
	executionId: '',
	runIndex: 0,
	entries: [],
	sleeps: 0,
	unknownCounts: {},
	shared: { count: 0, unknownCalls: {} },
	...known,
});

/**
 * Reads the ledger in a node's context; undefined where there is none.
 * @throws {UserError} when another version of the package has stored it
 */
export function readLedger(kept: IDataObject | undefined): Ledger | undefined {
	const ledger = kept?.[KEY] as Ledger | undefined;
	if (!ledger || ledger.version === VERSION) return ledger;
	throw new UserError(
		`Nothing was created: another version of this package keeps what the execution has sent in a form (version ${String(ledger.version)}) that this one can't read`,
		{
			description:
				'Install the version of the package that the execution began with, or a newer one, then retry the execution. Before you start it anew, look at the recent tasks of your account with the service.',
		},
	);
}

export function storeLedger(kept: IDataObject, ledger: Ledger): void {
	kept[KEY] = ledger as unknown as IDataObject;
}

export const isFailed = ({ status }: Task): boolean => status === 'failed' || status === 'timedOut';

/**
 * Says whether a new task may take the place of a failed one. One that timed out may still end, and
 * so may one that failed because the service's upstream was silent: both may cost something.
 */
export const mayCreateAgain = ({ status, failCode }: Task): boolean =>
	status === 'failed' && failCode !== String(SILENT_UPSTREAM);

/** What all runs of a node share in one execution. */
export interface Shared {
	/** The number of tasks that it has sent. */
	count: number;
	/** The calls of an agent whose outcome is unknown, by a digest of what its model asked for. */
	unknownCalls: Record<string, UnknownOutcome>;
}

/** Counts an account's creations of unknown outcome in an execution. Too many stop its further ones. */
export interface UnknownCounts {
	/** How many in a row, without those that may be rejections. */
	inARow: number;
	/** How many that may be rejections, since the last task. */
	perhapsRejected: number;
	/** What the last one said. */
	message?: string;
}
