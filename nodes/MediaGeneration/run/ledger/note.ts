import { factsOf, type UnknownOutcome } from '../../api/failure';
import type { Task } from '../../api/task';
import { type Call, getFlowContext, showInExecution } from '../../host/call';
import { NODE_NAME } from '../../lib/brand';
import { type CreateRequest, isErrorOutcome, type Item, type Outcome } from '../input/item';
import { noteUnknownCall } from './here';
import {
	adopt,
	type Entry,
	identifyTask,
	type Ledger,
	listTaskIds,
	noteRequest,
	statusOf,
} from './ledger';

/** A task to create. */
export interface Creation {
	item: Item;
	request: CreateRequest;
	/** How many tasks the item has before. */
	attempts: number;
	/** Present once its creation counts as of unknown outcome, which may still end. */
	unknown?: UnknownOutcome;
}

/** What a note needs of a run. */
interface Noted {
	call: Call;
	ledger: Ledger;
	/** Finds what the service last said of a task. */
	looks?: { find: (key: string) => { said?: Task } };
}

/** Notes that a task exists. From now on its ID can be found, whatever happens. */
export function noteTask(run: Noted, creation: Creation, taskId: string): void {
	const { call, ledger } = run;
	const { index } = creation.item;
	const entry = openEntry(ledger, creation);
	const { unknown } = creation;
	entry.attempts.push({ taskId, ...(unknown && { settles: unknown.since }) });
	// The doubt may be another process's, about a creation of its own.
	if (entry.unknown === unknown) delete entry.unknown;
	if (unknown) noteUnknownCall(call, ledger.shared, index, { ...unknown, taskId });
	call.context.logger.info(`${describeItem(run, index)} created task ${taskId}`);
	// Listing takes time for each task, and n8n has room for about 100 IDs: later items don't refresh it.
	if (index < MOST_SHOWN) showTasks(run);
}

/** Notes that it's unknown whether a task was created. */
export function noteUnknown(run: Noted, creation: Creation, unknown: UnknownOutcome): void {
	const { call, ledger } = run;
	const { index } = creation.item;
	const entry = openEntry(ledger, creation);
	entry.unknown = unknown;
	creation.unknown = unknown;
	noteUnknownCall(call, ledger.shared, index, unknown);
	const task = unknown.taskId ? `task ${unknown.taskId}` : 'a task';
	call.context.logger.warn(
		`${describeItem(run, index)} may have created ${task}: ${unknown.message}`,
	);
}

/** Opens the entry of an item that is sent. After an unknown outcome, a retry adds to the tasks before it. */
function openEntry({ entries, earlier }: Ledger, { item, request }: Creation): Entry {
	const entry = entries[item.index] as Entry;
	const before = earlier?.[item.index];
	if (before && statusOf(before) === 'unknown' && !entry.attempts.length)
		entry.attempts.push(...adopt(before.attempts));
	entry.request = noteRequest(request);
	entry.account = item.service.account;
	return entry;
}

/**
 * Adopts the task that the retried execution created for the same request. It stays the task of the
 * item, whatever its expressions return at the next try.
 * @returns false if there is none
 */
export function adoptEarlier(ledger: Ledger, creation: Creation): boolean {
	const { item, request, attempts } = creation;
	const before = ledger.earlier?.[item.index];
	if (attempts || !before?.attempts.length || statusOf(before) === 'unknown') return false;
	// Another call of the run may have adopted the task meanwhile.
	if (wasSent(ledger, creation)) return true;
	const noted = noteRequest(request);
	if (before.request?.digest !== noted.digest) return false;
	const entry = ledger.entries[item.index] as Entry;
	entry.request = noted;
	entry.account = item.service.account;
	entry.attempts = adopt(before.attempts);
	return true;
}

/** Says whether a task was sent since it was planned, maybe by another call. */
export function wasSent({ entries }: Ledger, { item, attempts }: Creation): boolean {
	const entry = entries[item.index] as Entry;
	return entry.unknown !== undefined || entry.attempts.length > attempts;
}

