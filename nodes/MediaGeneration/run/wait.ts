import { UserError } from 'n8n-workflow';
import { isUnknownTask, ServiceError } from '../api/failure';
import type { Call } from '../host/call';
import type { Item, Outcome } from './item';
import { beginLedger, type WaitSettings } from './ledger';
import { endsRun, listWithoutError } from './onError';
import { beginRun } from './open';
import { showOutcomes } from './show';
import { KNOWN_BY } from './timetable';
import { beginWatch, keepLooking, watch, type Watch } from './watch';

/** An item with the ID of its task. */
interface Known {
	item: Item;
	taskId: string;
}

/**
 * Waits awake for tasks of which only the IDs are known, with a ledger that nobody stores. It looks at
 * once: if later looks would fail too, or the service doesn't know a task for 30 seconds, that is the
 * error of its item. With On Error "stop", such an error ends the run before it waits on.
 * @returns an outcome for each of `known`, in their order
 */
export async function wait(call: Call, known: Known[], settings: WaitSettings): Promise<Outcome[]> {
	const ledger = beginLedger({
		settings: { ...settings, howToWait: 'polling' },
		entries: known.map(({ taskId }) => ({ attempts: [{ taskId, elsewhere: true }] })),
	});
	const getService = async (order: number) => (known[order] as Known).item.service;
	const run = { ...beginRun(call, ledger), getService };
	refuseStrangers(run.errors, known);
	const watched = beginWatch(run);
	await lookAtOnce(watched);
	leaveLost(watched);
	if (!endsRun(run)) await watch(run, watched);
	return showOutcomes(run);
}

/** An ID may be a guess, so no account gets another one's task. */
function refuseStrangers(errors: Map<number, unknown>, known: Known[]): void {
	for (const [order, { item, taskId }] of known.entries()) {
		const first = known.find((one) => one.taskId === taskId);
		if (first?.item.service.account === item.service.account) continue;
		const message = `Another item has the Task ID ${taskId} with another credential`;
		const description = 'Wait for them in nodes of their own, or one after the other in a loop.';
		errors.set(order, new UserError(message, { description }));
	}
}

/**
 * Looks at all tasks at once, and goes on while looks fail in a way that may pass: a service may not
 * know a task for some seconds after its creation.
 */
async function lookAtOnce(watched: Watch): Promise<void> {
	const { looks, times } = watched;
	const isSettled = (taskId: string) => {
		const { failure, said } = looks.find(taskId);
		return failure ? !passes(failure) && !isUnknownTask(failure) : said !== undefined;
	};
	await keepLooking(watched, {
		lastLook: Math.min(Date.now() + KNOWN_BY, times.lastLook),
		end: times.end,
		isOver: () => looks.openIds.every(isSettled),
		atOnce: true,
	});
}

/** A failure that later looks would have too is the error of its items. */
function leaveLost({ run, looks }: Watch): void {
	for (const taskId of looks.openIds) {
		const { failure } = looks.find(taskId);
		if (!failure || passes(failure)) continue;
		looks.leave(taskId);
		for (const { item, entry } of listWithoutError(run))
			if (entry.attempts[0]?.taskId === taskId) run.errors.set(item, failure);
	}
}

const passes = (failure: Error): boolean => failure instanceof ServiceError && failure.passes;
