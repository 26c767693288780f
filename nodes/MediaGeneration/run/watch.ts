import { isTooFast } from '../api/failure';
import { growPauses, joinSignals, LONGEST_PAUSE, pause, settleBy } from '../lib/timers';
import { type Files, nameFiles, openFiles } from './files/downloads';
import {
	describeTask,
	type Entry,
	findLimit,
	identifyTask,
	stateOf,
	type WaitSettings,
} from './ledger/ledger';
import { Looks } from './looks';
import { sayEndedEarly, sayWhyAwake } from './output/hints';
import { isErrorIfFailed, listWithoutError, type Run } from './run';
import { type AwakeTimes, PAUSES_AWAKE, planAwake, planLastLook } from './timetable';

/** A run that waits awake. */
export interface Watch {
	run: Run;
	looks: Looks;
	files: Files;
	times: AwakeTimes;
	/** An item of each task, by the task's key. */
	items: Map<string, number>;
	/** No task is looked at any more. */
	isOver?: boolean;
}

/** Begins to wait for the tasks of the items that have no error. */
export function beginWatch(run: Run): Watch {
	const { call, ledger } = run;
	const settings = ledger.settings as WaitSettings;
	ledger.begun ??= Date.now();
	const waiting = listWithoutError(run);
	const entries = waiting.map(({ entry }) => entry);
	const looks = new Looks(entries, settings, identifyTask);
	const items = new Map<string, number>();
	for (const { item, entry } of waiting)
		for (const key of looks.keysOf(entry)) items.set(key, item);
	return {
		run,
		looks,
		files: openFiles(call, ledger, settings),
		times: planAwake(Date.now(), findLimit(ledger), call.deadline),
		items,
	};
}

/**
 * Waits awake: looks at all tasks together until they have ended, the limit passes, the execution is
 * stopped, or n8n would soon end it. Then it waits for the files.
 */
export async function watch(run: Run, watched = beginWatch(run)): Promise<void> {
	const { looks, files, times } = watched;
	const { context } = run.call;
	sayWhyAwake(context, run.decision.reason);
	await keepLooking(watched, times);
	await lookAgain(watched);
	if (!looks.haveEnded && times.isCutShort) sayEndedEarly(context);
	watched.isOver = true;
	const download = async (key: string) => await downloadFiles(watched, key);
	await settleBy(times.filesBy, Promise.all(looks.keys.map(download)));
	run.looks = looks;
	run.files = files;
}

/** A task may have ended whose last look failed: it is asked for again while there is time. */
async function lookAgain(watched: Watch): Promise<void> {
	const { looks, times } = watched;
	const { end } = times;
	const lastLook = planLastLook(Date.now(), end);
	await keepLooking(watched, { lastLook, end, list: () => looks.failedKeys });
}

/** Downloads the files of a task into n8n's storage, if it has completed. */
async function downloadFiles(watched: Watch, key: string): Promise<void> {
	const { run, looks, files, times, items } = watched;
	const { call, ledger } = run;
	const item = items.get(key) as number;
	const entry = ledger.entries[item] as Entry;
	const attempt = looks.attemptOf(entry);
	if (attempt?.end?.status !== 'completed' || looks.keyOf(entry) !== key) return;
	if (endsInError(watched) && !files.hasBegun(key)) return;
	const task = describeTask(entry, attempt);
	const place = { item, count: ledger.entries.length };
	const source = {
		helpers: call.context.helpers,
		signal: call.signal,
		filesBy: times.filesBy,
		settings: ledger.settings as WaitSettings,
		getService: async () => await run.getService(item),
	};
	await files.download(key, task, source, nameFiles(task, place, entry.request?.words));
}

/** Says whether a failed task ends the run with an error, so that no further file is of use. */
function endsInError({ run, looks, isOver }: Watch): boolean {
	if (!run.call.stops || !isErrorIfFailed(run)) return false;
	if (isOver && !looks.haveEnded) return true;
	return run.ledger.entries.some((entry) => stateOf(entry) === 'failed');
}

interface HowToLook extends Pick<AwakeTimes, 'lastLook' | 'end'> {
	/** Lists the tasks to look at; default: those that have not ended. */
	list?: () => string[];
	/** Whether nothing is left to look for; default: the list is empty. */
	isOver?: () => boolean;
	/** Whether the first look comes at once, and not after a pause. */
	atOnce?: boolean;
}

/** Looks with growing pauses, the longest ones while the service refuses requests for their rate. */
export async function keepLooking(
	watched: Watch,
	{ lastLook, end, atOnce, ...how }: HowToLook,
): Promise<void> {
	const { run, looks, items } = watched;
	const { list = () => looks.openKeys, isOver = () => list().length === 0 } = how;
	const pauses = growPauses(PAUSES_AWAKE);
	const over = new AbortController();
	const timeIsOver = waitForEnd(end, over, run.call.signal);
	const options = {
		getService: async (key: string) => await run.getService(items.get(key) as number),
		onAnswer: (key: string) => void downloadFiles(watched, key),
		signal: over.signal,
	};
	let length = atOnce ? 0 : pauses.next().value;
	let at = -Infinity;
	while (!isOver() && at < lastLook) {
		at = Math.min(Date.now() + length, lastLook);
		await Promise.race([pause(at - Date.now()), timeIsOver]);
		if (over.signal.aborted) break;
		await Promise.race([looks.look(list(), options), timeIsOver]);
		length = isTooFast(looks.failure) ? PAUSES_AWAKE.longest : pauses.next().value;
	}
	over.abort();
}

/** Ends when time is over or the execution is stopped, and aborts `over` then. */
async function waitForEnd(
	end: number,
	over: AbortController,
	stopped?: AbortSignal,
): Promise<void> {
	const signal = joinSignals(over.signal, stopped);
	await pause(Math.min(end - Date.now(), LONGEST_PAUSE), signal).catch(() => undefined);
	over.abort();
}
