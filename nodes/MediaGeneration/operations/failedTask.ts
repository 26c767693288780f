import { UserError } from 'n8n-workflow';
import { SILENT } from '../api/service';
import type { Task } from '../api/task';
import { cutText } from '../lib/text';

/** A task that is `failed`, or `timedOut`, and why the last look at it failed, if it did. */
export type FailedTask = Task & { lookError?: string };

export const isFailed = ({ status }: Task): boolean => status === 'failed' || status === 'timedOut';

/**
 * Says whether a new task may take the place of a failed one. One that timed out may still end, and
 * so may one that failed because the service's upstream was silent: both may cost something.
 */
export const mayCreateAgain = ({ status, failCode }: Task): boolean =>
	status === 'failed' && failCode !== String(SILENT);

/** What else a run knows when a task of it has failed. */
interface Circumstances {
	/** The IDs of the run's tasks. */
	taskIds: string[];
	/** Other tasks of the run have completed. */
	hasCompleted: boolean;
	/** The run creates tasks, and may create this one again. */
	creates: boolean;
	/** Why Retry On Fail did not create it again, without a period. */
	notAgain?: string;
}

/** A failed task as the error of its item. */
export class FailedTaskError extends UserError {
	constructor(
		readonly task: FailedTask,
		private readonly circumstances: Circumstances,
	) {
		super(sayWhatHappened(task), {
			description: joinSentences([sayNext(task, circumstances), name(task)]),
		});
	}

	/** Says what to do next where it ends the run. @param taskIds of the run, also of earlier tries */
	describeForRun(taskIds: string[]): string {
		const { task, circumstances } = this;
		const others = new Set([...circumstances.taskIds, ...taskIds]);
		others.delete(task.taskId);
		return joinSentences([
			sayNext(task, circumstances),
			circumstances.hasCompleted && sayHowToContinue(circumstances),
			others.size > 0 && `Other tasks of this run: ${[...others].join(', ')}.`,
			name(task),
		]);
	}
}

const joinSentences = (sentences: Array<string | false>): string =>
	sentences.filter(Boolean).join(' ');

const name = ({ taskId }: Task): string => `Task ID: ${taskId}`;

/** The longest reason of a failed task in an error, in characters. */
const MAX_REASON = 500;

/** Says what happened to a task, in the service's words. */
function sayWhatHappened({ status, failCode, failMessage, lookError }: FailedTask): string {
	if (status === 'timedOut') {
		const what = 'The task had not ended when the wait was over';
		return lookError ? `${what}. The last look failed: ${cutText(lookError, MAX_REASON)}` : what;
	}
	const reason = cutText(failMessage ?? 'no reason given', MAX_REASON);
	return `The task failed: ${reason}${failCode ? ` (code ${failCode})` : ''}`;
}

function sayNext(task: FailedTask, { creates, notAgain }: Circumstances): string {
	if (task.status === 'timedOut') return 'It continues at the service: use Wait with this ID.';
	if (!creates) return '';
	if (!mayCreateAgain(task))
		return 'The service stopped answering for it, so it may still end: use Wait with this ID. Only a new run pays for a new task.';
	const pays =
		'A retry from the list of executions does not create it again. Only a new run, or Retry On Fail, pays for a new task.';
	return notAgain ? `Retry On Fail did not create it again: ${notAgain}. ${pays}` : pays;
}

function sayHowToContinue({ creates }: Circumstances): string {
	const how =
		'To continue with the finished tasks, set On Error to Continue, or Failed Tasks to Output, then retry with the currently saved workflow';
	return creates ? `${how}: finished tasks aren't paid again.` : `${how}.`;
}
