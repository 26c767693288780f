import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Outcome } from '../operation';
import type { RunRecord } from '../record/runRecord';
import type { Sleep, Wait } from '../record/wait';
import type { TaskWork } from '../work';
import { fallAsleep } from '../../run/sleep';
import { planWait, waitAwake } from '../../run/watch';
import type { WaitDecision } from '../../run/decide';
import { Looker } from '../../run/look';
import { logObstacle, sayWhyAwake } from '../../run/hints';

/** What the tries of an execution know of their tasks, by their wait. */
const lookers = new WeakMap<Wait, Looker>();

/** How a run waits. One that was woken does not sleep again. */
interface DecidedWait {
	record: RunRecord;
	wait: Wait;
	decision: WaitDecision;
}

export interface Waited {
	/** One for each task, in their order. */
	outcomes: Outcome[];
	/** Lets the execution sleep; absent if it continues at once. */
	fallAsleep?: (items: INodeExecutionData[], failures: Sleep['failures']) => Promise<void>;
}

/** Waits for tasks, asleep or awake. Several items may have the same task. */
export async function waitForTasks(
	context: IExecuteFunctions,
	works: TaskWork[],
	{ record, wait, decision }: DecidedWait,
): Promise<Waited> {
	const { woken } = record;
	wait.begun ??= Date.now();
	const until = wait.begun + wait.settings.limit;
	const looker = lookers.get(wait) ?? new Looker(wait.settings, context);
	lookers.set(wait, looker);
	const { known } = looker;
	known.setTasks(works.map(({ task }) => task));
	looker.nameFiles(works);
	known.restore(woken?.woken ?? []);
	const { resumeUrl, obstacle, reason } = decision;
	const open = works.find(({ task }) => known.isOpen(task.taskId));
	if (resumeUrl !== undefined && open && Date.now() < until) {
		logObstacle(context, obstacle);
		const { credentials } = await open.getService();
		const access = { url: resumeUrl, credentials };
		return {
			outcomes: works.map(({ task }) => ({ items: known.toStoredOutput(task.taskId) })),
			fallAsleep: async (items, failures) => {
				await fallAsleep(context, record, { items, sleep: { until, failures }, access });
			},
		};
	}
	sayWhyAwake(context, reason);
	const times = planWait(context, until);
	return { outcomes: await waitAwake(context, works, { looker, times }) };
}
