import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { readHints, readInput, readStoredItems, storeItems } from '../../../host/sleep';
import type { RunRecord, Sleep } from '../../record';
import type { WaitSettings } from '../looker';
import { N8N_END } from '../timetable';
import type { Access } from './nudge';
import { openSleeper } from './sleepers';

interface FallingAsleep {
	/** What n8n outputs if it ends the sleep by itself. */
	items: INodeExecutionData[];
	sleep: Pick<Sleep, 'until' | 'failures' | 'obstacle'>;
	access: Access;
}

/** Lets the execution sleep until a webhook wakes it. */
export async function fallAsleep(
	context: IExecuteFunctions,
	record: RunRecord,
	{ items, sleep, access }: FallingAsleep,
): Promise<void> {
	await context.putExecutionToWait(new Date(sleep.until + N8N_END));
	const input = readInput(context);
	storeItems(context, items);
	const kept = { input, hints: readHints(context), ...sleep };
	const run = record.sleep<WaitSettings>(kept);
	openSleeper(context, run, access);
}

/**
 * Sleeps on, in a run that sleeps: with Retry On Fail, n8n runs a node again if its first output
 * item has an error, even if it sleeps. Only a webhook wakes it.
 * @returns the items that n8n has stored; undefined for a run that does not sleep
 */
export async function sleepOn(
	context: IExecuteFunctions,
	{ asleep }: RunRecord,
): Promise<INodeExecutionData[] | undefined> {
	if (!asleep) return undefined;
	await context.putExecutionToWait(new Date(asleep.until + N8N_END));
	return readStoredItems(context);
}
