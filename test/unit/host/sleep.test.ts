import {
	createRunExecutionData,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { enableNode, readNodeContext, storeItems } from '../../../nodes/MediaGeneration/host/sleep';
import { fake } from '../n8n';

const toItems = (names: string[]): INodeExecutionData[] =>
	names.map((name) => ({ json: { name } }));

/** A run with these items as its input. n8n gives it the first one under Execute Once. */
function newRun(names: string[], executeOnce = false) {
	const data = { main: [toItems(names)] };
	const [stored = []] = data.main;
	const given = executeOnce ? stored.slice(0, 1) : stored;
	const context = fake<IExecuteFunctions>({
		getExecuteData: () => ({ data }),
		getInputData: () => given,
		getNode: () => ({ executeOnce }),
	});
	return { context, data, stored, given };
}

it('the items that n8n stores are a copy in place of the input', () => {
	const { context, data } = newRun(['a', 'b']);
	const error = { json: { error: 'Refused', message: 'Correct it' }, pairedItem: { item: 1 } };
	const returned = storeItems(context, [...toItems(['task']), error]);
	const moved = { json: {}, error: { message: 'Refused. Correct it' }, pairedItem: { item: 1 } };
	expect(returned).toEqual([...toItems(['task']), moved]);
	// n8n changes what the node returns.
	for (const item of returned.splice(0)) item.json = {};
	expect(data.main).toEqual([[...toItems(['task']), moved]]);
});

/** A webhook of a node, with what n8n has read of the execution. */
function newWebhook(more: object) {
	const runExecutionData = createRunExecutionData(more);
	const getNode = () => ({ name: 'Node' });
	return fake<IWebhookFunctions>({ getNode, runExecutionData });
}

it('a webhook reads and changes what n8n keeps for its node', () => {
	const entry = { run: {} };
	const contextData = { 'node:Node': entry, 'node:Other': {} };
	expect(readNodeContext(newWebhook({ executionData: { contextData } }))).toBe(entry);
});

it('a webhook enables the node that n8n has disabled, and no other', () => {
	const nodes = ['Node', 'Other'].map((name) => ({ name, disabled: true }) as INode);
	const nodeExecutionStack = nodes.map((node) => ({ node, data: { main: [] }, source: null }));
	enableNode(newWebhook({ executionData: { nodeExecutionStack } }));
	expect(nodes.map(({ disabled }) => disabled)).toEqual([false, true]);
});

it('a webhook takes out the whole input, also of a node that sleeps twice or is executed once', () => {
	const { context, data } = newRun(['a', 'b'], true);
	storeItems(context, toItems(['task']));
	storeItems(context, toItems(['another']));
	const entry = { node: { name: 'Node' } as INode, data, source: null };
	const nodeExecutionStack = [entry];
	const webhook = newWebhook({ executionData: { nodeExecutionStack } });
	expect(enableNode(webhook)).toEqual([toItems(['a', 'b'])]);
	expect(entry.data).toEqual({ main: [toItems(['another'])] });
});

it('a webhook finds nothing where nothing sleeps', () => {
	const nothing = [newWebhook({ executionData: null }), { getNode: () => ({}) }];
	for (const context of nothing as IWebhookFunctions[]) {
		expect(readNodeContext(context)).toBeUndefined();
		expect(enableNode(context)).toEqual([]);
	}
});
