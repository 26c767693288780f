import type { IExecuteFunctions } from 'n8n-workflow';
import { getRunNotes, readExecutionId } from '../nodeContext';
import { findParked } from './park';

/** Kept in the node's context, so that a repeat by n8n goes on with the same wait. */
interface Wait<Settings> {
	run: number;
	executionId: string;
	settings: Settings;
	/** When all tasks were created, in milliseconds since 1970. Retry On Fail does not begin the limit anew. */
	begun?: number;
}

/**
 * Opens the wait of a run, or the one that an earlier try of it has opened: that asks nothing of expressions, which may have
 * lost what they refer to.
 * @param read reads the settings; it is asked only where no earlier try has read them
 */
export function openWait<Settings>(
	context: IExecuteFunctions,
	read: () => Settings,
): Wait<Settings> {
	const kept = getRunNotes(context) as { wait?: Wait<Settings> };
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	const executionId = readExecutionId(context);
	const before = kept.wait?.run === run ? kept.wait : undefined;
	if (before?.executionId === executionId) return before;
	// The input of a retry is what the run had parked then.
	const settings = before && findParked(context) ? before.settings : read();
	kept.wait = { run, executionId, settings };
	return kept.wait;
}
