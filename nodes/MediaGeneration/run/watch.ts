import type { IExecuteFunctions } from 'n8n-workflow';
import { isRateLimited } from '../api/failure';
import { readDeadline } from '../host/deadline';
import { LONGEST_PAUSE, pause, settleBy } from '../lib/timers';
import type { Outcome } from '../operations/operation';
import type { TaskWork } from '../operations/work';
import type { Looker, Source } from './look';
import { sayEndedEarly, showMissing, showOutcome, toOutcomes } from './hints';
import { PAUSES_AWAKE, planAwake, type AwakeTimes } from './timetable';

type GetSource = (taskId: string) => Source;

/** @param until the wait limit, in milliseconds since 1970 */
export const planWait = (context: IExecuteFunctions, until: number): AwakeTimes =>
	planAwake(Date.now(), until, readDeadline(context));

/**
 * Waits awake: looks at all tasks together until they have ended, the limit passes, the execution is
 * stopped, or n8n would soon end it. Then it waits for the files.
 * @returns an outcome for each of `works`, in their order
 */
export async function waitAwake(
	context: IExecuteFunctions,
	works: TaskWork[],
	{ looker, times }: { looker: Looker; times: AwakeTimes },
): Promise<Outcome[]> {
	const { known } = looker;
	const getSource = createGetSource(context, works, times);
	const stopped = context.getExecutionCancelSignal();
	await keepLooking(looker, getSource, { ...times, stopped });
	if (!known.haveEnded && times.isCutShort) sayEndedEarly(context);
	await settleBy(times.filesBy, looker.collectFiles(getSource));
	showOutcome(context, known.tasks, known.failure);
	const outcomes = toOutcomes(looker, works);
	showMissing(context, outcomes);
	return outcomes;
}

/** Makes a function that finds the service of a task. Files go to n8n's storage. */
export function createGetSource(
	context: IExecuteFunctions,
	works: TaskWork[],
	{ filesBy }: AwakeTimes,
): GetSource {
	const byTask = new Map(works.map((work) => [work.task.taskId, work]));
	const signal = context.getExecutionCancelSignal();
	const storage = { helpers: context.helpers, signal, filesBy };
	return (taskId) => {
		const { getService, elsewhere } = byTask.get(taskId) as TaskWork;
		return { ...storage, getService, sawOpen: !elsewhere };
	};
}

interface Looks extends Pick<AwakeTimes, 'lastLook' | 'end'> {
	/** Whether nothing is left to look for; default: all tasks have ended. */
	isOver?: () => boolean;
	/** Whether the first look comes at once, and not after a pause. */
	atOnce?: boolean;
	stopped?: AbortSignal;
}

/** Looks with growing pauses, the longest ones while the service refuses requests for their rate. */
export async function keepLooking(
	looker: Looker,
	getSource: GetSource,
	{ lastLook, end, stopped, atOnce, isOver = () => looker.known.haveEnded }: Looks,
): Promise<void> {
	const { known } = looker;
	const { first, growth, longest } = PAUSES_AWAKE;
	const over = new AbortController();
	const givenUp = waitForEnd(end, over, stopped);
	let length = atOnce ? 0 : first;
	let at = -Infinity;
	while (!isOver() && at < lastLook) {
		// Random, so that runs that began together don't look together.
		at = Math.min(Date.now() + length * (0.75 + Math.random() / 2), lastLook);
		await Promise.race([pause(at - Date.now()), givenUp]);
		if (over.signal.aborted) break;
		const look = looker.look(known.openIds, { getSource, signal: over.signal });
		await Promise.race([look, givenUp]);
		length = isRateLimited(known.failure)
			? longest
			: Math.min(Math.max(first, length * growth), longest);
	}
	over.abort();
}

/** Ends when time is over or the execution is stopped, and aborts `over` then. */
async function waitForEnd(
	end: number,
	over: AbortController,
	stopped?: AbortSignal,
): Promise<void> {
	const stop = () => over.abort();
	if (stopped?.aborted) stop();
	stopped?.addEventListener('abort', stop, { once: true });
	await pause(Math.min(end - Date.now(), LONGEST_PAUSE), over.signal).catch(stop);
	stop();
}
