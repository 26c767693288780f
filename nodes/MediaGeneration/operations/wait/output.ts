import type { IExecuteFunctions } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { cutText } from '../../lib/text';
import type { CreateResult } from '../create/createTasks';
import { addHint } from '../hint';
import type { Outcome } from '../operation';
import type { Batch } from './batch';
import type { WaitDecision } from './decideWait';

/**
 * Puts the output of each task at its item's position. The items of a retry may be the earlier
 * execution's output, with an item for each file; the first then has those of the whole task.
 */
export function toOutcomes(results: CreateResult[], batch: Batch) {
	const seen = new Set<string>();
	return results.map((result): Outcome => {
		if (!result || !('task' in result)) return result;
		const { taskId } = result.task;
		if (seen.has(taskId)) return { items: [] };
		seen.add(taskId);
		return { items: batch.toOutput(taskId) };
	});
}

/** The longest reason of a failed task in a hint, in characters. */
const SHOWN_REASON = 200;

/** Shows how the tasks of a run ended, which n8n calls a success all the same, and their cost. */
export function showOutcome(context: IExecuteFunctions, tasks: Task[]): void {
	const failed = tasks.filter(({ status }) => status === 'failed');
	const open = tasks.filter(({ status }) => status === 'pending' || status === 'timedOut');
	const count = (some: Task[]) =>
		tasks.length === 1 ? 'The task' : `${some.length} of ${tasks.length} tasks`;
	if (failed.length) {
		const reason = cutText(failed[0]?.failMessage ?? 'no reason given', SHOWN_REASON);
		addHint(context, 'warning', `${count(failed)} failed: ${reason}`);
	}
	if (open.length) {
		const has = open.length === 1 ? 'has' : 'have';
		addHint(context, 'warning', `${count(open)} ${has} not ended. Look again later with Get.`);
	}
	const costs = tasks.flatMap(({ creditsConsumed }) => creditsConsumed ?? []);
	if (!costs.length) return;
	const credits = Number(costs.reduce((total, cost) => total + cost, 0).toFixed(6));
	const paid = costs.length === 1 ? 'The task' : `${costs.length} tasks`;
	addHint(context, 'info', `${paid} consumed ${credits} credits.`);
}

/** Says why the node polled, or what may keep callbacks from an execution that sleeps. */
export function sayWhy(context: IExecuteFunctions, { resumeUrl, reason }: WaitDecision): void {
	if (reason === undefined) return;
	if (resumeUrl === undefined) return addHint(context, 'info', `The node polled: ${reason}.`);
	addHint(context, 'warning', `The execution slept, but ${reason}.`);
	// n8n drops the hints of a run that sleeps.
	context.logger.warn(`"${context.getNode().name}" sleeps, but ${reason}.`);
}

const ENDED_EARLY =
	"The wait ended before 'Limit Wait Time', because n8n would soon have ended the execution by a timeout, such as 'Timeout Workflow' in the workflow's settings.";

export const sayEndedEarly = (context: IExecuteFunctions): void =>
	addHint(context, 'info', ENDED_EARLY);
