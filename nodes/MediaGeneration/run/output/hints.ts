import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { factsOf } from '../../api/failure';
import type { Task } from '../../api/task';
import { cutText, toPlainText } from '../../lib/text';
import { hasFailed, type Outcome } from '../input/item';
import { addCredits } from '../ledger/note';
import { sayReason } from './errors';

/** Shows a hint at the node's output. */
const addHint = (context: IExecuteFunctions, type: 'warning' | 'info', message: string): void =>
	context.addExecutionHints({ type, location: 'outputPane', message: toPlainText(message) });

/**
 * Shows how the tasks of a run ended, and what they cost.
 * @param failure why the last look at one that has not ended failed, if it did
 */
export function showEnds(context: IExecuteFunctions, tasks: Task[], failure?: Error): void {
	const failed = tasks.filter(({ status }) => status === 'failed');
	const open = tasks.filter(({ status }) => status === 'pending');
	if (failed.length) {
		const reason = cutText(sayReason(failed[0] as Task));
		const count = `${failed.length} of ${tasks.length}`;
		addHint(context, 'warning', `Tasks that failed: ${count}. The first: ${reason}`);
	}
	if (open.length) {
		const why = failure ? ` The last look failed: ${cutText(failure.message)}.` : '';
		const count = `${open.length} of ${tasks.length}`;
		addHint(
			context,
			'warning',
			`Tasks that have not ended: ${count}.${why} Use Wait to go on waiting.`,
		);
	}
	const costs = tasks.flatMap(({ creditsConsumed }) => creditsConsumed ?? []);
	if (costs.length) addHint(context, 'info', `Credits consumed: ${addCredits(costs)}`);
}

/** Says that tasks were paid for before, as a retry looks like a run that pays. */
export function sayAdopted(context: IExecuteFunctions, count: number, all: number): void {
	if (count)
		addHint(
			context,
			'info',
			`Nothing was created for these tasks of the earlier run: ${count} of ${all}`,
		);
}

/** Says what nobody sees among the files that n8n shows first, with the first reason of each kind. */
export function showMissing(context: IExecuteFunctions, outcomes: Outcome[]): void {
	const say = (what: string, reasons: unknown[]) => {
		if (!reasons.length) return;
		const hint = `${what}: ${reasons.length}. The first: ${String(reasons[0])}`;
		addHint(context, 'warning', cutText(hint));
	};
	const items = outcomes.flatMap((outcome) => (outcome && 'items' in outcome ? outcome.items : []));
	const list = (key: string) => items.flatMap(({ json }) => (json as IDataObject)[key] ?? []);
	const errors = outcomes.filter(hasFailed).map(({ error }) => error as Error);
	const untold = errors.filter((error) => !factsOf(error).task);
	const messages = untold.map(({ message }) => message);
	say('Items with an error', messages);
	say('Items with a warning', list('warning'));
	say('Items that lack a file', list('downloadError'));
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
