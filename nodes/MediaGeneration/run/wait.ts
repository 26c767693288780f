import { factsOf, isOfKind } from '../api/failure';
import type { Call } from '../host/call';
import type { Item, Outcome } from './input/item';
import { beginLedger, type WaitSettings } from './ledger/ledger';
import { beginRun } from './open';
import { showOutcomes } from './output/output';
import { endsRun, listWithoutError } from './run';
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
		entries: known.map(({ item, taskId }) => ({
			account: item.service.account,
			attempts: [{ taskId, elsewhere: true }],
		})),
	});
	const getService = async (order: number) => (known[order] as Known).item.service;
	const run = { ...beginRun(call, ledger), getService };
	const watched = beginWatch(run);
	await lookAtOnce(watched);
	leaveLost(watched);
	if (!endsRun(run)) await watch(run, watched);
	return showOutcomes(run);
}

/**
 * Looks at all tasks at once, and goes on while looks fail in a way that may pass: a service may not
 * know a task for some seconds after its creation.
 */
async function lookAtOnce(watched: Watch): Promise<void> {
	const { looks, times } = watched;
	const isSettled = (key: string) => {
		const { failure, said } = looks.find(key);
		return failure ? !passes(failure) && !isOfKind(failure, 'unknownTask') : said !== undefined;
	};
	await keepLooking(watched, {
		lastLook: Math.min(Date.now() + KNOWN_BY, times.lastLook),
		end: times.end,
		isOver: () => looks.openKeys.every(isSettled),
		atOnce: true,
	});
}

/** A failure that later looks would have too is the error of its items. */
function leaveLost({ run, looks }: Watch): void {
	for (const key of looks.openKeys) {
		const { failure } = looks.find(key);
		if (!failure || passes(failure)) continue;
		looks.leave(key);
		for (const { item, entry } of listWithoutError(run))
			if (looks.keyOf(entry) === key) run.errors.set(item, failure);
	}
}

const passes = (failure: Error) => factsOf(failure).passes;
