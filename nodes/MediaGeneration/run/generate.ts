import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { buildDoubt } from '../api/failure';
import type { Call } from '../host/call';
import { checkItems, type CreateRequest, hasFailed, type Item, readItem } from './input/item';
import { findUnknownCall } from './ledger/here';
import { type Entry, findLimit, isToSend, type RunSettings, stateOf } from './ledger/ledger';
import { adoptEarlier, type Plan } from './ledger/note';
import { inRun, openSettings } from './open';
import { show } from './output/output';
import { endsRun, listWithoutError, type Run } from './run';
import { checkBudget } from './send/budget';
import { sendAll } from './send/send';

/**
 * Runs Generate, or Start Without Waiting, in one call by n8n. n8n may begin anew after any line, for
 * a try, a retry or a wake: each step takes from the ledger what there is, and notes what came of it.
 */
export async function generate(call: Call, job: Job): Promise<INodeExecutionData[]> {
	return await inRun(call, async (run) => {
		const { ledger, isWoken } = run;
		try {
			if (!isWoken) await create(run, job);
			if (ledger.settings && !endsRun(run)) {
				if (fallsAsleep(run)) return await (await import('./sleep/sleep')).fallAsleep(run);
				await (await import('./watch')).watch(run);
			}
		} catch (error) {
			run.refusal ??= { error };
		}
		return show(run);
	});
}

/** Creates the tasks that are missing. */
async function create(run: Run, job: Job): Promise<void> {
	if (run.refusal) return;
	const { ledger } = run;
	const planned = await planRun(run, job);
	if (endsRun(run)) return;
	const [first] = planned;
	if (first) openSettings(run, () => job.readSettings?.(first.item));
	const plans = planned.filter((plan) => !adoptEarlier(ledger, plan));
	if (ledger.settings) await decide(run, plans);
	const allowed = await checkBudget(run, plans);
	const sent = await sendAll(run, allowed);
	// What was taken from the budget but not sent is given back.
	ledger.shared.count -= allowed.length - sent;
}

/** Decides how the run waits. Where it sleeps, the service is to call its resume URL. */
async function decide(run: Run, plans: Plan[]): Promise<void> {
	const { decideWait } = await import('./sleep/sleep');
	run.decision = await decideWait(run, plans);
	for (const { request } of plans) request.callBackUrl = run.decision.resumeUrl;
}

/** Says whether the execution sleeps: it may, and there is something to wait for. */
function fallsAsleep(run: Run): boolean {
	const { decision, ledger } = run;
	if (decision.resumeUrl === undefined || Date.now() >= findLimit(ledger)) return false;
	return listWithoutError(run).some(({ entry }) => stateOf(entry) === 'open');
}

/** What an operation that creates tasks has a run do. */
export interface Job {
	fields: INodeProperties[];
	/** Turns an item into a request. @throws {UserError} for a field or file that can't be sent */
	request: (item: Item) => Promise<CreateRequest>;
	/** Reads how the run waits, with the expressions of its first item; absent: it doesn't wait. */
	readSettings?: (item: Item) => RunSettings;
}

/**
 * Finds out what is to be sent for the items. An item whose task exists needs none, save where it
 * failed and n8n tries it again. All items are checked before anything is sent for any.
 */
async function planRun(run: Run, job: Job): Promise<Plan[]> {
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
