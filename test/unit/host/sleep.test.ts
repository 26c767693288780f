import {
	createRunExecutionData,
	type IExecuteFunctions,
	type INodeExecutionData,
	type IWebhookFunctions,
} from 'n8n-workflow';
import {
	readParked,
	readStoredItems,
	storeItems,
} from '../../../nodes/MediaGeneration/host/parking';
import { evaluate } from '../expression';

const parked = [{ json: { taskId: 'a' } }, { json: { taskId: 'b' } }];

it('the items that n8n stores replace the input of the node, and are a copy', () => {
	const data: { main?: INodeExecutionData[][] } = {};
	const context = { getExecuteData: () => ({ data }) } as unknown as IExecuteFunctions;
	expect(readStoredItems(context)).toEqual([]);
	const items = [...parked];
	storeItems(context, items);
	items.pop();
	readStoredItems(context).pop();
	expect(readStoredItems(context)).toEqual(parked);
	expect(data.main).toEqual([parked]);
});

it.each(['Node', `The client's "films" {{ \\ }}`])(
	'a webhook of a node named %s reads what is parked, and the entry',
	(name) => {
		const wait = { settings: {} };
		const data = createRunExecutionData({
			executionData: { contextData: { [`node:${name}`]: { run: { wait } } } },
		});
		const read = (path: string) =>
			readParked(
				{
					getNode: () => ({ name }),
					evaluateExpression: (expression: string) =>
						evaluate(`=${expression}`, { nodes: [name], data, input: parked }),
				} as unknown as IWebhookFunctions,
				path,
			);
		expect(read('run.wait')).toEqual({ items: parked, entry: wait });
		expect(read('other')).toEqual({ items: parked, entry: undefined });
	},
);
