/**
 * Gives n8n's HTTP helper another abort signal. With its own, a stop aborts a creation, whose task
 * ID would be lost. The helper reads `this.getExecutionCancelSignal()` (`authentication.js`,
 * 2.41.1), so the context inherits all but that. `e2e/stopAndTimeout` fails first, where it stops
 * executions.
 */
export const withSignal = <Context extends object>(
	context: Context,
	signal: AbortSignal,
): Context =>
	Object.create(context, { getExecutionCancelSignal: { value: () => signal } }) as Context;
