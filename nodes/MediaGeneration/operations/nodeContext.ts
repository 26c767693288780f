import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';

/** Reads the execution's ID. A call of an MCP server has none, and must not count as one that was there before. */
export const readExecutionId = (context: IExecuteFunctions): string =>
	(context.getExecutionId() as string | undefined) ?? '';

/** Recognizes the variant of the node that n8n makes for AI agents. The newest agent runs it like any node. */
export const isToolNode = (context: IExecuteFunctions | IWebhookFunctions): boolean =>
	context.getNode().type.endsWith('Tool');

/** Recognizes a call by an AI agent. */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.isToolExecution() || isToolNode(context);

/**
 * Says whether the first error ends the run. A tool outside of the newest agent never throws: those agents swallow what a tool throws
 * (`AgentExecutor` of LangChain), so that their model would hear nothing.
 */
export const stopsOnError = (context: IExecuteFunctions): boolean =>
	!context.continueOnFail() && !context.isToolExecution();

/**
 * Notes that a call by the newest agent has begun, by its run index: once, however often n8n tries it. n8n keeps the node's context
 * with the execution, also while it sleeps.
 */
export function noteCall(context: IExecuteFunctions): void {
	if (context.isToolExecution() || !isToolNode(context)) return;
	const kept = context.getContext('node') as { calls?: number[] };
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	kept.calls = [...new Set([...(kept.calls ?? []), run])];
}

/**
 * Says whether all calls of the newest agent have begun, and this one has the last run index. n8n notes a run for each call of a turn
 * before the first begins. It begins them in their order; before 2.36, the other way round.
 */
export function isLastCall(context: IExecuteFunctions): boolean {
	const { calls = [] } = context.getContext('node') as { calls?: number[] };
	const { $node, $runIndex } = context.getWorkflowDataProxy(0);
	const { [context.getNode().name]: own } = $node as Record<string, { runIndex: number }>;
	return own?.runIndex === $runIndex && calls.length > ($runIndex as number);
}
