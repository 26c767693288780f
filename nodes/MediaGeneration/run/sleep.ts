import type { INodeExecutionData } from 'n8n-workflow';
import { storeItems } from '../host/sleep';
import { findNext } from './errors';
import { logObstacle } from './hints';
import { findLimit, stateOf, storeOutput, type Sleep } from './ledger';
import { findNap, numberSleep } from './nap';
import { toOutput } from './output';
import type { Run } from './run';
import { makeOutcomes } from './outcome';
import { planAsleep } from './timetable';

/**
 * Lets the execution sleep until a webhook wakes it.
 * @returns what n8n outputs if it ends the sleep by itself
 */
export async function fallAsleep(run: Run): Promise<INodeExecutionData[]> {
	const { call, ledger, errors, decision } = run;
	const { context } = call;
	logObstacle(context, decision.obstacle);
	ledger.begun ??= Date.now();
	const { end } = planAsleep(findLimit(ledger), call.deadline);
	await context.putExecutionToWait(new Date(end));
	const items = toOutput(call, makeOutcomes(toStored(run), true), ledger.entries);
	const stored: Sleep['errors'] = {};
	for (const [item, error] of errors)
		stored[item] = { message: (error as Error).message, description: findNext(error) };
	ledger.sleeps = numberSleep(context, ledger);
	ledger.sleep = { number: ledger.sleeps, end, errors: stored };
	for (const entry of ledger.entries) storeOutput(entry, true);
	const nap = findNap(context, ledger);
	nap?.keepNudging();
	// A run sleeps only where all its items have one credential.
	const open = ledger.entries.findIndex(
		(entry, item) => !errors.has(item) && stateOf(entry) === 'open',
	);
	nap?.lookSoon(ledger, async () => await run.getService(open));
	return storeItems(context, items);
}

/**
 * Failed tasks are stored as On Error says. With Stop, n8n has no way to fail an execution that it
 * wakes itself.
 */
function toStored(run: Run): Run {
	const { call, ledger } = run;
	const { settings } = ledger;
	if (!settings || !call.stops) return run;
	return { ...run, ledger: { ...ledger, settings: { ...settings, failedTasks: 'output' } } };
}
