import type { IExecuteFunctions } from 'n8n-workflow';
import type { CreateResult } from '../create/createTasks';
import type { Item, RunResult } from '../operation';
import type { Sleep, Wait } from '../record';
import { toFileSource } from '../results/resultFiles';
import { fallAsleep } from './asleep/sleep';
import type { WaitDecision } from './decideWait';
import { Looker, type WaitSettings } from './looker';
import {
	logObstacle,
	sayWhyPolled,
	sayWhySlept,
	showAgain,
	showOutcome,
	toOutcomes,
	toStoredOutcomes,
} from './output';
import { pollUntilEnded } from './poll';

/** What the tries of an execution know of their tasks, by their wait. */
const lookers = new WeakMap<Wait<WaitSettings>, Looker>();

/**
 * Waits for the tasks of a run, asleep or awake.
 * @param woken the sleep from which the run was woken; it does not sleep again
 */
export async function waitForTasks(
	context: IExecuteFunctions,
	results: CreateResult[],
	{ wait, decision, woken }: { wait: Wait<WaitSettings>; decision: WaitDecision; woken?: Sleep },
): Promise<RunResult> {
	wait.begun ??= Date.now();
	const until = wait.begun + wait.settings.limit;
	const created = results.filter((result) => result !== undefined && 'task' in result);
	const items = new Map(created.map(({ item, task }) => [task.taskId, item]));
	const findItem = (taskId: string) => items.get(taskId) as Item;
	const looker = lookers.get(wait) ?? new Looker(wait.settings);
	lookers.set(wait, looker);
	const { batch } = looker;
	batch.setTasks(created.map(({ task }) => task));
	batch.restore(woken?.woken ?? []);
	const { resumeUrl, reason } = decision;
	if (resumeUrl !== undefined && !batch.isEnded && Date.now() < until) {
		const { credentials } = findItem(batch.openIds[0] as string).service;
		logObstacle(context, reason);
		const access = { url: resumeUrl, credentials };
		return {
			outcomes: toStoredOutcomes(results, batch),
			fallAsleep: async (stored, failures) =>
				await fallAsleep(context, stored, { until, failures, obstacle: reason }, access),
		};
	}
	if (resumeUrl === undefined) sayWhyPolled(context, reason);
	showAgain(context, woken?.hints);
	sayWhySlept(context, woken?.obstacle);
	const getSource = (taskId: string) => toFileSource(findItem(taskId));
	await pollUntilEnded(context, looker, { getSource, until });
	showOutcome(context, batch.tasks);
	return { outcomes: toOutcomes(results, batch) };
}
