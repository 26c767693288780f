import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

/**
 * Parks the execution until a webhook takes it up with other items, or until the limit passes. n8n does not run the node
 * again when the limit passes: it gives out the node's input items. They are also all that the webhook is shown. So the
 * items that are parked take the place of the input, here and nowhere else, though n8n asks nodes to leave their input
 * alone: it is the only way to lose no task id.
 */
export async function park(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
	until: Date,
): Promise<void> {
	const input = context.getInputData();
	input.splice(0, input.length, ...items);
	await context.putExecutionToWait(until);
}
