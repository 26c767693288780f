import { factsOf, isOfKind, type UnknownOutcome } from '../../api/failure';
import { findPrompt, type Task } from '../../api/task';
import { toWords } from '../../lib/fileName';
import { digest } from '../../lib/json';
import type { CreationRequest, Item, Outcome } from '../input/item';
import { MOST_SHOWN, publishTasks } from './costs';
import {
	type Attempt,
	digestCall,
	type Entry,
	findAttempt,
	identifyTask,
	type Ledger,
	isFinalFailure,
	type OpenedCall,
	type Sleep,
	statusOf,
	VERSION,
} from './ledger';

/* All that writes what n8n stores of a run. The diagrams in `ledger.ts` show which event calls what. */

/** What is read-only for everyone outside this file. */
type Writable<T> = {
	-readonly [K in keyof T]: T[K] extends ReadonlyArray<infer One> ? One[] : T[K];
};

const asWritable = <T>(stored: T) => stored as Writable<T>;

export const beginLedger = (parts: Partial<Ledger>): Ledger => ({
	version: VERSION,
	executionId: '',
	runIndex: 0,
	entries: [],
	lastSleepNumber: 0,
	unknownCounts: {},
	shared: { taskCount: 0, costs: {}, unknownCalls: {} },
	...parts,
});

/** Adds entries, all `new`, for the items that have none. */
export function addEntries({ entries }: Ledger, count: number): void {
	for (let item = 0; item < count; item++) asWritable(entries)[item] ??= { attempts: [] };
}

/** Stores how the run waits, unless a call before this one has. */
export function keepSettings(ledger: Ledger, read: () => Ledger['settings']): void {
	asWritable(ledger).settings ??= read();
}

/** An item, what is sent for it, and what came of the request. */
export interface Creation {
	item: Item;
	request: CreationRequest;
	/** The request made a task, or may have made one. */
	isSent?: true;
	/** Present once the outcome counts as unknown. The service may still answer. */
	unknown?: UnknownOutcome;
}

/**
 * Adopts the tasks that the retried execution created for the same request, from `new` to `pending` or
 * `failed`. They stay the item's, whatever its expressions return at the next try.
 * @returns false if the retried execution created none for this request
 */
export function adoptEarlier({ entries, earlier }: Ledger, { item, request }: Creation): boolean {
	const entry = entries[item.index] as Entry;
	const earlierEntry = earlier?.[item.index];
	if (entry.attempts.length || !earlierEntry?.attempts.length) return false;
	// Whoever retries an unknown outcome wants the item sent again.
	if (statusOf(earlierEntry) === 'unknown') return false;
	const sent = describeRequest(request);
	if (earlierEntry.request?.digest !== sent.digest) return false;
	const attempts = adopt(earlierEntry.attempts);
	Object.assign(entry, { request: sent, account: item.service.account, attempts });
	return true;
}

/**
 * Copies the tasks of an earlier execution. Only a failure keeps its end: links have expired since, and
 * a task that timed out may have ended.
 */
export const adopt = (attempts: readonly Attempt[]): Attempt[] =>
	attempts.map(({ taskId, end }) => ({
		taskId,
		adopted: true,
		...(end && isFinalFailure(end) && { end }),
	}));

const describeRequest = ({ userInput, model, warning, input }: CreationRequest) => ({
	digest: digest(userInput),
	model,
	warning,
	words: toWords(findPrompt(input) ?? ''),
});

/** Counts a task before its request is sent, because calls of an agent may run side by side. */
export const reserveTask = ({ shared }: Ledger): number => asWritable(shared).taskCount++;

/** Stops counting a task, because its request made none. */
export const giveBackTask = ({ shared }: Ledger): number => asWritable(shared).taskCount--;

/**
 * Notes that a task exists, from `new`, `failed` or `unknown` to `pending`. Its ID is logged at once, so
 * that it can be found whatever happens.
 */
export function noteTask(opened: OpenedCall, creation: Creation, taskId: string): void {
	const { call, ledger } = opened;
	const { index } = creation.item;
	const entry = noteSent(ledger, creation);
	entry.attempts.push({ taskId });
	asWritable(ledger.shared.costs)[identifyTask(entry, taskId)] = [];
	const { unknown } = creation;
	// If `entry.unknown` isn't this creation's, another process noted it, and may have created a task too.
	if (entry.unknown === unknown) delete entry.unknown;
	if (unknown) noteUnknownCall(opened, index, { ...unknown, taskId });
	call.context.logger.info(`${describeItem(opened, index)} created task ${taskId}`);
	// Publishing takes time for each task, and n8n has room for about 100 IDs. So a task of a later item
	// doesn't publish the list again.
	if (index < MOST_SHOWN) publishTasks(opened);
}

