import type { IExecuteFunctions } from 'n8n-workflow';
import { readMcpDeadline } from './mcpCall';

/** What n8n's context of a run has beside its functions (2.14.2 to 2.41.1). */
interface ContextFields {
	additionalData?: { executionTimeoutTimestamp?: number };
}

/**
 * Says when n8n ends the execution if it is awake, or nobody waits for its answer any longer, in
 * milliseconds since 1970; Infinity: never.
 * Settings have the workflow's own timeout only. A field of the context has the deadline by all
 * timeouts. Without the field, the timeout counts from now. `e2e/stopAndTimeout` fails first. After
 * a wait that n8n itself ended, n8n may end it earlier, and no field says so.
 */
export function readDeadline(context: IExecuteFunctions): number {
	const { additionalData } = context as unknown as ContextFields;
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	const timeout = executionTimeout > 0 ? executionTimeout * 1_000 : Infinity;
	const n8nEnds = additionalData?.executionTimeoutTimestamp ?? Date.now() + timeout;
	return Math.min(n8nEnds, readMcpDeadline(context));
}
