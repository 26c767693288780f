import type { IExecuteFunctions } from 'n8n-workflow';
import { hasText } from '../api/resultLinks';
import type { Task } from '../api/task';
import { cutText, toPlainText } from '../lib/text';
import { sayReason } from './failedTask';
import type { Outcome } from './item';

/** Shows a hint at the node's output. */
const addHint = (context: IExecuteFunctions, type: 'warning' | 'info', message: string): void =>
	context.addExecutionHints({ type, location: 'outputPane', message: toPlainText(message) });

/** The longest reason of a failed task, or of a failed look, in a hint, in characters. */
const SHOWN_REASON = 200;

/**
 * Shows how the tasks of a run ended, and what they cost.
 * @param failure why the last look at one that has not ended failed, if it did
 */
export function showEnds(context: IExecuteFunctions, tasks: Task[], failure?: Error): void {
	const failed = tasks.filter(({ status }) => status === 'failed');
	const open = tasks.filter(({ status }) => status === 'pending' || status === 'timedOut');
	const count = (some: Task[]) =>
		tasks.length === 1 ? 'The task' : `${some.length} of ${tasks.length} tasks`;
	if (failed.length) {
		const reason = sayReason(failed[0] as Task, SHOWN_REASON);
		addHint(context, 'warning', `${count(failed)} failed: ${reason}`);
	}
	if (open.length) {
		const has = open.length === 1 ? 'has' : 'have';
		const why = failure ? ` The last look failed: ${cutText(failure.message, SHOWN_REASON)}.` : '';
		addHint(
			context,
			'warning',
			`${count(open)} ${has} not ended.${why} Use Wait to go on waiting.`,
		);
	}
	if (tasks.some(hasTextResult)) addHint(context, 'info', 'The result is text: see result.');
	const costs = tasks.flatMap(({ creditsConsumed }) => creditsConsumed ?? []);
	if (!costs.length) return;
	const credits = addCredits(costs);
	const paid = costs.length === 1 ? 'The task' : `${costs.length} tasks`;
	addHint(context, 'info', `${paid} consumed ${credits} credits.`);
}

/** Adds costs without the digits that binary fractions leave behind. */
export const addCredits = (costs: number[]): number =>
	Number(costs.reduce((total, cost) => total + cost, 0).toFixed(6));

/** The tasks of a run that are of the execution which it retries. */
interface Adopted {
	count: number;
	/** How many tasks there are in all. */
	all: number;
	/** This execution has created a task too, or may have. */
	hasCreated: boolean;
}

/** Says that tasks were paid for before, as a retry looks like a run that pays. */
export function sayAdopted(context: IExecuteFunctions, { count, all, hasCreated }: Adopted): void {
	if (!count) return;
	const these = count === 1 ? 'this task is' : 'these tasks are';
	const nothing = `Nothing was created: ${these} of the earlier run.`;
	const were = count === 1 ? 'was' : 'were';
	const some = `${count} of ${all} tasks ${were} created by the earlier run, and not paid for again.`;
	addHint(context, 'info', hasCreated ? some : nothing);
}

/** Whether a task's result is a text, which nobody finds among the files. */
const hasTextResult = ({ status, resultUrls, result }: Task): boolean =>
	status === 'completed' && !resultUrls?.length && hasText(result);

/** Says that files are missing, with the first reason. */
export function showMissing(context: IExecuteFunctions, outcomes: Outcome[]): void {
	const items = outcomes.flatMap((outcome) => (outcome && 'items' in outcome ? outcome.items : []));
	const reasons = items.flatMap(({ json }) => ('downloadError' in json ? json.downloadError : []));
	const what = reasons.length > 1 ? `${reasons.length} items lack a file` : 'A file is missing';
	if (reasons.length)
		addHint(context, 'warning', cutText(`${what}: ${String(reasons[0])}`, SHOWN_REASON));
}

/** Says why the run stayed awake, unless the user chose that. */
export function sayWhyAwake(context: IExecuteFunctions, reason?: string): void {
	if (reason !== undefined) addHint(context, 'info', `The run stayed awake ${reason}.`);
}

/** Says in n8n's log what may keep callbacks from an execution that sleeps. */
export function logObstacle(context: IExecuteFunctions, obstacle?: string): void {
	if (obstacle !== undefined)
		context.logger.warn(`"${context.getNode().name}" sleeps, but ${obstacle}.`);
}

export const sayEndedEarly = (context: IExecuteFunctions): void =>
	addHint(
		context,
		'info',
		"The wait ended before 'Limit Wait Time', because of a timeout: n8n's, such as 'Timeout Workflow' in the workflow's settings, or that of an MCP client.",
	);