/** Notes that it's unknown whether a task was created, from `new` or `failed` to `unknown`. */
export function noteUnknown(opened: OpenedCall, creation: Creation, unknown: UnknownOutcome): void {
	const { index } = creation.item;
	noteSent(opened.ledger, creation).unknown = unknown;
	creation.unknown = unknown;
	noteUnknownCall(opened, index, unknown);
	const task = unknown.taskId ? `task ${unknown.taskId}` : 'a task';
	opened.call.context.logger.warn(
		`${describeItem(opened, index)} may have created ${task}: ${unknown.message}`,
	);
}

/** Notes what was sent. A retry after an unknown outcome keeps the tasks that failed before. */
function noteSent({ entries, earlier }: Ledger, creation: Creation): Writable<Entry> {
	const { item, request } = creation;
	const entry = asWritable(entries[item.index] as Entry);
	const earlierEntry = earlier?.[item.index];
	if (earlierEntry && statusOf(earlierEntry) === 'unknown' && !entry.attempts.length)
		entry.attempts = adopt(earlierEntry.attempts);
	entry.request = describeRequest(request);
	entry.account = item.service.account;
	creation.isSent = true;
	return entry;
}

function noteUnknownCall(
	{ call, ledger }: OpenedCall,
	item: number,
	unknown: UnknownOutcome,
): void {
	if (call.isTool) asWritable(ledger.shared.unknownCalls)[digestCall(call, item)] = unknown;
}

function describeItem({ call: { context }, ledger }: OpenedCall, item: number): string {
	const { id = 'none' } = context.getWorkflow();
	const execution = ledger.executionId || 'none';
	return `"${context.getNode().name}" (workflow ${id}, execution ${execution}, item ${item + 1})`;
}

/**
 * Updates the account's counts of unknown outcomes after a creation.
 * @param error why there is no task, or may be one; absent: there is one
 */
export function updateUnknownCounts(
	{ unknownCounts }: Ledger,
	account: string,
	error?: Error,
): void {
	const none = { unknownInARow: 0, perhapsRejected: 0 };
	const counts = asWritable((asWritable(unknownCounts)[account] ??= { ...none }));
	if (!error) {
		// A task: both counts begin anew.
		Object.assign(counts, none);
	} else if (isOfKind(error, 'unknown', 'perhapsRejected')) {
		if (error.kind === 'unknown') counts.unknownInARow++;
		else counts.perhapsRejected++;
		counts.message = error.message;
	} else {
		// A clear rejection: the service answers. What may have been rejections still counts.
		counts.unknownInARow = 0;
	}
}

/** Begins the wait, unless it has begun. @returns when it began */
export const beginWait = (ledger: Ledger, at = Date.now()): number =>
	(asWritable(ledger).waitBeganAt ??= at);

/** Lets the wait begin anew, if it began before this call: each try has the whole wait limit. */
export function resetWait({ call, ledger }: OpenedCall): void {
	if (Number(ledger.waitBeganAt) < call.calledAt) delete asWritable(ledger).waitBeganAt;
}

/** Notes what the service says of a task, from `pending` to `completed` or `failed`. An end is final. */
export function noteLook(attempt: Attempt, answer: Task): void {
	if (answer.status !== 'pending') asWritable(attempt).end ??= answer;
	else asWritable(attempt).creditsConsumed = answer.creditsConsumed ?? attempt.creditsConsumed;
}

/**
 * Notes what the service says that a task costs. 0 counts at the end alone: a completed task was free, and
 * nothing was paid for a failed one. A negative figure is no cost: it would make room for more tasks.
 */
export function noteCost({ shared }: Ledger, key: string, task: Partial<Task>): void {
	const { status, creditsConsumed: credits } = task;
	const figures = shared.costs[key];
	if (!figures || credits === undefined || credits < 0) return;
	const hasEnded = status === 'completed' || isFinalFailure(task);
	if (credits === 0 && !hasEnded) return;
	// The service names the same figure at each look, and a figure is noted again at each output.
	if (figures.at(-1) !== credits) asWritable(figures).push(credits);
}

