import type { IExecuteFunctions } from 'n8n-workflow';
import { getRunNotes, readExecutionId } from '../nodeContext';
import { findParked } from './park';

/** Kept in the node's context, so that a repeat by n8n continues the same wait. */
interface Wait<Settings> {
	run: number;
	executionId: string;
	settings: Settings;
	/** When all tasks were created, in milliseconds since 1970. Retry On Fail does not restart the limit. */
	begun?: number;
}

/**
 * Opens the wait of a run, or the one of an earlier try. The latter reads no expressions, because the data they refer to may be
 * gone.
 * @param read reads the settings; called only if no earlier try has read them
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
	// If the run had parked, the retry's input is the parked items.
	const settings = before && findParked(context) ? before.settings : read();
	kept.wait = { run, executionId, settings };
	return kept.wait;
}
