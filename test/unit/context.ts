import type { IExecuteFunctions } from 'n8n-workflow';

/** A run of the node, as far as the tests vary it. */
export interface Run {
	/** The node's context, which n8n keeps with the execution. Null: n8n's Agents run the node without an execution. */
	kept?: object | null;
	run?: number;
	/** A call of an MCP server has none. */
	executionId?: string;
	/** The type of the node. */
	type?: string;
	/** The node's parameters, as its owner set them. */
	parameters?: object;
	/** The tool of an agent that is older than the newest. */
	isTool?: boolean;
	/** The JSON of each input item. */
	input?: object[];
	/** On Error is "continue". */
	goesOn?: boolean;
	/** Ends when the execution is stopped. */
	signal?: AbortSignal;
}

/** Builds what n8n gives to a run, and more of it. */
export function buildContext(
	{
		kept = {},
		run = 0,
		type = 'mediaGeneration',
		parameters = {},
		isTool = false,
		input = [],
		goesOn = false,
		signal,
		...rest
	}: Run = {},
	more: Partial<Record<keyof IExecuteFunctions, unknown>> = {},
) {
	const { executionId } = { executionId: '1', ...rest };
	return {
		getContext() {
			if (!kept) throw new Error('`executionData` is not initialized');
			return kept;
		},
		getExecutionId: () => executionId,
		getExecutionCancelSignal: () => signal,
		getInputData: () => input.map((json) => ({ json })),
		getInstanceId: () => 'instance',
		getNode: () => ({ id: 'node', name: 'Node', type, parameters }),
		getWorkflow: () => ({ id: 'workflow' }),
		getWorkflowDataProxy: () => ({ $runIndex: run }),
		isToolExecution: () => isTool,
		continueOnFail: () => goesOn,
		logger: { info() {}, warn() {} },
		...more,
	} as unknown as IExecuteFunctions;
}
