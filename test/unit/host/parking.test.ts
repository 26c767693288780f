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

describe('the items that n8n stores', () => {
	/** A run whose input n8n will store. */
	const buildRun = (main: INodeExecutionData[][]) => {
		const data = { data: { main } };
		return { data, context: { getExecuteData: () => data } as unknown as IExecuteFunctions };
	};

	it("replace the node's input, and are a copy", () => {
		const { data, context } = buildRun([[{ json: {} }]]);
		const items = [...parked];
		storeItems(context, items);
		items.pop();
		expect(data.data.main).toEqual([parked]);
		readStoredItems(context).pop();
		expect(readStoredItems(context)).toEqual(parked);
	});

	it('may be none', () => expect(readStoredItems(buildRun([]).context)).toEqual([]));
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
