import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Credentials } from '../../api/endpoints';
import { readStoredItems, storeItems } from '../../host/parking';
import type { RunRecord, Wait } from '../record';
import type { WaitSettings } from './looker';
import { N8N_ENDS_AFTER, openWaiting } from './waiting';

/**
 * Parks the execution until a webhook resumes it with other items, or until the limit has passed.
 * @param access the resume URL, with n8n's token, and the credential, for looks
 */
export async function fallAsleep(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
	{ wait, until }: { wait: Wait<WaitSettings>; until: number },
	access: { url: string; credentials: Credentials },
): Promise<void> {
	const { origin, pathname } = new URL(access.url);
	await context.putExecutionToWait(new Date(until + N8N_ENDS_AFTER));
	storeItems(context, items);
	Object.assign(wait, { parkedUntil: until, resumeUrl: origin + pathname });
	// n8n empties the array that the node returns, where its errors have an output of their own.
	const stored = { items: [...items], settings: wait.settings, until };
	openWaiting(context, stored, access);
}

/**
 * Parks a run again that has parked before: with Retry On Fail, n8n runs a node again if its first
 * output item has an error, even if it has parked.
 * @returns the parked items; undefined for a run that has not parked
 */
export async function sleepAgain(
	context: IExecuteFunctions,
	{ wait }: RunRecord,
): Promise<INodeExecutionData[] | undefined> {
	if (wait?.parkedUntil === undefined) return undefined;
	await context.putExecutionToWait(new Date(wait.parkedUntil + N8N_ENDS_AFTER));
	return readStoredItems(context);
}
