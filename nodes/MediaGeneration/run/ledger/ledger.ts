import { type IDataObject, UserError } from 'n8n-workflow';
import type { UnknownOutcome } from '../../api/failure';
import { SILENT } from '../../api/service';
import { findPrompt, newTask, REQUEST, type Task } from '../../api/task';
import { toWords } from '../../lib/fileName';
import { digest, dropUndefined } from '../../lib/json';
import type { CreateRequest } from '../input/item';

/**
 * What n8n stores of a run of the node: for each item one entry. n8n may begin anew after any line of
 * `generate`, for a try, a retry or a wake. What has become of an item is read from its entry alone.
 */
export interface Ledger {
	version: typeof VERSION;
	/** Its execution, and its number among the runs of the node there. */
	executionId: string;
	run: number;
	/** One for each item. */
	entries: Entry[];
	/** Of the executions that this one retries. */
	earlier?: Entry[];
	/** Present if the run waits for its tasks. */
	settings?: RunSettings;
	/**
	 * When all tasks were created, or before that, when the service took no more at once, in
	 * milliseconds since 1970. The wait limit counts from then.
	 */
	begun?: number;
	/** The number of the last sleep of the node in this execution. */
	sleeps: number;
	/** Present while the execution sleeps. */
	sleep?: Sleep;
	/** By account. All runs of the node in the execution share them. */
	doubts?: Record<string, Doubts>;
	shared: Shared;
}

/** What is known of one item. */
export interface Entry {
	request?: NotedRequest;
	/** The account that it is sent with, as a digest. */
	account?: string;
	/** The tasks that were created for it, one after the other. `findTask` finds the one that counts. */
	attempts: Attempt[];
	/** A task may exist beside these: nothing more is sent in this execution. */
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
	/** It is of an earlier execution, and the service calls that one back. */
	elsewhere?: true;
	/** How it ended; absent: it has not, as far as is known. Files are never in it. */
	end?: Task;
	/** n8n got this failure as the error of the item in this execution. */
	told?: true;
	/** Its creation was of unknown outcome since this time: `since` of the entry's `unknown`. */
	settles?: number;
}

export type HowToWait = 'automatic' | 'callback' | 'polling';

/** The settings of a wait. */
export interface WaitSettings {
	/** The longest wait, in milliseconds. */
	limit: number;
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

/** What a run keeps for its continuation while the execution sleeps. Only our webhook has n8n run it. */
export interface Sleep {
	/** Counts the sleeps of the node in this execution. */
	number: number;
	/** When n8n ends it by itself, in milliseconds since 1970. */
	end: number;
	/** Why items have no task, or no further one; by item. */
	errors: Record<number, { message: string; description?: string }>;
}

/** Where the task of an item stands. */
export type State = 'new' | 'unknown' | 'open' | 'completed' | 'failed';

export function stateOf(entry: Entry): State {
	const task = findTask(entry);
	const state = task ? ((task.end?.status ?? 'open') as State) : 'new';
	// What may exist hides no task that does.
	return entry.unknown && (state === 'new' || state === 'failed') ? 'unknown' : state;
}

/** The worth of a task: failed for good, failed but may still end, open, completed. */
function rate(attempt: Attempt): number {
	const { end } = attempt;
	if (!end) return 2;
	if (end.status === 'completed') return 3;
	return hasFailedForGood(attempt) ? 0 : 1;
}

/** Finds the task of an entry that counts: the last one, save where another process has a better one. */
export const findTask = ({ attempts }: Pick<Entry, 'attempts'>): Attempt | undefined =>
	attempts.reduce<Attempt | undefined>(
		(best, one) => (best && rate(best) > rate(one) ? best : one),
		undefined,
	);

/** Lists the tasks of an entry that are waited for: all that are open, unless one has completed. */
export function listAwaited(entry: Entry): Attempt[] {
	const state = stateOf(entry);
	if (state === 'new' || state === 'unknown') return [];
	if (state === 'open') return entry.attempts.filter(({ end }) => !end);
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
	if (stateOf(entry) === 'new') return true;
	const task = findTask(entry);
	if (stateOf(entry) !== 'failed' || !task) return false;
	return task.told === true && hasFailedForGood(task) && attempts.length < tries;
}

/**
 * Takes the tasks over that an earlier execution created for the same request. Only a failure is
 * final there: links expire, and one that timed out may have ended since.
 */
export const adopt = (attempts: Attempt[]): Attempt[] =>
	attempts.map((attempt) => {
		const { taskId, end } = attempt;
		return { taskId, elsewhere: true, ...(hasFailedForGood(attempt) && { end }) };
	});

/**
 * Takes what is output from what n8n stores, or puts it back: n8n redacts output, but not this. The
 * tries of n8n still find it, as they are in one process. A run that sleeps again needs it stored.
 */
export function storeOutput({ request, attempts }: Entry, isStored: boolean): void {
	const set = (owner: object, name: string, value: unknown) =>
		Object.defineProperty(owner, name, { value, enumerable: isStored });
	for (const attempt of attempts)
		if (attempt.end?.status === 'completed') set(attempt, 'end', attempt.end);
	if (request) set(request, 'words', request.words);
}

/** Copies what decides whether an item gets another task. Results and what was asked for are left out. */
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
 * Adds what a copy of an entry knows. The entry itself stays: a call of the run may work with it. The
 * tasks of both are kept, and a doubt of either, unless its creation has made one of them.
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
		attempt.told ??= other.told;
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
	// A record may lack the model, and never has our warning.
	return { ...task, ...dropUndefined({ model: task.model ?? model, warning }) };
}

/** When the wait is over, in milliseconds since 1970. */
export const findLimit = ({ begun = Date.now(), settings }: Ledger): number =>
	begun + (settings?.limit ?? 0);

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
	run: 0,
	entries: [],
	sleeps: 0,
	doubts: {},
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
	status === 'failed' && failCode !== String(SILENT);

/** What all runs of a node share in one execution. */
export interface Shared {
	/** The number of tasks that it has sent. */
	count: number;
	/** The calls of an agent whose outcome is unknown, by a digest of what its model asked for. */
	unknownCalls: Record<string, UnknownOutcome>;
}

/** Counts an account's creations of unknown outcome in an execution. Too many stop its further ones. */
export interface Doubts {
	/** How many in a row, without those that may be refusals. */
	inARow: number;
	/** How many that may be refusals, since the last task. */
	perhapsRefused: number;
	/** What the last one said. */
	message?: string;
}
