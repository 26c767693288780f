import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { buildUnknownError } from '../api/failure';
import type { Call } from '../host/call';
import { prepareItems, type CreationRequest, type Item, readItem } from './input/item';
import { adoptEarlier, type Creation, keepSettings } from './ledger/changes';
import {
	type Entry,
	findUnknownCall,
	findLimitAt,
	isToSend,
	statusOf,
	type WaitSettings,
} from './ledger/ledger';
import { leaveRun, withLock } from './ledger/openLedger';
import { concludeRun } from './output/output';
import { findPending, endsBeforeWait, openRun, type Run } from './run';
import { checkLimits } from './send/guards';
import { sendAll } from './send/send';

/**
 * Runs Generate, or Start Without Waiting, in one call by n8n. n8n may begin anew after any line, for
 * a try, a retry or a wake: each step takes from the ledger what there is, and notes what came of it.
 */
export async function generate(call: Call, setup: CreationSetup): Promise<INodeExecutionData[]> {
	const run = openRun(call);
	try {
		return (await createAndWait(run, setup)) ?? concludeRun(run);
	} finally {
		leaveRun(run);
	}
}

/** @returns what n8n outputs if its own timer ends the sleep; undefined unless the run sleeps */
async function createAndWait(
	run: Run,
	setup: CreationSetup,
): Promise<INodeExecutionData[] | undefined> {
	const { ledger, isWoken } = run;
	try {
		if (!isWoken) await withLock(run, async () => await create(run, setup));
		// Start Without Waiting has no settings: it doesn't wait.
		if (!ledger.settings || endsBeforeWait(run)) return undefined;
		if (maySleep(run)) return await (await import('./sleep/sleep')).fallAsleep(run);
		const { beginWatch, watch } = await import('./watch');
		await watch(beginWatch(run));
	} catch (error) {
		run.fatal ??= { error };
	}
	return undefined;
}

/** Creates the tasks that are missing. */
async function create(run: Run, setup: CreationSetup): Promise<void> {
	if (run.fatal) return;
	const { ledger } = run;
	const prepared = await listCreations(run, setup);
	if (endsBeforeWait(run)) return;
	const [first] = prepared;
	if (first) keepSettings(ledger, () => setup.readSettings?.(first.item));
	// An item that adopts a task needs no creation.
	const creations: Creation[] = [];
	for (const creation of prepared) if (!adoptEarlier(ledger, creation)) creations.push(creation);
	if (ledger.settings) {
		run.decision = await (await import('./sleep/sleep')).decideWait(run, creations);
		// Where the execution sleeps, the service is to call its resume URL.
		for (const { request } of creations) request.callBackUrl = run.decision.resumeUrl;
	}
	await sendAll(run, await checkLimits(run, creations));
}

/** Says whether the execution may sleep, and has a task to wait for. */
function maySleep(run: Run): boolean {
	const { decision, ledger } = run;
	if (decision.resumeUrl === undefined || Date.now() >= findLimitAt(ledger)) return false;
	return findPending(run) >= 0;
}

/** What an operation gives to a run that creates tasks. */
export interface CreationSetup {
	fields: INodeProperties[];
	/** Turns an item into a request. @throws {UserError} for a field or file that can't be sent */
	buildRequest: (item: Item) => Promise<CreationRequest>;
	/** Reads how the run waits, with the expressions of its first item; absent: it doesn't wait. */
	readSettings?: (item: Item) => WaitSettings;
}

/**
 * Finds out what is to be sent for the items. An item whose task exists needs none, save where it
 * failed and n8n tries it again. All items are checked before anything is sent for any.
 */
async function listCreations(run: Run, setup: CreationSetup): Promise<Creation[]> {
	const checked = await prepareItems(
		run.call,
		async (index) => await prepareCreation(run, setup, index),
	);
	const creations: Creation[] = [];
	for (const [index, creation] of checked.entries()) {
		if (!creation) continue;
		if ('error' in creation) run.errors.set(index, creation.error);
		else creations.push(creation);
	}
	return creations;
}

async function prepareCreation(
	run: Run,
	{ fields, buildRequest }: CreationSetup,
	index: number,
): Promise<Creation | undefined> {
	const entry = run.ledger.entries[index] as Entry;
	const unknownOfItem = statusOf(entry) === 'unknown' ? entry.unknown : undefined;
	// An agent may have asked for the same in a call before this one.
	const unknown = unknownOfItem ?? findUnknownCall(run, index);
	if (unknown) throw buildUnknownError(unknown);
	const getService = async () => await run.getService(index);
	// The task exists. Its credential is read all the same, so that an error of the credential becomes an
	// error of this item. Other expressions aren't evaluated again: they may return something else by now.
	if (entry.attempts.length) await getService();
	if (!isToSend(entry, run.call.mostTries)) return undefined;
	const item = await readItem(run.call, fields, index, getService);
	return { item, request: await buildRequest(item) };
}
