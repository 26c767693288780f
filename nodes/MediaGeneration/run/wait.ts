import type { TaskService } from '../api/client';
import { factsOf, isOfKind } from '../api/failure';
import type { Call } from '../host/call';
import type { Item, Outcome } from './input/item';
import { beginLedger } from './ledger/changes';
import type { Entry, WaitSettings } from './ledger/ledger';
import { publishOutcomes } from './output/output';
import { buildRun, endsBeforeWait } from './run';
import { MAX_TIME_UNSEEN } from './timetable';
import { beginWatch, keepLooking, watch } from './watch';

/** An item with the ID of its task. */
export interface AwaitedTask {
	item: Item;
	taskId: string;
}

/**
 * Waits awake for tasks of which only the IDs are known, with a ledger that isn't stored. The first look
 * is made at once. Where later looks would fail too, or the service doesn't know a task for 30 seconds,
 * the item has an error. With On Error "stop", such an error ends the run before it waits on.
 * @returns an outcome for each of `tasks`, in their order
 */
export async function wait(
	call: Call,
	tasks: AwaitedTask[],
	settings: WaitSettings,
): Promise<Outcome[]> {
	// Items whose entry stays empty did not pass their check.
	const entries: Entry[] = call.context.getInputData().map(() => ({ attempts: [] }));
	for (const { item, taskId } of tasks)
		entries[item.index] = { account: item.service.account, attempts: [{ taskId }] };
	const ledger = beginLedger({ settings, entries });
	const services = new Map(tasks.map(({ item }) => [item.index, item.service]));
	const getService = async (index: number) => services.get(index) as TaskService;
	const run = beginWatch({ ...buildRun({ call, ledger }), getService });
	const { looks, times } = run;
	// For some seconds after a creation, a service may not know the task yet.
	const mayStillAppear = (key: string) => {
		const { failure, answer } = looks.find(key);
		if (!failure) return !answer;
		return factsOf(failure).isTemporary || isOfKind(failure, 'unknownTask');
	};
	// All pending tasks are looked at together, as long as one of them may still appear.
	const list = () => (looks.pendingKeys.some(mayStillAppear) ? looks.pendingKeys : []);
	const lastLookAt = Math.min(Date.now() + MAX_TIME_UNSEEN, times.lastLookAt);
	await keepLooking(run, Date.now());
	await keepLooking(run, lastLookAt, list);
	for (const [index, entry] of ledger.entries.entries()) {
		const { failure } = looks.find(looks.keyOf(entry));
		// Later looks would fail too.
		if (failure && !factsOf(failure).isTemporary) run.errors.set(index, failure);
	}
	if (!endsBeforeWait(run)) await watch(run);
	const outcomes = publishOutcomes(run);
	return tasks.map(({ item }) => outcomes[item.index]);
}
