import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { getRunNotes, readExecutionId } from '../nodeContext';
import type { Parking } from '../operation';
import { startLooks } from './looks';

/**
 * The time after the wait limit when n8n continues the execution by itself, with the parked items, in milliseconds. This happens if
 * no look arrives at the limit. Until then, looks can deliver the tasks and their files.
 */
export const FALLBACK_AFTER = 30_000;

/** Kept in the node's context while its execution is parked. */
export interface Parked {
	run: number;
	executionId: string;
	/** The wait limit, in milliseconds since 1970. */
	until: number;
	/** Where looks are sent, without the token, which n8n keeps. */
	resumeUrl: string;
}

/**
 * Parks the execution until a webhook resumes it with other items, or until the limit has passed. n8n doesn't run the node again
 * then: it outputs the node's input, and the webhook sees only that input (`handleWaitingState` in `workflow-execute.js` of
 * n8n-core, in 2.14.2 and 2.41.1; the latter excepts an entry with `resumeError`). So the parked items replace the input in the
 * data that n8n stores. (`getInputData()` is a copy of it under Execute Once.) n8n asks nodes not to change their input, but no
 * other way keeps all task IDs. So only this function does it, after everything that can fail. If n8n changes this,
 * `e2e/createAndWait` fails first.
 * @returns why n8n does not park it, and then nothing is changed; undefined if it will
 */
export async function park(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
	{ until, look }: Parking,
): Promise<string | undefined> {
	const executeData = context.getExecuteData();
	const notes = getRunNotes(context);
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	const executionId = readExecutionId(context);
	const { origin, pathname } = new URL(look.url);
	try {
		await context.putExecutionToWait(new Date(until + FALLBACK_AFTER));
	} catch (error) {
		// n8n notes the time before it fails, and would still park the execution.
		await context.putExecutionToWait(undefined as unknown as Date).catch(() => {});
		return `n8n could not put the execution to sleep: ${(error as Error).message}`;
	}
	executeData.data.main = [[...items]];
	notes.parked = { run, executionId, until, resumeUrl: origin + pathname } satisfies Parked;
	startLooks(identifyWait(executionId, context.getNode().name), { ...look, until });
	return undefined;
}

/** Identifies an execution that waits at a node, among all in this process. */
export const identifyWait = (executionId: string, node: string): string => `${executionId} ${node}`;

/**
 * Parks a run again that has parked before. It reads no expressions, because the parked items have replaced the input. With Retry
 * On Fail, n8n runs a node again if its first output item has an error, even if it has parked.
 * @returns the parked items; undefined for a run that has not parked
 */
export async function parkAgain(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[] | undefined> {
	const parked = findParked(context);
	if (parked?.executionId !== readExecutionId(context)) return undefined;
	await context.putExecutionToWait(new Date(parked.until + FALLBACK_AFTER));
	return [...(context.getExecuteData().data.main?.[0] ?? [])];
}

/** Finds what this run has parked, in this execution or in the one that it retries. */
export function findParked(context: IExecuteFunctions): Parked | undefined {
	const { parked } = getRunNotes(context) as { parked?: Parked };
	return parked?.run === context.getWorkflowDataProxy(0).$runIndex ? parked : undefined;
}
