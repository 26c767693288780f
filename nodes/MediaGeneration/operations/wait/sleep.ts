import type { IExecuteFunctions, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import type { Credentials } from '../../api/endpoints';
import { readParked, readStoredItems, storeItems } from '../../host/parking';
import { STORED_WAIT, type RunRecord, type Wait } from '../record';
import type { WaitSettings } from './looker';
import { findWaiting, WaitingExecution, type StoredWait } from './waiting';

/**
 * When n8n ends a wait by itself, after the wait limit, in milliseconds. It looks every 60 seconds for
 * waits that end within 70, and sets a timer that it does not clear when a webhook resumes the
 * execution; the timer would end the next wait of the execution (`wait-tracker.js`, 2.41.1). So no
 * webhook resumes an execution from `LAST_RESUME` after the limit on, and timers come later than that.
 */
export const N8N_ENDS_AFTER = 100_000;
export const LAST_RESUME = 28_000;

/** How an execution sleeps. */
export interface Sleep {
	wait: Wait<WaitSettings>;
	/** The wait limit, in milliseconds since 1970. */
	until: number;
	/** With n8n's token. */
	resumeUrl: string;
	credentials: Credentials;
}

/** Identifies an execution that sleeps at a node, among all in this process. */
const identifySleep = (executionId: string, node: string): string => `${executionId} ${node}`;

/** Parks the execution until a webhook resumes it with other items, or until the limit has passed. */
export async function fallAsleep(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
	{ wait, until, resumeUrl, credentials }: Sleep,
): Promise<void> {
	const { origin, pathname } = new URL(resumeUrl);
	await context.putExecutionToWait(new Date(until + N8N_ENDS_AFTER));
	storeItems(context, items);
	Object.assign(wait, { parkedUntil: until, resumeUrl: origin + pathname });
	const { name } = context.getNode();
	const executionId = context.getExecutionId();
	const label = `"${name}" (execution ${executionId})`;
	const stored = { items, settings: wait.settings, until };
	const tools = { url: resumeUrl, credentials, logger: context.logger, label };
	new WaitingExecution(identifySleep(executionId, name), stored, tools);
}

/** Finds the wait of a task, as this process knows it, or as n8n has stored it. */
export function findSleeping(
	context: IWebhookFunctions,
	taskId: string,
	credentials: Credentials,
): WaitingExecution | undefined {
	const executionId = context.getExecutionId();
	const { name } = context.getNode();
	const key = identifySleep(executionId, name);
	const known = findWaiting(key);
	if (known?.looker.batch.has(taskId)) return known;
	// A copy of a callback for an earlier wait of this execution changes nothing.
	const stored = readStoredWait(context);
	if (!stored || !stored.items.some(({ json }) => json.taskId === taskId)) return undefined;
	const query = new URLSearchParams(context.getQueryData() as Record<string, string>);
	const url = `${stored.resumeUrl}?${query.toString()}`;
	const label = `"${name}" (execution ${executionId})`;
	return new WaitingExecution(key, stored, { url, credentials, logger: context.logger, label });
}

/** Reads back what `fallAsleep` stored. */
export function readStoredWait(
	context: IWebhookFunctions,
): (StoredWait & Pick<Wait<unknown>, 'resumeUrl'>) | undefined {
	const { items, entry } = readParked<Wait<WaitSettings>>(context, STORED_WAIT);
	if (entry?.parkedUntil === undefined) return undefined;
	return { items, settings: entry.settings, until: entry.parkedUntil, resumeUrl: entry.resumeUrl };
}

/**
 * Parks a run again that has parked before: with Retry On Fail, n8n runs a node again if its first
 * output item has an error, even if it has parked. The parked items have replaced the input, so no
 * expressions are read.
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
