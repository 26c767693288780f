import type { IExecuteFunctions } from 'n8n-workflow';
import { getNodeContext, isMixedUp, showInExecution } from '../host/execution';
import { readMostTries } from '../host/retryOnFail';
import { NODE_NAME } from '../lib/brand';
import { RunRecord } from '../operations/record/runRecord';
import { catchUp, findRunHere, noteRunHere } from './here';
import { openShared } from './shared';
import { beginRecord, readRecord, storeRecord, type StoredRecord } from './ledger';

/**
 * Opens the record of a run, once for each try: building it reads n8n's data proxy, which is slow.
 * @throws {UserError} when another version of the package has stored it
 */
export function openRecord(context: IExecuteFunctions): RunRecord {
	// What n8n keeps under the number of a call that it mixes up is another call's.
	const kept = isMixedUp(context) ? undefined : getNodeContext(context);
	const stored = continueRecord(readRecord(kept), context);
	if (kept) storeRecord(kept, stored);
	const turns = noteRunHere(context, stored);
	const record = new RunRecord(context, stored, turns, readMostTries(context));
	const show = () => showTaskIds(context, record);
	context.getExecutionCancelSignal()?.addEventListener('abort', show, { once: true });
	return record;
}

function showTaskIds(context: IExecuteFunctions, record: RunRecord): void {
	const taskIds = record.listTaskIds().join(', ');
	if (taskIds) showInExecution(context, `${NODE_NAME.replace(/\W+/g, '_')}_tasks`, taskIds);
}

/** Continues the record of another try, begins the one of a retry, or a new one. */
function continueRecord(
	before: StoredRecord | undefined,
	context: IExecuteFunctions,
): StoredRecord {
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	// A call of an MCP server has no execution ID, and must not look like an earlier execution.
	const executionId = (context.getExecutionId() as string | undefined) ?? '';
	const isSameExecution = before?.executionId === executionId;
	if (isSameExecution && before.run === run) {
		catchUp(context, before);
		return before;
	}
	const here = findRunHere(context, { executionId, run });
	if (here) return here;
	const shared = isSameExecution ? before.shared : openShared(context);
	const isRetry = !isSameExecution && before?.run === run;
	const earlier = isRetry ? { ...before.earlier, ...before.sent } : undefined;
	return beginRecord({ executionId, run }, { shared, earlier });
}
