import type { IExecuteFunctions } from 'n8n-workflow';

/** Recognizes a call by an AI agent. n8n's newest agent runs a tool like any node, by the name of its tool variant. */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.isToolExecution() || context.getNode().type.endsWith('Tool');
