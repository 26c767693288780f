import type { NodeExecutionHint, NodeHint } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { cutText } from '../../lib/cutText';
import { escapeHtml } from '../../lib/escapeHtml';

/** The longest reason of a failed task in a hint, in characters. */
const SHOWN_REASON = 200;

/** Sums the credits that the tasks consumed; undefined if the service says nothing. */
export function sumCredits(tasks: Task[]): number | undefined {
	const costs = tasks.flatMap(({ creditsConsumed }) => creditsConsumed ?? []);
	return costs.length
		? Number(costs.reduce((total, cost) => total + cost, 0).toFixed(6))
		: undefined;
}

/** Says how the tasks of a run that stayed awake ended, and what they cost. n8n calls a run without an error a success. */
export function describeOutcome(tasks: Task[]): NodeExecutionHint[] {
	const failed = tasks.filter(({ status }) => status === 'failed');
	const open = tasks.filter(({ status }) => status === 'pending' || status === 'timedOut');
	const credits = sumCredits(tasks);
	const paid = tasks.filter(({ creditsConsumed }) => creditsConsumed !== undefined);
	const count = (some: Task[]) =>
		tasks.length === 1 ? 'The task' : `${some.length} of ${tasks.length} tasks`;
	const reason = escapeHtml(cutText(failed[0]?.failMessage ?? 'no reason given', SHOWN_REASON));
	return [
		...(failed.length ? [warn(`${count(failed)} failed: ${reason}`)] : []),
		...(open.length
			? [warn(`${count(open)} ${open.length === 1 ? 'has' : 'have'} not ended. Look with Get.`)]
			: []),
		...(credits === undefined
			? []
			: [
					{
						type: 'info' as const,
						location: 'outputPane' as const,
						message: `${paid.length === 1 ? 'The task' : `${paid.length} tasks`} consumed ${credits} credits.`,
					},
				]),
	];
}

const warn = (message: string): NodeExecutionHint => ({
	type: 'warning',
	location: 'outputPane',
	message,
});

/**
 * Makes a condition that n8n's editor evaluates: the node slept in this execution, and one of its items has this status. An
 * expression has no name for the node itself, so it looks for the node's parameters under the names that n8n gives it. A renamed
 * node gets no hint.
 */
const slept = (names: string[], status: string): string =>
	`={{ ${JSON.stringify(names)}.flatMap((name) => [name, ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => name + number)]).some((name) => { try { return JSON.stringify($node[name].parameter) === JSON.stringify($parameter) && Boolean($node[name].context.parked) && $items(name, 0, $runIndex).some((item) => item.json.status === '${status}') } catch (error) { return false } }) }}`;

/**
 * Makes the editor's hints at the output of a run that slept. n8n takes no hints from the webhook that resumes an execution.
 * @param names the node's names in a new workflow
 */
export const makeSleepHints = (names: string[]): NodeHint[] =>
	[
		[
			'failed',
			'At least one task failed: its failMessage says why. Split by status with a Switch.',
		],
		['timedOut', 'At least one task has not ended. Look with Get, by its taskId.'],
	].map(([status = '', message = '']) => ({
		type: 'warning',
		location: 'outputPane',
		whenToDisplay: 'afterExecution',
		message,
		displayCondition: slept(names, status),
	}));
