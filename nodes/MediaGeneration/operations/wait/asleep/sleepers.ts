import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import type { AcceptedCallback } from '../../../callback/verifyRequest';
import { readResumeUrl } from '../../../host/resumeUrl';
import { BoundedMap } from '../../../lib/boundedMap';
import { readSleepingRun, type Sleep, type SleepingRun } from '../../record';
import type { WaitSettings } from '../looker';
import type { Access } from './nudge';
import { Sleeper } from './sleeper';

type Context = Pick<IExecuteFunctions, 'getExecutionId' | 'getNode' | 'logger'>;

/** The runs that sleep, by execution and node. Of a sleep that has ended, its number is kept. */
const sleepers = new BoundedMap<string, Sleeper | Pick<Sleeper, 'number'>>(10_000);

/** Names the node and its execution, in n8n's log and among all that sleep in this process. */
const nameSleeper = (context: Context): string =>
	`"${context.getNode().name}" (execution ${context.getExecutionId()})`;

/** Begins to look at the tasks of a run that sleeps. An earlier sleep of its node has ended. */
export function openSleeper(
	context: Context,
	run: SleepingRun<WaitSettings>,
	access: Access,
): Sleeper {
	const name = nameSleeper(context);
	const before = sleepers.get(name);
	if (before instanceof Sleeper) before.end();
	// Thousands of executions may have slept: tasks and response of an ended sleep are dropped.
	const onEnd = () => {
		if (sleepers.get(name) === sleeper) sleepers.set(name, { number: sleeper.number });
	};
	const sleeper = new Sleeper(run, { ...access, logger: context.logger, name, onEnd });
	sleepers.set(name, sleeper);
	return sleeper;
}

/**
 * Finds the run that a callback is for, by what n8n has read of the execution.
 * @returns null for a sleep that has ended, as far as this process knows; undefined where no run
 *   sleeps for this task
 */
export function findSleeper(
	context: IWebhookFunctions,
	{ taskId, credentials }: AcceptedCallback,
): { sleeper: Sleeper; asleep: Sleep } | null | undefined {
	const run = readSleepingRun<WaitSettings>(context);
	if (!run?.tasks.some((task) => task.taskId === taskId)) return undefined;
	const { asleep } = run;
	const known = sleepers.get(nameSleeper(context));
	if (!known || known.number < asleep.number) {
		const access = { url: readResumeUrl(context), credentials };
		return { sleeper: openSleeper(context, run, access), asleep };
	}
	const isAsleep = known instanceof Sleeper && known.number === asleep.number && !known.isOver;
	return isAsleep ? { sleeper: known, asleep } : null;
}
