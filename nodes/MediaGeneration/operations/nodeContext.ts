import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';

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
