import { UserError, type IExecuteFunctions } from 'n8n-workflow';
import { isUnknownTask, ServiceError } from '../api/failure';
import { stopsOnError } from './errors';
import { hasFailed, type Failed, type Outcome } from '../operations/operation';
import type { WaitSettings } from '../operations/record/wait';
import type { TaskWork } from '../operations/work';
import { createGetSource, keepLooking, planWait, waitAwake } from './watch';
import { Looker } from './look';
import { KNOWN_BY, type AwakeTimes } from './timetable';

/**
 * Waits awake for tasks of which only the IDs are known. It looks at once: if later looks would fail
 * too, or the service doesn't know a task for 30 seconds, that is the error of its item. With On Error
 * "stop", such an error ends the run before it waits on.
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
	await lookAtOnce(context, looker, own, times);

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
 * Looks at all tasks at once, and goes on while looks fail in a way that may pass: a service may not
 * know a task for some seconds after its creation.
 */
async function lookAtOnce(
	context: IExecuteFunctions,
	looker: Looker,
	works: TaskWork[],
	times: AwakeTimes,
): Promise<void> {
	const { known } = looker;
	const isSettled = (taskId: string) => {
		const failure = known.getFailure(taskId);
		return failure ? !mayPass(failure) : known.wasOpen(taskId);
	};
	await keepLooking(looker, createGetSource(context, works, times), {
		lastLook: Math.min(Date.now() + KNOWN_BY, times.lastLook),
		end: times.end,
		stopped: context.getExecutionCancelSignal(),
		isOver: () => known.openIds.every(isSettled),
		atOnce: true,
	});
}

const passes = (failure?: Error): boolean => failure instanceof ServiceError && failure.passes;

const mayPass = (failure?: Error): boolean => passes(failure) || isUnknownTask(failure);

/** A failure that later looks would have too is the error of its item. */
const findLasting = (failure?: Error): Failed | undefined =>
	failure && !passes(failure) ? { error: failure } : undefined;
