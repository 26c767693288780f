/**
 * Gives n8n's HTTP helper another abort signal. With its own one, stopping the execution aborts
 * every request, a creation too, whose task ID would be lost. The helper reads
 * `this.getExecutionCancelSignal()` (`httpRequestWithAuthentication` of n8n-core:
 * `authentication.js` in 2.41.1, `request-helper-functions.js` in 2.14.2), so the context inherits
 * all but that. `e2e/runs` fails first, where it stops executions.
 */
export const withSignal = <Context extends object>(
	context: Context,
	signal: AbortSignal,
): Context =>
	Object.create(context, { getExecutionCancelSignal: { value: () => signal } }) as Context;
