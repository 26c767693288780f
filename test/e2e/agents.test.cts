import fs from 'node:fs';
import path from 'node:path';
import { expect } from '@jest/globals';
import { readExample } from '../../dev/fixtures/examples.cts';
import {
	N8nAgent,
	nodeTool,
	workflowTool,
	type AgentTool,
	type Suspended,
} from '../../dev/fixtures/n8nAgents.cts';
import { startScriptedModel, ToolCall } from '../../dev/fixtures/scriptedModel.cts';
import { editSample, mediaGeneration } from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { isOldest, usePair } from './support.cts';

/** Before 2.41, n8n has no Agents. */
const withAgents = isOldest ? describe.skip : describe;

withAgents("an agent of n8n's Agents", () => {
	const pair = usePair({
		service: { taskSeconds: 0.3, callbackRetrySeconds: [2, 4, 8, 8, 8, 8, 8] },
		n8n: { env: { N8N_DEFAULT_BINARY_DATA_MODE: 'default' } },
	});

	type Model = Awaited<ReturnType<typeof startScriptedModel>>;
	const models: Model[] = [];
	afterEach(async () => {
		for (const model of models.splice(0)) await model.close();
	});

	const buildTool = (name: string, node: WorkflowNode, more?: object) =>
		nodeTool(name, { ...node, credentials: { mediaGenerationApi: pair.credential } }, more);

	/** Builds a tool that creates a task, for whose prompt the model is asked. */
	const creating = (operation: string, parameters: object = {}, more?: object) => {
		const prompt = "={{ $fromAI('prompt', 'What to change', 'string') }}";
		const node = editSample(pair.service.resultsUrl, { operation, prompt, ...parameters });
		return buildTool(operation, node, more);
	};

	/** Builds a tool of another operation. The model is asked for the task's ID, if it takes one. */
	const using = (resource: string, operation: string, parameters: object = {}) => {
		const taskId = "={{ $fromAI('taskId', 'The ID of the task', 'string') }}";
		const forTask = resource === 'task' && { taskId };
		const node = mediaGeneration({ resource, operation, ...forTask, ...parameters });
		return buildTool(operation, node);
	};

	/** Makes an agent with these tools, whose model makes these calls in each chat. */
	async function createAgent(tools: AgentTool[], turns: Parameters<typeof startScriptedModel>[0]) {
		const model = await startScriptedModel(turns);
		models.push(model);
		const credential = await pair.n8n.createCredential(model.agentCredential);
		const agent = await N8nAgent.create(pair.n8n, 'Painter', credential, tools);
		return { agent, model };
	}

	/** Lets an agent make these calls, and returns what its tools told the model. */
	async function runAgent(...[tools, turns]: Parameters<typeof createAgent>) {
		const { agent, model } = await createAgent(tools, turns);
		const chat = await agent.chat('Make it night');
		expect(chat).toMatchObject({ text: 'Done.', errors: [] });
		return model.listToolResults();
	}

	/** Reads the items that a tool gave the model. */
	const readItems = (result = '') =>
		(JSON.parse(result) as { data: Array<{ json: Record<string, unknown> }> }).data;
	const readTask = (result?: string) => readItems(result)[0]?.json;

	/** Lists n8n's files, without its database and its log. */
	const listFiles = () =>
		fs
			.readdirSync(pair.n8n.options.folder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile() && !/database|n8n\.log|\/cache\//.test(entry.name))
			.map(({ parentPath, name }) => path.join(parentPath, name));

	/** Uses each operation, with downloads wherever there is a choice. */
	async function useEachOperation() {
		const files = listFiles();
		const results = await runAgent(
			[
				creating('createAndWait', { downloadResults: true }),
				creating('create'),
				using('task', 'get'),
				using('task', 'download'),
				using('account', 'getCredits'),
				using('file', 'upload', {
					source: 'url',
					fileUrl: `${pair.service.resultsUrl}/sample.png`,
				}),
			],
			[
				[
					new ToolCall('createAndWait', () => ({ prompt: 'one' })),
					new ToolCall('createAndWait', () => ({ prompt: 'two' })),
					new ToolCall('create', () => ({ prompt: 'three' })),
				],
				[
					new ToolCall('get', ([first]) => ({ taskId: readTask(first)?.taskId })),
					new ToolCall('download', ([first]) => ({ taskId: readTask(first)?.taskId })),
					new ToolCall('getCredits'),
					new ToolCall('upload'),
				],
			],
		);
		const [taskId] = pair.listIds();
		const finished = {
			status: 'completed',
			resultUrls: [expect.stringContaining(`/results/${taskId}/`)],
			note: expect.stringContaining('![](link)'),
		};
		expect(results.map(readTask)).toMatchObject([
			{ taskId, ...finished },
			{ taskId: pair.findId('two'), status: 'completed' },
			{ taskId: pair.findId('three'), status: 'pending' },
			{ taskId, ...finished },
			{ taskId, ...finished, file: { kind: 'result', url: expect.stringContaining('http') } },
			{ credits: expect.any(Number) },
			{ url: expect.stringContaining('http') },
		]);
		for (const item of results.flatMap(readItems)) expect(item).not.toHaveProperty('binary');
		expect(Math.max(...results.map(({ length }) => length))).toBeLessThan(2_000);
		expect(listFiles()).toEqual(files);
		expect(pair.listPrompts()).toEqual(['one', 'three', 'two']);
		expect(pair.countCreations()).toBe(3);
	}

	it('uses each operation, where n8n keeps files in memory', useEachOperation);

	it('is told of errors, and pays once for what it asks again in any chat, with an ID that is in the log', async () => {
		const readNew = pair.n8n.followLog();
		const unknown = '#garbage #created';
		const { agent, model } = await createAgent(
			[creating('create')],
			['#status=401', '#status=402', unknown, unknown, 'one', 'one'].map((prompt) => [{ prompt }]),
		);
		const told = [
			/access token/i,
			/too few credits/,
			/may have been paid for/,
			/may have been paid for/,
			/"status":"pending"/,
			/"status":"pending"/,
		];
		await agent.chat('Make it night');
		for (const [index, words] of told.entries())
			expect(model.listToolResults()[index]).toMatch(words);
		expect(pair.listPrompts()).toEqual([unknown, 'one', 'one']);
		expect(pair.countCreations()).toBe(5);
		await agent.chat('Once more');
		expect(model.listToolResults()[2]).toMatch(/may have been paid for/);
		expect(pair.listPrompts()).toEqual([unknown, 'one', 'one', 'one', 'one']);
		const log = readNew();
		expect(log).toContain(`created task ${pair.findId('one')}`);
		expect(log).not.toContain('undefined');
	});

	it('is told of a slow task, which goes on', async () => {
		const slow = creating('createAndWait', { options: { toolWaitLimit: 0.03 } });
		const results = await runAgent([slow], [[{ prompt: '#neverEnds' }]]);
		expect(results.map(readTask)).toEqual([
			{
				taskId: pair.listIds()[0],
				status: 'timedOut',
				note: expect.stringContaining('Do not create it again'),
			},
		]);
	});

	it('that is stopped leaves the ID in the log, and the next prompt gets a task of its own', async () => {
		const readNew = pair.n8n.followLog();
		const waits = creating('createAndWait', { options: { toolWaitLimit: 0.1 } });
		const { agent } = await createAgent([waits], [[{ prompt: '#slow=2' }]]);
		const stop = new AbortController();
		const stopped = agent.chat('Make it night', stop.signal);
		await poll(() => pair.listIds()[0], { what: 'the task' });
		stop.abort();
		await expect(stopped).rejects.toThrow(/abort/i);
		const [first] = pair.listIds();
		expect(readNew()).toContain(`created task ${first}`);
		await agent.chat('Once more');
		expect(pair.listIds()).toEqual([first, expect.any(String)]);
		expect(pair.countCreations()).toBe(2);
	});

	it('sleeps while a workflow of media-for-agents does, also over a restart, and is given links', async () => {
		const example = readExample('media-for-agents', {
			n8n: pair.n8n.url,
			media: pair.service.resultsUrl,
		});
		const { id } = await pair.importWorkflow(example);
		const { agent, model } = await createAgent(
			[workflowTool('picture', { id, name: example.name })],
			[[{ prompt: 'night #slow=4' }]],
		);
		const { suspended } = await agent.chat('Make it night');
		await pair.n8n.kill();
		Object.assign(pair.n8n.options.env ?? {}, { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' });
		await pair.n8n.start();
		const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
		const output = execution?.getOutput('Make the picture')[0];
		expect(output?.binary?.data?.id).toContain(`executions/${execution?.id}/`);

		// n8n 2.41 does not wake the agent of a draft by itself: it loads its user without a role.
		const chat = await agent.checkForResult(suspended as Suspended);
		expect(chat).toMatchObject({ text: 'Done.', errors: [] });
		expect(JSON.parse(String(model.listToolResults()[0]))).toMatchObject({
			status: 'success',
			data: {
				'Tell the agent': [
					{ taskId: pair.listIds()[0], status: 'completed', links: [expect.any(String)] },
				],
			},
		});
		expect(pair.countCreations()).toBe(1);
	});

	it('uses each operation, where n8n keeps files on disk', useEachOperation);
});
