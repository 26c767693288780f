import type { IExecuteFunctions, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { readResumeUrl } from '../host/resumeUrl';
import { readInput, readStoredItems, storeItems } from '../host/sleep';
import { BoundedMap } from '../lib/boundedMap';
import type { RunRecord } from '../operations/record/runRecord';
import { readSleepingRun, type SleepingRun } from '../operations/record/sleepingRun';
import type { Sleep } from '../operations/record/wait';
import { N8N_END } from './timetable';
import { Sleeper, type Access } from './nap';

type Context = Pick<IExecuteFunctions, 'getExecutionId' | 'getNode' | 'logger'>;

/**
 * The runs that sleep, by execution and node. Of a sleep that is over, its number is kept, for
 * webhooks that n8n let through before it stored that.
 */
const sleepers = new BoundedMap<string, Sleeper | Pick<Sleeper, 'number'>>(10_000);

/** Names the node and its execution, in n8n's log and among all that sleep in this process. */
const nameSleeper = (context: Context): string =>
	`"${context.getNode().name}" (execution ${context.getExecutionId()})`;

interface FallingAsleep {
	/** What n8n outputs if it ends the sleep by itself. */
	items: INodeExecutionData[];
	sleep: Pick<Sleep, 'until' | 'failures'>;
	access: Access;
}

/** Lets the execution sleep until a webhook wakes it. */
export async function fallAsleep(
	context: IExecuteFunctions,
	record: RunRecord,
	{ items, sleep, access }: FallingAsleep,
): Promise<void> {
	await context.putExecutionToWait(new Date(sleep.until + N8N_END));
	const input = readInput(context);
	storeItems(context, items);
	openSleeper(context, record.sleep({ input, ...sleep }), access);
}

/**
 * Sleeps on, in a run that sleeps: with Retry On Fail, n8n runs a node again if its first output
 * item has an error, even if it sleeps. Only a webhook wakes it.
 * @returns the items that n8n has stored
 */
export async function sleepOn(
	context: IExecuteFunctions,
	{ until }: Sleep,
): Promise<INodeExecutionData[]> {
	await context.putExecutionToWait(new Date(until + N8N_END));
	return readStoredItems(context);
}

/**
 * Finds the run that a callback is for, by what n8n has read of the execution.
 * @returns null for a sleep that is over, as far as this process knows; undefined where no run
 *   sleeps for this task
 */
export function findSleeper(
	context: IWebhookFunctions,
	{ taskId, credentials }: { taskId: string } & Pick<Access, 'credentials'>,
): { sleeper: Sleeper; asleep: Sleep } | null | undefined {
	const run = readSleepingRun(context);
	if (!run?.tasks.some((task) => task.taskId === taskId)) return undefined;
	const { asleep } = run;
	const known = sleepers.get(nameSleeper(context));
	if (!known || known.number < asleep.number) {
		const access = { url: readResumeUrl(context), credentials };
		return { sleeper: openSleeper(context, run, access), asleep };
	}
	const isAsleep =
		known instanceof Sleeper && known.number === asleep.number && known.getState() !== 'over';
	return isAsleep ? { sleeper: known, asleep } : null;
}

/** Begins to look at the tasks of a run that sleeps. An earlier sleep of its node is over. */
function openSleeper(context: Context, run: SleepingRun, access: Access): Sleeper {
	const name = nameSleeper(context);
	const before = sleepers.get(name);
	if (before instanceof Sleeper) before.end();
	// Thousands of executions may have slept: tasks and response of a sleep that is over are dropped.
	const onOver = () => {
		if (sleepers.get(name) === sleeper) sleepers.set(name, { number: sleeper.number });
	};
	const sleeper = new Sleeper(run, { ...access, logger: context.logger, name, onOver });
	sleepers.set(name, sleeper);
	return sleeper;
}
