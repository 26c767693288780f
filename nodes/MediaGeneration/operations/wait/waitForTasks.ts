import type { IExecuteFunctions } from 'n8n-workflow';
import type { Item, RunResult } from '../operation';
import type { Wait } from '../record';
import { toFileSource } from '../results/resultFiles';
import type { WaitDecision } from './decideWait';
import { Looker, type WaitSettings } from './looker';
import { sayWhy, showOutcome, toOutcomes, type Created } from './output';
import { pollUntilEnded } from './poll';
import { fallAsleep } from './sleep';

/** The settings of a wait, for all items of a run. */
export interface RunSettings extends WaitSettings {
	/** The longest wait, in milliseconds. */
	limit: number;
}

/** Waits for the tasks of a run, asleep or awake. */
export async function waitForTasks(
	context: IExecuteFunctions,
	created: Array<Created & { item: Item }>,
	{ wait, decision }: { wait: Wait<RunSettings>; decision: WaitDecision },
): Promise<RunResult> {
	wait.begun ??= Date.now();
	const until = wait.begun + wait.settings.limit;
	const items = new Map<string, Item>();
	for (const { item, result } of created)
		if (result && 'task' in result) items.set(result.task.taskId, item);
	const tasks = created.flatMap(({ result }) => (result && 'task' in result ? result.task : []));
	const looker = new Looker(tasks, wait.settings);
	const { batch } = looker;
	sayWhy(context, decision);
	const { resumeUrl } = decision;
	if (resumeUrl !== undefined && !batch.isEnded) {
		const { credentials } = (items.get(batch.openIds[0] as string) as Item).service;
		const access = { url: resumeUrl, credentials };
		return {
			outcomes: toOutcomes(context, created, batch),
			fallAsleep: async (parked) => await fallAsleep(context, parked, { wait, until }, access),
		};
	}
	const getSource = (taskId: string) => toFileSource(items.get(taskId) as Item);
	await pollUntilEnded(context, looker, { getSource, until });
	showOutcome(context, batch.tasks);
	return { outcomes: toOutcomes(context, created, batch) };
}
