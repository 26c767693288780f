import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Credentials } from '../../api/endpoints';
import { readStoredItems, storeItems } from '../../host/parking';
import type { RunRecord, Wait } from '../record';
import type { WaitSettings } from './looker';
import { WaitingExecution } from './waiting';

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
export const identifySleep = (executionId: string, node: string): string =>
	`${executionId} ${node}`;

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
	// n8n empties the array that the node returns, where its errors have an output of their own.
	const stored = { items: [...items], settings: wait.settings, until };
	const tools = { url: resumeUrl, credentials, logger: context.logger, label };
	new WaitingExecution(identifySleep(executionId, name), stored, tools);
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
