import type { IExecuteFunctions, NodeHint } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { cutText, escapeHtml } from '../../lib/text';
import { traceCredits } from '../traceTasks';

/** The longest reason of a failed task in a hint, in characters. */
const SHOWN_REASON = 200;

/**
 * Shows at the output of a run that stayed awake how its tasks ended, and what they cost. n8n calls a run without an error a
 * success.
 */
export function showOutcome(context: IExecuteFunctions, tasks: Task[]): void {
	const failed = tasks.filter(({ status }) => status === 'failed');
	const open = tasks.filter(({ status }) => status === 'pending' || status === 'timedOut');
	const count = (some: Task[]) =>
		tasks.length === 1 ? 'The task' : `${some.length} of ${tasks.length} tasks`;
	if (failed.length) {
		const reason = escapeHtml(cutText(failed[0]?.failMessage ?? 'no reason given', SHOWN_REASON));
		show(context, 'warning', `${count(failed)} failed: ${reason}`);
	}
	if (open.length) {
		const has = open.length === 1 ? 'has' : 'have';
		show(context, 'warning', `${count(open)} ${has} not ended. Look again later with Get.`);
	}
	const costs = tasks.flatMap(({ creditsConsumed }) => creditsConsumed ?? []);
	if (!costs.length) return;
	const credits = Number(costs.reduce((total, cost) => total + cost, 0).toFixed(6));
	const paid = costs.length === 1 ? 'The task' : `${costs.length} tasks`;
	show(context, 'info', `${paid} consumed ${credits} credits.`);
	traceCredits(context, credits);
}

const show = (context: IExecuteFunctions, type: 'warning' | 'info', message: string): void =>
	context.addExecutionHints({ type, location: 'outputPane', message });

/** The most tasks that a hint after a sleep counts. Each count is a hint of its own, because n8n evaluates no messages. */
const MOST_COUNTED = 9;

/**
 * Makes a condition that n8n's editor evaluates: the node slept in this execution, and a number of its items have this status. An
 * expression has no name for the node itself, but n8n's error about an input item that isn't there says it (`nodeDataGetter` in
 * n8n-workflow's `workflow-data-proxy`, 2.14.2 to 2.41.1; `outcomeHints.test.ts` fails first).
 */
const slept = (status: string, isCount: string): string =>
	`={{ (() => { let name; try { $item(1e9).$json } catch (error) { name = error.context?.nodeCause } try { return Boolean($node[name].context.parked) && $items(name, 0, $runIndex).filter((item) => item.json.status === '${status}').length ${isCount} } catch { return false } })() }}`;

/** What is said of one task and of several, by their status. */
const sleepTexts = {
	failed: {
		one: '1 task failed: its failMessage says why. Split by status with a Switch.',
		several: 'tasks failed: the failMessage of each says why. Split by status with a Switch.',
	},
	timedOut: {
		one: '1 task has not ended. Look again later with Get, by its taskId.',
		several: 'tasks have not ended. Look again later with Get, by their taskId.',
	},
};

/** The editor's hints at the output of a run that slept. n8n takes no hints from the webhook that resumes an execution. */
export const sleepHints: NodeHint[] = Object.entries(sleepTexts).flatMap(
	([status, { one, several }]) =>
		[
			{ message: one, isCount: '=== 1' },
			...Array.from({ length: MOST_COUNTED - 1 }, (_, index) => ({
				message: `${index + 2} ${several}`,
				isCount: `=== ${index + 2}`,
			})),
			{ message: `More than ${MOST_COUNTED} ${several}`, isCount: `> ${MOST_COUNTED}` },
		].map(({ message, isCount }) => ({
			type: 'warning',
			location: 'outputPane',
			whenToDisplay: 'afterExecution',
			message,
			displayCondition: slept(status, isCount),
		})),
);
