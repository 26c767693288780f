import type { UnknownOutcome } from '../api/failure';
import { showInExecution } from '../host/customData';
import { NODE_NAME } from '../lib/brand';
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

/** Shows the IDs of the tasks with the execution, whose output n8n drops when it is stopped. */
export function showTaskIds({ call, ledger }: Run): void {
	const taskIds = listTaskIds(ledger.entries).join(', ');
	if (taskIds) showInExecution(call.context, `${NODE_NAME.replace(/\W+/g, '_')}_tasks`, taskIds);
}

function describeItem({ call: { context }, ledger }: Run, item: number): string {
	const { id = 'none' } = context.getWorkflow();
	const execution = ledger.executionId || 'none';
	return `"${context.getNode().name}" (workflow ${id}, execution ${execution}, item ${item})`;
}
