import type { INodeExecutionData } from 'n8n-workflow';
import { markTimedOut, type Task } from '../api/task';
import { readInput, readStoredItems, storeItems } from '../host/sleep';
import { toStoredError } from './errors';
import { logObstacle } from './hints';
import type { Outcome } from './item';
import { findLimit, type Sleep } from './ledger';
import { findNap } from './nap';
import type { Run } from './open';
import { makeOutcomes, toOutput } from './show';
import { N8N_END } from './timetable';

/**
 * Lets the execution sleep until a webhook wakes it.
 * @returns what n8n outputs if it ends the sleep by itself
 */
export async function fallAsleep(run: Run): Promise<INodeExecutionData[]> {
	const { call, ledger, errors, decision } = run;
	const { context } = call;
	logObstacle(context, decision.obstacle);
	ledger.begun ??= Date.now();
	await putToWait(run);
	const outcomes = makeOutcomes(run).map(endUnfinished);
	const items = toOutput(call, outcomes, ledger.entries);
	const stored: Sleep['errors'] = {};
	for (const [item, error] of errors) stored[item] = toStoredError(error);
	ledger.sleep = { number: ++ledger.shared.sleeps, input: readInput(context), errors: stored };
	storeItems(context, items);
	findNap(context, ledger)?.keepNudging();
	return items;
}

/**
 * Sleeps on, in a run that sleeps: with Retry On Fail, n8n runs a node again if its first output
 * item has an error, even if it sleeps. Only a webhook wakes it.
 * @returns the items that n8n has stored
 */
export async function sleepOn(run: Run): Promise<INodeExecutionData[]> {
	await putToWait(run);
	return readStoredItems(run.call.context);
}

const putToWait = async ({ call, ledger }: Run): Promise<void> =>
	await call.context.putExecutionToWait(new Date(findLimit(ledger) + N8N_END));

/** If n8n ends the sleep, a task that has not ended is `timedOut`. */
function endUnfinished(outcome: Outcome): Outcome {
	if (!outcome || !('items' in outcome)) return outcome;
	return {
		items: outcome.items.map((item) => ({ ...item, json: markTimedOut(item.json as Task) })),
	};
}
