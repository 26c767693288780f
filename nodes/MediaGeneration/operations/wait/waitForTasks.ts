import type { IExecuteFunctions } from 'n8n-workflow';
import type { CreateResult } from '../create/createTasks';
import type { Item, RunResult } from '../operation';
import type { Wait } from '../record';
import { toFileSource } from '../results/resultFiles';
import type { WaitDecision } from './decideWait';
import { Looker, type WaitSettings } from './looker';
import { sayWhy, showOutcome, toOutcomes } from './output';
import { pollUntilEnded } from './poll';
import { fallAsleep } from './waiting';

/** Waits for the tasks of a run, asleep or awake. */
export async function waitForTasks(
	context: IExecuteFunctions,
	results: CreateResult[],
	{ wait, decision }: { wait: Wait<WaitSettings>; decision: WaitDecision },
): Promise<RunResult> {
	wait.begun ??= Date.now();
	const until = wait.begun + wait.settings.limit;
	const created = results.filter((result) => result !== undefined && 'task' in result);
	const items = new Map(created.map(({ item, task }) => [task.taskId, item]));
	const findItem = (taskId: string) => items.get(taskId) as Item;
	const tasks = created.map(({ task }) => task);
	const looker = new Looker(tasks, wait.settings);
	const { batch } = looker;
	sayWhy(context, decision);
	const { resumeUrl } = decision;
	if (resumeUrl !== undefined && !batch.isEnded) {
		const { credentials } = findItem(batch.openIds[0] as string).service;
		const access = { url: resumeUrl, credentials };
		return {
			outcomes: toOutcomes(results, batch),
			fallAsleep: async (parked) => await fallAsleep(context, parked, { wait, until }, access),
		};
	}
	const getSource = (taskId: string) => toFileSource(findItem(taskId));
	await pollUntilEnded(context, looker, { getSource, until });
	showOutcome(context, batch.tasks);
	return { outcomes: toOutcomes(results, batch) };
}
