import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Parking } from '../operation';

/** Kept in the node's context while its execution is parked. */
export interface Parked {
	run: number;
	executionId: string;
	/** Milliseconds since 1970. */
	until: number;
	settings?: object;
}

/**
 * Parks the execution until a webhook takes it up with other items, or until the limit passes. n8n does not run the node
 * again then: when the limit passes it outputs the node's input, and the webhook sees nothing but that input. So the parked items
 * take its place, in the data that n8n stores. (`getInputData()` is a copy of it under Execute Once.) n8n asks nodes to leave their input
 * alone; it is the only way to lose no task ID, so it happens here alone, when nothing can fail any more.
 */
export async function park(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
	{ until, settings }: Parking,
): Promise<void> {
	context.getExecuteData().data.main = [[...items]];
	context.getContext('node').parked = {
		run: context.getWorkflowDataProxy(0).$runIndex as number,
		executionId: context.getExecutionId(),
		until: until.getTime(),
		settings,
	} satisfies Parked;
	await context.putExecutionToWait(until);
}

/**
 * Parks a run again that has parked before, without asking anything of expressions, as the parked items stand in place of its
 * input. With Retry On Fail, n8n runs a node again whose first output item has an error, though it has parked.
 * @returns the parked items; undefined for a run that has not parked
 */
export async function parkAgain(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[] | undefined> {
	const { parked } = context.getContext('node') as { parked?: Parked };
	if (
		!parked ||
		parked.run !== context.getWorkflowDataProxy(0).$runIndex ||
		parked.executionId !== context.getExecutionId()
	)
		return undefined;
	await context.putExecutionToWait(new Date(parked.until));
	return [...(context.getExecuteData().data.main?.[0] ?? [])];
}
