import type { IExecuteFunctions } from 'n8n-workflow';

/** What n8n's context of a run has beside its functions (2.14.2 to 2.41.1). */
interface ContextFields {
	additionalData?: { executionTimeoutTimestamp?: number };
	instanceSettings?: { instanceType?: string };
}

/** A run that began this long after its execution has slept before, in milliseconds. */
const SLEPT = 5_000;

/**
 * Says when n8n ends the execution if it is awake, in milliseconds since 1970; Infinity: never.
 * Settings have the workflow's own timeout only. A field of the context has the deadline by all
 * timeouts. Without the field, the timeout counts from now. `e2e/runs` fails first.
 */
export function readDeadline(context: IExecuteFunctions): number {
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	const timeout = executionTimeout > 0 ? executionTimeout * 1_000 : Infinity;
	const { additionalData } = context as unknown as ContextFields;
	const told = additionalData?.executionTimeoutTimestamp ?? Date.now() + timeout;
	return Math.min(told, countFromStart(context, timeout));
}

/**
 * After a wait that n8n itself ended, in regular mode its timeout counts the time slept too
 * (`wait-tracker.js`, 2.41.1). No field tells who ended it, so the earlier deadline counts.
 */
function countFromStart(context: IExecuteFunctions, timeout: number): number {
	const { additionalData, instanceSettings } = context as unknown as ContextFields;
	const { establishedAt } = context.getExecutionContext?.() ?? {};
	const end = additionalData?.executionTimeoutTimestamp;
	if (establishedAt === undefined || end === undefined) return Infinity;
	const hasSlept = end - timeout - establishedAt > SLEPT;
	return hasSlept && instanceSettings?.instanceType === 'main' ? establishedAt + timeout : Infinity;
}
