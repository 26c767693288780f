import type { IExecuteFunctions } from 'n8n-workflow';

/** Recognizes a call by an AI agent. n8n's newest agent runs a tool like any node, by the name of its tool variant. */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.isToolExecution() || context.getNode().type.endsWith('Tool');

/**
 * Says whether the first error ends the run. A tool outside of the newest agent never throws: those agents swallow what a tool throws
 * (`AgentExecutor` of LangChain), so that their model would hear nothing.
 */
export const stopsOnError = (context: IExecuteFunctions): boolean =>
	!context.continueOnFail() && !context.isToolExecution();