/** Notes that n8n is given a failure as the error of its item, so that a try may create another task. */
export function noteReported(ledger: Ledger, outcomes: Outcome[]): void {
	for (const [item, outcome] of outcomes.entries()) {
		const task = isErrorOutcome(outcome) ? factsOf(outcome.error).task : undefined;
		const attempts = ledger.entries[item]?.attempts ?? [];
		const attempt = attempts.find(({ taskId }) => taskId === task?.taskId);
		if (attempt && task?.status === 'failed') attempt.reported = true;
	}
}

const SHOWN = NODE_NAME.replace(/\W+/g, '_');

/** The credits of each task of an execution; null: not known. */
type Cost = [taskId: string, credits: number | null, account?: string];

/** How many IDs are listed: n8n keeps 255 characters. */
const MOST_SHOWN = 100;

/**
 * Shows with the execution the IDs of its tasks, and the credits that they consumed: those of all
 * nodes and runs, and of the executions that it retries, whose texts n8n shows with it too. A task
 * counts once, whoever waits for it. Nothing is thrown: tasks may have been paid for.
 */
export function showTasks(run: Noted): void {
	try {
		showCosts(run);
	} catch (error) {
		run.call.context.logger.warn(`The tasks can't be shown: ${(error as Error).message}`);
	}
}

function showCosts({ call: { context, nodeContext }, ledger: { entries }, looks }: Noted): void {
	if (!nodeContext) return;
	const costs = (getFlowContext(context)[SHOWN] ??= []) as Cost[];
	const known = readCosts(costs);
	for (const entry of entries)
		for (const { taskId, end } of entry.attempts) {
			const said = end ?? looks?.find(identifyTask(entry, taskId)).said;
			noteCost(costs, known, [taskId, said?.creditsConsumed ?? null, entry.account]);
		}
	// Those of this run come first.
	const taskIds = new Set(listTaskIds(entries));
	for (const [taskId] of costs.slice(0, MOST_SHOWN)) taskIds.add(taskId);
	const shown = [...taskIds].slice(0, MOST_SHOWN).join(', ');
	if (shown) showInExecution(context, `${SHOWN}_tasks`, shown);
	if (known.credits !== undefined)
		showInExecution(context, `${SHOWN}_credits`, String(addCredits([known.credits])));
}

/** Adds costs without the digits that binary fractions leave behind. */
export const addCredits = (costs: number[]): number =>
	Number(costs.reduce((total, cost) => total + cost, 0).toFixed(6));

/** An index of a list of costs, so that the rounds of a loop don't each read the whole list. */
interface KnownCosts {
	byTask: Map<string, Cost>;
	/** The sum; undefined: no task's credits are known. */
	credits?: number;
}

const knownCosts = new WeakMap<Cost[], KnownCosts>();

function readCosts(costs: Cost[]): KnownCosts {
	const known = knownCosts.get(costs);
	if (known) return known;
	const credits = costs.flatMap(([, cost]) => cost ?? []);
	const read: KnownCosts = {
		byTask: new Map(costs.map((cost) => [identifyCost(cost), cost])),
		credits: credits.length ? addCredits(credits) : undefined,
	};
	knownCosts.set(costs, read);
	return read;
}

const identifyCost = ([taskId, , account]: Cost): string => identifyTask({ account }, taskId);

/** Notes what a task costs, in place of what was known before. Null, for not known, replaces nothing. */
function noteCost(costs: Cost[], known: KnownCosts, cost: Cost): void {
	const key = identifyCost(cost);
	const before = known.byTask.get(key);
	const noted = before ?? cost;
	if (!before) costs.push(cost);
	known.byTask.set(key, noted);
	const [, credits] = cost;
	if (credits === null) return;
	known.credits = (known.credits ?? 0) + credits - (before?.[1] ?? 0);
	noted[1] = credits;
}

function describeItem({ call: { context }, ledger }: Noted, item: number): string {
	const { id = 'none' } = context.getWorkflow();
	const execution = ledger.executionId || 'none';
	return `"${context.getNode().name}" (workflow ${id}, execution ${execution}, item ${item + 1})`;
}
