import { NodeHelpers, type INodeProperties } from 'n8n-workflow';
import { MediaGeneration } from '../../../../nodes/MediaGeneration/MediaGeneration.node';
import { createAndWait } from '../../../../nodes/MediaGeneration/operations/task/createAndWait';

const { options = [] } = createAndWait.fields.find(({ name }) => name === 'options') ?? {};
const limits = options.filter(({ name }) => name === 'toolWaitLimit') as INodeProperties[];
const { description } = new MediaGeneration();
const tool = { ...description, name: `${description.name}Tool` };
const node = { typeVersion: 1.1 };

describe("'Agent Wait (Minutes)'", () => {
	it.each([
		['is not offered outside of tools', description, ['hidden']],
		['is offered to tools', tool, ['number']],
	])('%s', (_, type, expected) => {
		const shown = limits.filter((limit) => NodeHelpers.displayParameter({}, limit, node, type));
		expect(shown.map((limit) => limit.type)).toEqual(expected);
	});

	it.each([description, tool])('stays where a workflow has a value: %#', (type) => {
		const values = { options: { toolWaitLimit: 2 } };
		const kept = NodeHelpers.getNodeParameters(type.properties, values, true, false, node, type);
		expect(kept).toMatchObject(values);
	});
});
