import type { IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import type { RunResult } from '../operation';
import type { RunRecord, Sleep, Wait } from '../record';
import type { TaskWork } from '../work';
import { fallAsleep } from './asleep/sleep';
import { waitAwake } from './awake';
import type { WaitDecision } from './decide';
import { Looker, type WaitSettings } from './look';
import { logObstacle, sayWhyPolled, sayWhySlept, showAgain, showOutcome } from './output';

/** What the tries of an execution know of their tasks, by their wait. */
const lookers = new WeakMap<Wait<WaitSettings>, Looker>();

/** How a run waits. */
interface HowToWait {
	record: RunRecord;
	wait: Wait<WaitSettings>;
	decision: WaitDecision;
	/** The sleep from which the run was woken; it does not sleep again. */
	woken?: Sleep;
}

/**
 * Waits for tasks, asleep or awake. Several items may have the same task.
 * @returns an outcome for each of them, in their order
 */
export async function waitForTasks(
	context: IExecuteFunctions,
	works: TaskWork[],
	{ record, wait, decision, woken }: HowToWait,
): Promise<RunResult> {
	wait.begun ??= Date.now();
	const until = wait.begun + wait.settings.limit;
	const services = new Map(works.map(({ task, service }) => [task.taskId, service]));
	const findService = (taskId: string) => services.get(taskId) as TaskService;
	const looker = lookers.get(wait) ?? new Looker(wait.settings);
	lookers.set(wait, looker);
	const { known } = looker;
	known.setTasks(works.map(({ task }) => task));
	known.restore(woken?.woken ?? []);
	const { resumeUrl, reason } = decision;
	if (resumeUrl !== undefined && !known.haveEnded && Date.now() < until) {
		const { credentials } = findService(known.openIds[0] as string);
		logObstacle(context, reason);
		const access = { url: resumeUrl, credentials };
		return {
			outcomes: works.map(({ task }) => ({ items: known.toStoredOutput(task.taskId) })),
			fallAsleep: async (items, failures) => {
				const sleep = { until, failures, obstacle: reason };
				await fallAsleep(context, record, { items, sleep, access });
			},
		};
	}
	if (resumeUrl === undefined) sayWhyPolled(context, reason);
	showAgain(context, woken?.hints);
	sayWhySlept(context, woken?.obstacle);
	const storage = { helpers: context.helpers, signal: context.getExecutionCancelSignal() };
	const getSource = (taskId: string) => ({ ...storage, service: findService(taskId) });
	await waitAwake(context, looker, { getSource, until });
	showOutcome(context, known.tasks);
	return { outcomes: works.map(({ task }) => ({ items: known.toOutput(task.taskId) })) };
}
