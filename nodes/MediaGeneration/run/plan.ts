import type { INodeProperties } from 'n8n-workflow';
import { buildDoubt, type UnknownOutcome } from '../api/failure';
import { checkItems, hasFailed, readItem, type CreateRequest, type Item } from './item';
import {
	adopt,
	isToSend,
	noteRequest,
	stateOf,
	type Entry,
	type Ledger,
	type RunSettings,
} from './ledger';
import type { Run } from './run';
import { findUnknownCall } from './shared';

/** What an operation that creates tasks has a run do. */
export interface Job {
	fields: INodeProperties[];
	/** Turns an item into a request. @throws {UserError} for a field or file that can't be sent */
	request: (item: Item) => Promise<CreateRequest>;
	/** Reads how the run waits, with the expressions of its first item; absent: it doesn't wait. */
	readSettings?: (item: Item) => RunSettings;
}

/** A task to create. */
export interface Plan {
	item: Item;
	request: CreateRequest;
	/** How many tasks the item has before. */
	attempts: number;
	/** Present once its creation counts as of unknown outcome, which may still end. */
	doubt?: UnknownOutcome;
}

/**
 * Finds out what is to be sent for the items. An item whose task exists needs none, save where it
 * failed and n8n tries it again. All items are checked before anything is sent for any.
 */
export async function planRun(run: Run, job: Job): Promise<Plan[]> {
	const checked = await checkItems(run.call, async (index) => await planItem(run, job, index));
	const plans: Plan[] = [];
	for (const [index, one] of checked.entries()) {
		if (one && hasFailed(one)) run.errors.set(index, one.error);
		else if (one) plans.push(one);
	}
	return plans;
}

async function planItem(
	run: Run,
	{ fields, request }: Job,
	index: number,
): Promise<Plan | undefined> {
	const { call, ledger } = run;
	const entry = ledger.entries[index] as Entry;
	const own = stateOf(entry) === 'unknown' ? entry.unknown : undefined;
	const unknown = own ?? findUnknownCall(call, ledger.shared, index);
	if (unknown) throw buildDoubt(unknown);
	const attempts = entry.attempts.length;
	const getService = async () => await run.getService(index);
	// A run that may sleep reads the credential now, so that its error is the item's. Other
	// expressions aren't read again: they may return another value than before.
	if (attempts) await getService();
	if (!isToSend(entry, call.tries)) return undefined;
	const item = await readItem(call, fields, index, getService);
	return { item, request: await request(item), attempts };
}

/**
 * Takes the task over that the execution which this one retries has created for the same request.
 * It stays the task of the item, whatever its expressions return at the next try.
 * @returns false if there is none
 */
export function adoptEarlier({ ledger }: Run, plan: Plan): boolean {
	const { item, request, attempts } = plan;
	const before = ledger.earlier?.[item.index];
	if (attempts || !before?.attempts.length || stateOf(before) === 'unknown') return false;
	// Another call of the run may have done so, and have gone on.
	if (wasSent(ledger, plan)) return true;
	const noted = noteRequest(request);
	if (before.request?.digest !== noted.digest) return false;
	const entry = ledger.entries[item.index] as Entry;
	entry.request = noted;
	entry.account = item.service.account;
	entry.attempts = adopt(before.attempts);
	return true;
}

/** Says whether a task was sent since it was planned, maybe by another call. */
export function wasSent({ entries }: Ledger, { item, attempts }: Plan): boolean {
	const entry = entries[item.index] as Entry;
	return entry.unknown !== undefined || entry.attempts.length > attempts;
}
