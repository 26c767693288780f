import {
	Workflow,
	type IDataObject,
	type INodeTypes,
	type NodeParameterValueType,
} from 'n8n-workflow';

/** Evaluates a parameter as n8n does before a node sees it, for an item of this JSON. */
export function evaluate(value: unknown, json: IDataObject = {}): unknown {
	const type = { description: { properties: [] } };
	const workflow = new Workflow({
		nodes: [{ id: 'A', name: 'A', type: 'any', typeVersion: 1, position: [0, 0], parameters: {} }],
		connections: {},
		active: false,
		nodeTypes: { getByNameAndVersion: () => type } as unknown as INodeTypes,
	});
	const parameter = value as NodeParameterValueType;
	const items = [{ json }];
	return workflow.expression.getParameterValue(parameter, null, 0, 0, 'A', items, 'manual', {});
}
