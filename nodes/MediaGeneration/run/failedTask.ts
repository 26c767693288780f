import { ServiceError } from '../api/failure';
import { SILENT } from '../api/service';
import type { Task } from '../api/task';

export const isFailed = ({ status }: Task): boolean => status === 'failed' || status === 'timedOut';

/**
 * Says whether a new task may take the place of a failed one. One that timed out may still end, and
 * so may one that failed because the service's upstream was silent: both may cost something.
 */
export const mayCreateAgain = ({ status, failCode }: Task): boolean =>
	status === 'failed' && failCode !== String(SILENT);

const PAYS =
	'Change the prompt, then run the node that created it again: that pays for a new task for each of its items.';

/** How services begin the reason of a failure, after which it says twice that the task failed. */
const FAILED = /^((the|this|your) )?(generation|job|request|task)( has)? failed([.,:;!]\s*|$)/i;

/** Says why a task failed, in the service's words, as the end of a sentence. */
export const sayReason = ({ failMessage = '' }: Task): string => {
	const reason = failMessage
		.trim()
		.replace(FAILED, '')
		.replace(/(?<!\.)\.$/, '');
	return reason || 'no reason given';
};

/** Says what happened to a task, in the service's words. */
function sayWhatHappened(task: Task): string {
	const { status, failCode, lookError } = task;
	if (status === 'timedOut') {
		const what = 'The task had not ended when the wait was over';
		return lookError ? `${what}. The last look failed: ${lookError}` : what;
	}
	return `The task failed: ${sayReason(task)}${failCode ? ` (code ${failCode})` : ''}`;
}

/** Makes a failed task the error of its item. */
export function toFailure(task: Task): ServiceError {
	const next = mayCreateAgain(task)
		? PAYS
		: 'It may still end at the service: use Wait with this ID.';
	return new ServiceError('failedTask', sayWhatHappened(task), next, { task });
}
