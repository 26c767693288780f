import { UserError, type IExecuteFunctions } from 'n8n-workflow';
import { isUnknownTask, ServiceError } from '../../api/failure';
import { pause, settleBy } from '../../lib/timers';
import { stopsOnError } from '../errors';
import { hasFailed, type Failed, type Outcome } from '../operation';
import type { WaitSettings } from '../record/wait';
import type { TaskWork } from '../work';
import { createGetSource, planWait, waitAwake } from './awake';
import { Looker } from './look';
import { KNOWN_AGAIN } from './timetable';

/**
 * Waits awake for tasks of which only the IDs are known. It looks at once: if the service doesn't
 * know a task, or later looks would fail too, that is the error of its item. With On Error "stop",
 * such an error ends the run before it waits.
 * @returns an outcome for each of `works`, in their order
 */
export async function waitForIds(
	context: IExecuteFunctions,
	works: TaskWork[],
	settings: WaitSettings,
): Promise<Outcome[]> {
	const times = planWait(context, Date.now() + settings.limit);
	const looker = new Looker(settings, context);
	const strangers = await Promise.all(works.map(async (work) => await findStranger(works, work)));
	const own = works.filter((_, order) => !strangers[order]);
	looker.known.setTasks(own.map(({ task }) => task));
	await lookAtOnce(context, looker, { works: own, until: times.end });

	const failed = works.map(
		({ task }, order) => strangers[order] ?? findLasting(looker.known.getFailure(task.taskId)),
	);
	if (stopsOnError(context) && failed.some(hasFailed)) return failed;
	const waiting = works.filter((_, order) => !failed[order]);
	looker.known.setTasks(waiting.map(({ task }) => task));
	const waited = (await waitAwake(context, waiting, { looker, times })).values();
	return failed.map((one) => one ?? waited.next().value);
}

/** An ID may be a guess, so no account gets another one's task. */
async function findStranger(
	works: TaskWork[],
	{ task, getService }: TaskWork,
): Promise<Failed | undefined> {
	const first = works.find((work) => work.task.taskId === task.taskId) as TaskWork;
	const [own, other] = [await getService(), await first.getService()];
	if (own.account === other.account) return undefined;
	const message = `Another item has the Task ID ${task.taskId} with another credential`;
	const description = 'Wait for them in nodes of their own, or one after the other in a loop.';
	return { error: new UserError(message, { description }) };
}

/**
 * Looks at all tasks, but not beyond the end of the wait. A service may not know a task for a moment
 * after its creation.
 */
async function lookAtOnce(
	context: IExecuteFunctions,
	looker: Looker,
	{ works, until }: { works: TaskWork[]; until: number },
): Promise<void> {
	const { known } = looker;
	const getSource = createGetSource(context, works);
	const over = new AbortController();
	const stopped = context.getExecutionCancelSignal();
	const signal = AbortSignal.any([over.signal, ...(stopped ? [stopped] : [])]);
	const look = async () => {
		await looker.look(known.openIds, { getSource, signal });
		const unknown = known.openIds.filter((taskId) => isUnknown(known.getFailure(taskId)));
		if (!unknown.length) return;
		await pause(KNOWN_AGAIN, signal);
		await looker.look(unknown, { getSource, signal });
	};
	await settleBy(
		until,
		look().catch(() => undefined),
	);
	over.abort();
}

const isUnknown = (failure?: Error): boolean =>
	failure instanceof ServiceError && isUnknownTask(failure);

/** A failure that later looks would have too is the error of its item. */
const findLasting = (failure?: Error): Failed | undefined =>
	failure && !(failure instanceof ServiceError && failure.passes) ? { error: failure } : undefined;
