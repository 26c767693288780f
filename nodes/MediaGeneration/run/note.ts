import type { UnknownOutcome } from '../api/failure';
import { keepForAllNodes, showInExecution } from '../host/customData';
import { NODE_NAME } from '../lib/brand';
import { addCredits } from './hints';
import {
	adopt,
	identifyTask,
	listTaskIds,
	noteRequest,
	stateOf,
	type Entry,
	type Ledger,
} from './ledger';
import type { Plan } from './plan';
import type { Run } from './run';
import { noteUnknownCall } from './shared';

/** Notes that a task exists. From now on its ID can be found, whatever happens. */
export function noteTask(run: Run, plan: Plan, taskId: string): void {
	const { call, ledger } = run;
	const { index } = plan.item;
	const entry = openEntry(ledger, plan);
	const { doubt } = plan;
	entry.attempts.push({ taskId, ...(doubt && { settles: doubt.since }) });
	// Another process may have a doubt of its own.
	if (entry.unknown === doubt) delete entry.unknown;
	if (doubt) noteUnknownCall(call, ledger.shared, index, { ...doubt, taskId });
	call.context.logger.info(`${describeItem(run, index)} created task ${taskId}`);
	// Showing takes the longer, the more tasks there are, and those of further items have no room.
	if (index < MOST_SHOWN) showTasks(run);
}

/** Notes that it's unknown whether a task was created. */
export function noteUnknown(run: Run, plan: Plan, unknown: UnknownOutcome): void {
	const { call, ledger } = run;
	const { index } = plan.item;
	const entry = openEntry(ledger, plan);
	entry.unknown = unknown;
	plan.doubt = unknown;
	noteUnknownCall(call, ledger.shared, index, unknown);
	const task = unknown.taskId ? `task ${unknown.taskId}` : 'a task';
	call.context.logger.warn(
		`${describeItem(run, index)} may have created ${task}: ${unknown.message}`,
	);
}

/** A retry sends after an unknown outcome. The failed tasks before that count as this item's too. */
function openEntry({ entries, earlier }: Ledger, { item, request }: Plan): Entry {
	const entry = entries[item.index] as Entry;
	const before = earlier?.[item.index];
	if (before && stateOf(before) === 'unknown' && !entry.attempts.length)
		entry.attempts.push(...adopt(before.attempts));
	entry.request = noteRequest(request);
	entry.account = item.service.account;
	return entry;
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
export function showTasks(run: Run): void {
	try {
		showCosts(run);
	} catch (error) {
		run.call.context.logger.warn(`The tasks can't be shown: ${(error as Error).message}`);
	}
}

function showCosts({ call: { context, kept }, ledger: { entries }, looks }: Run): void {
	if (!kept) return;
	const costs = (keepForAllNodes(context)[SHOWN] ??= []) as Cost[];
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

/** What a list of costs says, so that a loop doesn't read it anew in each of its rounds. */
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

/** Notes what a task costs, which replaces what was said before. Null: not known, or not any more. */
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

function describeItem({ call: { context }, ledger }: Run, item: number): string {
	const { id = 'none' } = context.getWorkflow();
	const execution = ledger.executionId || 'none';
	return `"${context.getNode().name}" (workflow ${id}, execution ${execution}, item ${item + 1})`;
}
