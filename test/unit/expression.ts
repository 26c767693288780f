import {
	Workflow,
	type INodeExecutionData,
	type INodeTypes,
	type IRunExecutionData,
	type NodeParameterValueType,
} from 'n8n-workflow';

interface Circumstances {
	/** The first node's parameter is evaluated. */
	nodes?: string[];
	/** What has run. */
	data?: IRunExecutionData | null;
	input?: INodeExecutionData[];
}

/** Evaluates a parameter as n8n does before a node sees it. */
export function evaluate(
	value: unknown,
	{ nodes = ['A'], data = null, input = [] }: Circumstances = {},
): unknown {
	const rest = { type: 'any', typeVersion: 1, position: [0, 0] as [number, number] };
	const type = { description: { properties: [] } };
	const workflow = new Workflow({
		nodes: nodes.map((name) => ({ ...rest, id: name, name, parameters: {} })),
		connections: {},
		active: false,
		nodeTypes: { getByNameAndVersion: () => type } as unknown as INodeTypes,
	});
	const parameter = value as NodeParameterValueType;
	return workflow.expression.getParameterValue(
		parameter,
		data,
		0,
		0,
		String(nodes[0]),
		input,
		'manual',
		{},
	);
}
