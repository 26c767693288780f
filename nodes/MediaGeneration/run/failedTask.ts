import { UserError } from 'n8n-workflow';
import { SILENT } from '../api/service';
import type { Task } from '../api/task';
import { NODE_NAME } from '../lib/brand';
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

const PAYS =
	'Change the prompt, then run the node that created it again: that pays for a new task for each of its items.';

/**
 * How the other tasks of a run come out, of which one failed. A workflow that calls this one shows it
 * too, in a panel and an execution that aren't meant.
 */
const KEEP = [
	'Other tasks of this run are paid for. To output them without paying again:',
	`1. Set On Error in the Settings of the ${NODE_NAME} node to Continue.`,
	"2. In that node's workflow, open this run in Executions, press ↪ (Retry execution), and choose the currently saved workflow.",
	'Execute step on Generate, or the retry of a calling workflow, pays for all of them again.',
];

/** A failed task as the error of its item: what happened, what to do next, and its ID. */
export class FailedTaskError extends UserError {
	/** @param areOthersOfUse another task of the run has completed, or still may */
	constructor(
		readonly task: EndedTask,
		private readonly areOthersOfUse: boolean,
	) {
		super(sayWhatHappened(task));
	}

	/** Says in lines what to do next. @param taskIds those that exist although the output is an error */
	describe(taskIds: string[]): string[] {
		const { task } = this;
		const ids = taskIds.filter((taskId) => taskId !== task.taskId);
		const keep = ids.length && this.areOthersOfUse ? KEEP : [];
		const next = sayNext(task);
		return [
			...(keep.length && next === PAYS ? [] : [next]),
			...keep,
			...(ids.length ? [`Other tasks of this run: ${ids.join(', ')}`] : []),
			`Task ID: ${task.taskId}`,
		];
	}
}

/** The longest reason of a failed task in an error, in characters. */
const MAX_REASON = 500;

/** How services begin the reason of a failure, after which it says twice that the task failed. */
const FAILED = /^((the|this|your) )?(generation|job|request|task)( has)? failed([.,:;!]\s*|$)/i;

/** Says why a task failed, in the service's words, as the end of a sentence. */
export const sayReason = ({ failMessage = '' }: Task, longest = MAX_REASON): string => {
	const reason = failMessage
		.trim()
		.replace(FAILED, '')
		.replace(/(?<!\.)\.$/, '');
	return cutText(reason || 'no reason given', longest);
};

/** Says what happened to a task, in the service's words. */
function sayWhatHappened(task: EndedTask): string {
	const { status, failCode, lookError } = task;
	if (status === 'timedOut') {
		const what = 'The task had not ended when the wait was over';
		return lookError ? `${what}. The last look failed: ${cutText(lookError, MAX_REASON)}` : what;
	}
	return `The task failed: ${sayReason(task)}${failCode ? ` (code ${failCode})` : ''}`;
}

const sayNext = (task: EndedTask): string =>
	mayCreateAgain(task) ? PAYS : 'It may still end at the service: use Wait with this ID.';
