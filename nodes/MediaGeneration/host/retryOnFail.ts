import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * How often n8n tries a node at most: once without Retry On Fail. n8n counts from the start again
 * when it wakes an execution that slept, so that whoever pays in each try counts too
 * (`getRetryParams` in `workflow-execute.js`, 2.14.2, 2.41.1). `e2e/failedTasks` fails first.
 */
export function readMostTries(context: IExecuteFunctions): number {
	const { retryOnFail, maxTries } = context.getNode();
	return retryOnFail ? Math.min(5, Math.max(2, maxTries || 3)) : 1;
}
