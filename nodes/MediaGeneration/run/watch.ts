import { isTooFast } from '../api/failure';
import { listTaskLinks } from '../api/task';
import { growPauses, pause, settleBy, untilAborted } from '../lib/timers';
import { openFiles } from './files/downloads';
import {
	describeTask,
	type Entry,
	findWaitEnd,
	findTask,
	identifyTask,
	statusOf,
	type WaitSettings,
} from './ledger/ledger';
import { Looks } from './looks';
import { isErrorIfFailed, type Run } from './run';
import { PAUSES_AWAKE, planAwake, planLastLook } from './timetable';

/** A run that waits awake. */
export type AwakeRun = ReturnType<typeof beginWatch>;

/** Begins to wait for the tasks of the items that have no error, unless the call has begun to. */
export function beginWatch(run: Run) {
	const { call, ledger, errors } = run;
	const settings = ledger.settings as WaitSettings;
	ledger.waitBegan ??= Date.now();
	return Object.assign(run, {
		looks: run.looks ?? new Looks(ledger.entries, settings, errors, identifyTask),
		files: openFiles(call, ledger),
		times: run.times ?? planAwake(Date.now(), findWaitEnd(ledger), call.deadline),
	});
}

/**
 * Waits awake: looks at all tasks together until they have ended, the limit passes, the execution is
 * stopped, or n8n would soon end it. Then it waits for the files.
 */
export async function watch(given: Run): Promise<void> {
	const run = beginWatch(given);
	const { looks, times } = run;
	await keepLooking(run, times.lastLook);
	// A task may have ended whose last look failed: it is asked for again while there is time.
	await keepLooking(run, planLastLook(Date.now(), times.end), () => looks.failedKeys);
	const download = async (key: string) => await downloadFiles(run, key, ['failed', 'pending']);
	await Promise.all(looks.keys.map(download));
}

/**
 * Downloads the files of a task into n8n's storage, if it has completed.
 * @param failures the states of another task after which the run ends with an error, so that no file
 *   is of use
 */
async function downloadFiles(run: AwakeRun, key: string, failures = ['failed']): Promise<void> {
	const { call, ledger, looks, files } = run;
	const settings = ledger.settings as WaitSettings;
	const { downloads } = settings;
	const { item = 0 } = looks.find(key);
	const entry = ledger.entries[item] as Entry;
	const attempt = findTask(entry);
	if (!downloads || attempt?.end?.status !== 'completed' || looks.keyOf(entry) !== key) return;
	const mayEnd = call.stopsOnError && isErrorIfFailed(run);
	if (mayEnd && ledger.entries.some((one) => failures.includes(statusOf(one)))) return;
	const task = describeTask(entry, attempt);
	const links = listTaskLinks(task, ['result']);
	if (!links.length) return;
	await files.downloadOnce(key, task, {
		call,
		settings,
		getService: async () => await run.getService(item),
		links,
		maxBytes: downloads.maxBytes ?? Infinity,
		item,
		words: entry.request?.words,
	});
}

/**
 * Looks with growing pauses, the longest ones while the service refuses requests for their rate.
 * @param list lists the tasks to look at; default: those that have not ended
 * @param first the pause before the first look
 */
export async function keepLooking(
	run: AwakeRun,
	lastLook: number,
	list = () => run.looks.pendingKeys,
	first?: number,
): Promise<void> {
	const { call, looks, times, getService } = run;
	const isOver = () => Date.now() >= times.end || call.signal?.aborted === true;
	const inTime = async (work: Promise<void>) =>
		await settleBy(times.end, untilAborted(work, call.signal)).catch(() => undefined);
	const onAnswer = (key: string) => {
		if (!isOver()) void downloadFiles(run, key);
		return isOver();
	};
	const pauses = growPauses(PAUSES_AWAKE);
	let length = first ?? pauses.next().value;
	let at = -Infinity;
	while (list().length && at < lastLook && !isOver()) {
		at = Math.min(Date.now() + length, lastLook);
		await inTime(pause(at - Date.now()));
		if (!isOver()) await inTime(looks.look(list(), getService, onAnswer));
		length = isTooFast(looks.failure) ? PAUSES_AWAKE.longest : pauses.next().value;
	}
}
