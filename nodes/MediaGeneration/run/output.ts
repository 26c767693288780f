import type { INodeExecutionData } from 'n8n-workflow';
import type { Call } from '../host/call';
import { toErrorItem, toNodeError } from './errors';
import { hasFailed, type Outcome } from './item';
import { findTask, listTaskIds, stateOf, type Entry } from './ledger';
import { fitItems } from './toModel';

/** Throws an error of the run as a whole. @throws it, with On Error "stop" */
export function throwRefusal(call: Call, error: unknown, entries: Entry[] = []): void {
	if (call.stops) throw toNodeError(call, error, listTaskIds(entries));
}

/** @throws with On Error "stop", the error of the first item that has one */
export function throwFirstError(
	call: Call,
	outcomes: Array<object | undefined>,
	entries: Entry[] = [],
): void {
	const index = call.stops ? outcomes.findIndex(hasFailed) : -1;
	const first = outcomes[index];
	if (hasFailed(first)) throw toNodeError(call, first.error, listTaskIds(entries), index);
}

/** Makes the node's output: each item's, paired with it. */
export function toOutput(
	call: Call,
	outcomes: Outcome[],
	entries: Entry[] = [],
): INodeExecutionData[] {
	return outcomes.flatMap((outcome, item) => {
		if (!outcome) return [];
		const entry = entries[item];
		const isUnknown = entry && stateOf(entry) === 'unknown';
		const taskId = entry && !isUnknown ? findTask(entry)?.taskId : undefined;
		if (hasFailed(outcome)) return [toErrorItem(call, outcome.error, item, taskId)];
		const items = fitItems(call, outcome.items) as INodeExecutionData[];
		return call.context.helpers.constructExecutionMetaData(items, { itemData: { item } });
	});
}
