import type { UnknownOutcome } from '../api/failure';
import { keepForAllNodes, showInExecution } from '../host/customData';
import { NODE_NAME } from '../lib/brand';
import { addCredits } from './hints';
import { adopt, listTaskIds, noteRequest, type Entry, type Ledger } from './ledger';
import type { Plan } from './plan';
import type { Run } from './run';
import { noteUnknownCall } from './shared';

/** Notes that a task exists. From now on its ID can be found, whatever happens. */
export function noteTask(run: Run, { item: { index }, request }: Plan, taskId: string): void {
	const { call, ledger } = run;
	const entry = openEntry(ledger, index);
	const { unknown } = entry;
	entry.request = noteRequest(request);
	entry.attempts.push({ taskId });
	// It took so long that its outcome counted as unknown.
	delete entry.unknown;
	if (unknown) noteUnknownCall(call, ledger.shared, index, { ...unknown, taskId });
	call.context.logger.info(`${describeItem(run, index)} created task ${taskId}`);
	// Showing takes the longer, the more tasks there are, and those of further items have no room.
	if (index < MOST_SHOWN) showTasks(run);
}

/** Notes that it's unknown whether a task was created. */
export function noteUnknown(
	run: Run,
	{ item: { index }, request }: Plan,
	unknown: UnknownOutcome,
): void {
	const { call, ledger } = run;
	const entry = openEntry(ledger, index);
	entry.request = noteRequest(request);
	entry.unknown = unknown;
	noteUnknownCall(call, ledger.shared, index, unknown);
	const task = unknown.taskId ? `task ${unknown.taskId}` : 'a task';
	call.context.logger.warn(
		`${describeItem(run, index)} may have created ${task}: ${unknown.message}`,
	);
}

/** A retry sends after an unknown outcome. The failed tasks before that count as this item's too. */
function openEntry({ entries, earlier }: Ledger, index: number): Entry {
	const entry = entries[index] as Entry;
	const before = earlier?.[index];
	if (before?.unknown && !entry.attempts.length) entry.attempts.push(...adopt(before.attempts));
	return entry;
}

const SHOWN = NODE_NAME.replace(/\W+/g, '_');

/** The credits of each task of an execution, by its ID; null: not known. */
type Costs = Array<[taskId: string, credits: number | null]>;

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

function showCosts({ call: { context, kept }, ledger: { entries } }: Run): void {
	if (!kept) return;
	const shared = keepForAllNodes(context);
	const costs = new Map((shared[SHOWN] ?? []) as Costs);
	for (const { taskId, end } of entries.flatMap(({ attempts }) => attempts))
		costs.set(taskId, end?.creditsConsumed ?? costs.get(taskId) ?? null);
	shared[SHOWN] = [...costs];
	// Those of this run come first.
	const taskIds = [...new Set([...listTaskIds(entries), ...costs.keys()])].slice(0, MOST_SHOWN);
	if (taskIds.length) showInExecution(context, `${SHOWN}_tasks`, taskIds.join(', '));
	const credits = [...costs.values()].filter((cost) => cost !== null);
	if (credits.length) showInExecution(context, `${SHOWN}_credits`, String(addCredits(credits)));
}

function describeItem({ call: { context }, ledger }: Run, item: number): string {
	const { id = 'none' } = context.getWorkflow();
	const execution = ledger.executionId || 'none';
	return `"${context.getNode().name}" (workflow ${id}, execution ${execution}, item ${item + 1})`;
}
