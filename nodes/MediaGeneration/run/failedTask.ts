import { UserError } from 'n8n-workflow';
import { SILENT } from '../api/service';
import type { Task } from '../api/task';
import { cutText } from '../lib/text';

/** A task at the end of a wait, and why the last look at one that has not ended failed, if it did. */
export type EndedTask = Task & { lookError?: string };

export const isFailed = ({ status }: Task): boolean => status === 'failed' || status === 'timedOut';

/**
 * Says whether a new task may take the place of a failed one. One that timed out may still end, and
 * so may one that failed because the service's upstream was silent: both may cost something.
 */
export const mayCreateAgain = ({ status, failCode }: Task): boolean =>
	status === 'failed' && failCode !== String(SILENT);

/** A failed task as the error of its item: what happened, one next step, and its ID. */
export class FailedTaskError extends UserError {
	/**
	 * @param taskIds of the run
	 * @param notAgain why Retry On Fail did not create it again, without a period
	 */
	constructor(
		readonly task: EndedTask,
		readonly taskIds: string[],
		notAgain?: string,
	) {
		super(sayWhatHappened(task), {
			description: `${sayNext(task, notAgain)} Task ID: ${task.taskId}`,
		});
	}
}

/** The longest reason of a failed task in an error, in characters. */
const MAX_REASON = 500;

/** Says what happened to a task, in the service's words. */
function sayWhatHappened({ status, failCode, failMessage, lookError }: EndedTask): string {
	if (status === 'timedOut') {
		const what = 'The task had not ended when the wait was over';
		return lookError ? `${what}. The last look failed: ${cutText(lookError, MAX_REASON)}` : what;
	}
	const reason = cutText(failMessage ?? 'no reason given', MAX_REASON);
	return `The task failed: ${reason}${failCode ? ` (code ${failCode})` : ''}`;
}

function sayNext(task: EndedTask, notAgain?: string): string {
	if (!mayCreateAgain(task)) return 'It may still end at the service: use Wait with this ID.';
	if (notAgain) return `Retry On Fail did not create it again: ${notAgain}.`;
	return 'Only a new run of the node that created it, or its Retry On Fail, pays for a new task.';
}
