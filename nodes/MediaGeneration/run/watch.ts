import { isTooFast } from '../api/failure';
import { listTaskLinks } from '../api/task';
import { pause, settleBy, untilAborted } from '../lib/timers';
import { openDownloads } from './files/taskFiles';
import { beginWait } from './ledger/changes';
import {
	describeTask,
	type Entry,
	findLimitAt,
	findAttempt,
	identifyTask,
	statusOf,
	type WaitSettings,
} from './ledger/ledger';
import { Looks } from './looks';
import { isErrorIfFailed, type Run } from './run';
import { subtractTimeAtEnd, PAUSES_AWAKE, planLooks, planWait } from './timetable';

/** A run that waits awake. */
export type AwakeRun = ReturnType<typeof beginWatch>;

/** Begins to wait for the tasks of the items that have no error. */
export function beginWatch(run: Run) {
	const { call, ledger, errors } = run;
	const settings = ledger.settings as WaitSettings;
	beginWait(ledger);
	return Object.assign(run, {
		looks: new Looks(ledger.entries, settings, errors, identifyTask),
		files: openDownloads(call, ledger),
		times: planWait(findLimitAt(ledger), call.doneBy),
	});
}

/**
 * Looks at all tasks together until they have ended, the limit passes, the execution is stopped, or
 * n8n would soon end the execution. Then waits for the files.
 */
export async function watch(run: AwakeRun): Promise<void> {
	const { looks, times } = run;
	await keepLooking(run, times.lastLookAt);
	// A task whose last look failed may have ended, so it is looked at again while there is time.
	await keepLooking(run, subtractTimeAtEnd(times.looksBy), () => looks.keysToLookAgain);
	await Promise.all(looks.keys.map(async (key) => await downloadFiles(run, key)));
}

/**
 * Downloads the files of a task into n8n's storage, if it has completed. If another task has failed, the
 * run may end with an error, and then nobody gets the file.
 */
async function downloadFiles(run: AwakeRun, key: string): Promise<void> {
	const { call, ledger, looks, files } = run;
	const settings = ledger.settings as WaitSettings;
	const { downloads } = settings;
	const { item = 0 } = looks.find(key);
	const entry = ledger.entries[item] as Entry;
	const attempt = findAttempt(entry);
	// Only the task that counts for its item is downloaded: two processes may have created one each.
	if (!downloads || attempt?.end?.status !== 'completed' || looks.keyOf(entry) !== key) return;
	const endsOnFailure = call.stopsOnError && isErrorIfFailed(run);
	if (endsOnFailure && ledger.entries.some((other) => statusOf(other) === 'failed')) return;
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
 * Looks with growing pauses, the longest ones while the service rejects requests for their rate.
 * @param lastLookAt if it has passed, there is one look at each task
 * @param list lists the tasks to look at; default: those that have not ended
 */
export async function keepLooking(
	run: AwakeRun,
	lastLookAt: number,
	list = () => run.looks.pendingKeys,
): Promise<void> {
	const { call, looks, times, getService } = run;
	const mayLook = () => Date.now() < times.looksBy && !call.signal?.aborted;
	const settleInTime = async (work: Promise<void>) =>
		await settleBy(times.looksBy, untilAborted(work, call.signal)).catch(() => undefined);
	const afterEach = (key: string) => {
		if (mayLook()) void downloadFiles(run, key);
		return !mayLook();
	};
	for (const at of planLooks(PAUSES_AWAKE, lastLookAt, () => isTooFast(looks.firstLookFailure))) {
		if (!list().length || !mayLook()) return;
		await settleInTime(pause(at - Date.now()));
		if (mayLook()) await settleInTime(looks.look(list(), getService, afterEach));
	}
}