/** Notes what the tasks of a run cost, as far as it knows. */
export function noteCosts(ledger: Ledger): void {
	for (const entry of ledger.entries)
		for (const attempt of entry.attempts)
			noteCost(ledger, identifyTask(entry, attempt.taskId), attempt.end ?? attempt);
}

/**
 * Notes which failures n8n is given as errors of their items. Such an entry stays `failed`, but the next
 * try may create another task for it.
 */
export function noteReported({ entries }: Ledger, outcomes: Outcome[]): void {
	for (const [item, outcome] of outcomes.entries()) {
		const task = outcome && 'error' in outcome ? factsOf(outcome.error).task : undefined;
		const attempt = entries[item]?.attempts.find(({ taskId }) => taskId === task?.taskId);
		if (attempt && task?.status === 'failed') asWritable(attempt).reported = true;
	}
}

/** Stores that the execution sleeps, with all that the call needs which continues it. */
export function noteSleep(ledger: Ledger, sleep: Sleep): void {
	asWritable(ledger).lastSleepNumber = sleep.number;
	asWritable(ledger).sleep = sleep;
	unhideResults(ledger);
}

/** Ends the sleep, which n8n need not store any longer. @returns the sleep; undefined without one */
export function endSleep(ledger: Ledger): Sleep | undefined {
	const { sleep } = ledger;
	delete asWritable(ledger).sleep;
	return sleep;
}

/**
 * Hides results, and words of prompts, from what n8n stores: n8n redacts a node's output, but not its
 * context. In memory they stay readable, for tries in the same process.
 */
export const hideResults = (ledger: Ledger): void => setEnumerable(ledger, false);

/** Has n8n store the results. The call that continues after a sleep needs them. */
export const unhideResults = (ledger: Ledger): void => setEnumerable(ledger, true);

/** n8n's serializer skips what is not enumerable. */
function setEnumerable({ entries }: Ledger, enumerable: boolean): void {
	const set = (owner: object, name: string, value: unknown) =>
		// `words` may be absent. `defineProperty` would then make a property that can't be changed, so all
		// flags are given.
		Object.defineProperty(owner, name, {
			value,
			enumerable,
			configurable: true,
			writable: true,
		});
	for (const { request, attempts } of entries) {
		for (const attempt of attempts)
			if (attempt.end?.status === 'completed') set(attempt, 'end', attempt.end);
		if (request) set(request, 'words', request.words);
	}
}

/**
 * Merges this process's ledger of a run, which may be newer, into the stored one, which is used from then
 * on. Both share the counts afterwards, so that two calls create no task twice, and no more than Options
 * allow.
 * @param isHereInUse a call still holds `here.entries`, so the stored ledger takes that list over; otherwise
 *   `here` is a copy without results, and the stored list stays
 */
export function mergeLedgers(stored: Ledger, here: Ledger, isHereInUse: boolean): void {
	const [entries, copies] = isHereInUse
		? [here.entries, stored.entries]
		: [stored.entries, here.entries];
	// Where an entry is missing, its copy takes its place, and merging changes nothing.
	for (const [item, copy] of copies.entries())
		mergeEntry((asWritable(entries)[item] ??= copy), copy);
	asWritable(here.shared).taskCount = Math.max(stored.shared.taskCount, here.shared.taskCount);
	asWritable(here.shared).costs = { ...stored.shared.costs, ...here.shared.costs };
	// `unknownCalls` aren't merged: they are of tools, whose runs aren't identified (`identifyRun`).
	// The stored counts may be older, so the counts of this process win.
	const unknownCounts = Object.assign(here.unknownCounts, {
		...stored.unknownCounts,
		...here.unknownCounts,
	});
	Object.assign(stored, { entries, shared: here.shared, unknownCounts });
}

/** Merges `copy` into `entry`, in place because a call may hold `entry`. The tasks of both stay. */
export function mergeEntry(entry: Entry, copy: Entry): void {
	const merged = asWritable(entry);
	for (const other of copy.attempts) {
		const attempt = entry.attempts.find(({ taskId }) => taskId === other.taskId);
		if (attempt) {
			asWritable(attempt).end ??= other.end;
			asWritable(attempt).reported ??= other.reported;
		} else merged.attempts.push(other);
	}
	// The request is that of the task that counts.
	if (!entry.request || copy.attempts.includes(findAttempt(entry) as Attempt))
		Object.assign(merged, { request: copy.request, account: copy.account });
	merged.unknown ??= copy.unknown;
}
