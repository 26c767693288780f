import { expect } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { connectToMcp } from '../../dev/fixtures/mcp.cts';
import { contract } from '../../dev/fixtures/models.cts';
import { NODE_TYPE } from '../../dev/fixtures/workflows.cts';
import { isOldest, usePair } from './support.cts';

const VERSION = 1.1;

const pair = usePair({ service: { taskSeconds: 0.2 } });

/** Since 2.41, n8n makes the types of nodes that its MCP server needs, with the modules of its own assistant. */
const describeWhereBuilt = isOldest ? describe.skip : describe;

/** The client of n8n's MCP server. */
let client: Client;

interface Answer {
	structuredContent?: unknown;
	content: Array<{ text: string }>;
	isError?: boolean;
}

/** Calls a tool of n8n's MCP server. @throws {Error} with the tool's message */
async function callTool<Result>(name: string, parameters: Record<string, unknown>) {
	const answer = (await client.callTool({ name, arguments: parameters })) as Answer;
	if (answer.isError) throw new Error(answer.content[0]?.text);
	return answer.structuredContent as Result;
}

/** Has n8n check and save a workflow that an AI wrote, with our node of these parameters, and run it. */
async function runWritten(parameters: object) {
	const credentials = { mediaGenerationApi: { id: pair.credential.id, name: 'Media' } };
	const config = { name: 'Video', parameters, credentials };
	const node = JSON.stringify({ type: NODE_TYPE, version: VERSION, config });
	const code = `import { workflow, node, trigger } from '@n8n/workflow-sdk';
const start = trigger({ type: 'n8n-nodes-base.manualTrigger', version: 1, config: { name: 'Start' } });
export default workflow('written', 'Written by an AI').add(start).to(node(${node}));`;
	const checked = await callTool<object>('validate_workflow', { code });
	expect(checked).toEqual({ valid: true, nodeCount: 2 });
	const { workflowId } = await callTool<{ workflowId: string }>('create_workflow_from_code', {
		code,
	});
	const run = { workflowId, executionMode: 'manual' };
	const { executionId } = await callTool<{ executionId: string }>('execute_workflow', run);
	await pair.n8n.waitForExecution(executionId);
	return { workflowId, executionId };
}

/** Asks n8n's MCP server for models or fields, as a builder does. */
async function explore(methodName: string, methodType: string, more: object) {
	type Answer = { results: Array<{ name: string; value: string }> };
	const credential = { credentialType: 'mediaGenerationApi', credentialId: pair.credential.id };
	const method = { nodeType: NODE_TYPE, version: VERSION, methodName, methodType };
	const request = { ...method, ...credential, ...more };
	return (await callTool<Answer>('explore_node_resources', request)).results;
}

describeWhereBuilt('an AI that builds workflows', () => {
	beforeAll(async () => {
		const settings = { mcpAccessEnabled: true, autoExposeNewWorkflows: true };
		await pair.n8n.request('PATCH', '/rest/mcp/settings', settings);
		const { apiKey } = await pair.n8n.request<{ apiKey: string }>('GET', '/rest/mcp/api-key');
		const headers = { authorization: `Bearer ${apiKey}` };
		client = await connectToMcp(`${pair.n8n.url}/mcp-server/http`, headers);
	});
	afterAll(async () => await client.close());

	it('finds the node', async () => {
		const { results } = await callTool<{ results: string }>('search_nodes', {
			queries: ['image edit'],
		});
		const nodes = [...results.matchAll(/^- (\S+)/gm)].map(([, id]) => id);
		expect(nodes.slice(0, 3)).toContain(NODE_TYPE);
	});

	it('sees what each model takes, and how to find more models', async () => {
		const nodeIds = [{ nodeId: NODE_TYPE, resource: 'task', operation: 'start' }];
		const { definitions } = await callTool<{ definitions: string }>('get_node_types', { nodeIds });
		for (const model of Object.keys(contract)) expect(definitions).toContain(`${model}: `);
		expect(definitions).toContain('@searchListMethod searchModels');
		expect(definitions).toContain('@loadOptionsMethod listModelFields');
		expect(definitions).toContain("'fields' | 'json'");
	});

	it('finds any model of the service, asks for its fields, makes a workflow, runs it, and gets the result', async () => {
		const anyModel = { __rl: true, mode: 'id', value: 'epsilon-2/text-to-video' };
		const words = { filter: 'epsilon text to video' };
		const models = await explore('searchModels', 'listSearch', words);
		expect(models.map(({ value }) => value)).toEqual([anyModel.value]);
		const chosen = { currentNodeParameters: { anyModel } };
		const fields = await explore('listModelFields', 'loadOptions', chosen);
		const required = fields.filter(({ name }) => name.includes('(required'));
		expect(required.map(({ name }) => name.split(' ')[0])).toEqual(['prompt']);

		const value = { prompt: 'A fox in the snow', duration: 5, sound: true };
		const { workflowId, executionId } = await runWritten({
			...{ resource: 'task', operation: 'generate', model: 'any', anyModel },
			anyFields: { mappingMode: 'defineBelow', value, schema: [] },
		});
		expect(pair.listTasks()).toMatchObject([
			{ model: anyModel.value, input: { ...value, duration: '5' } },
		]);
		const read = { workflowId, executionId, includeData: true };
		const result = JSON.stringify(await callTool('get_workflow_execution', read));
		expect(result).toContain(pair.listIds()[0]);
		expect(result).toContain('"status":"completed"');
	});
});
