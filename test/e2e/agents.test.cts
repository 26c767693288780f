import fs from 'node:fs';
import path from 'node:path';
import { expect } from '@jest/globals';
import { readExample } from '../../dev/fixtures/examples.cts';
import { N8nAgent, buildNodeTool } from '../../dev/fixtures/n8nAgents.cts';
import { ToolCall } from '../../dev/fixtures/scriptedModel.cts';
import { editSample, buildMediaGeneration } from '../../dev/fixtures/workflows.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { isOldest, useChatModel, usePair } from './support.cts';

/** Before 2.41, n8n has no Agents. */
const withAgents = isOldest ? describe.skip : describe;

withAgents("an agent of n8n's Agents", () => {
	const pair = usePair({ service: { taskSeconds: 0.3, callbackRetrySeconds: [1, 2, 4] } });
	const model = useChatModel();

	/** Makes our node a tool, named as its operation. */
	const toTool = ({ parameters, ...node }: WorkflowNode) => {
		const credentials = { mediaGenerationApi: pair.credential };
		return buildNodeTool(String(parameters?.operation), { ...node, parameters, credentials });
	};

	/** Builds a tool that creates a task. The agent chooses the prompt. */
	const buildCreatingTool = (operation: string, parameters: object = {}) => {
		const prompt = "={{ $fromAI('prompt', 'What to change', 'string') }}";
		return toTool(editSample(pair.service.filesUrl, { operation, prompt, ...parameters }));
	};

	/** Builds a tool of another operation. */
	const buildTool = (parameters: Record<string, unknown>) =>
		toTool(buildMediaGeneration(parameters));

	/** Makes an agent with these tools, whose scripted model makes these calls in each chat. */
	async function createAgent(tools: object[], turns: Parameters<typeof model.script>[0]) {
		model.script(turns);
		const credential = await pair.n8n.createCredential(model.agentCredential);
		return await N8nAgent.create(pair.n8n, 'Painter', credential, tools);
	}

	/** Reads the items that a tool gave the agent. */
	const readItems = (result = '') =>
		(JSON.parse(result) as { data: Array<{ json: Record<string, unknown> }> }).data;

	/** Lists n8n's files, without its database and its log. */
	const listFiles = () =>
		fs
			.readdirSync(pair.n8n.options.folder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile() && !/database|n8n\.log|\/cache\//.test(entry.name))
			.map(({ parentPath, name }) => path.join(parentPath, name));

	/** Reads from the task of the first tool what the other tools need. */
	function takeFirst([first]: string[]) {
		const { taskId: id, resultUrls } = readItems(first)[0]?.json ?? {};
		return { taskId: id, link: (resultUrls as string[])[0] };
	}

	it('generates with a download, uses the task and a file in other operations, and n8n keeps no file', async () => {
		const files = listFiles();
		const taskId = "={{ $fromAI('taskId', 'The ID of the task', 'string') }}";
		const fileUrl = "={{ $fromAI('link', 'A link to a result', 'string') }}";
		const agent = await createAgent(
			[
				buildCreatingTool('generate', { options: { downloadResults: true } }),
				buildTool({ operation: 'getFiles', taskId }),
				buildTool({ resource: 'file', operation: 'upload', source: 'url', fileUrl }),
			],
			[
				[new ToolCall('generate', () => ({ prompt: 'one' }))],
				[new ToolCall('getFiles', takeFirst), new ToolCall('upload', takeFirst)],
			],
		);
		const chat = await agent.chat('Make it night');
		expect(chat).toMatchObject({ text: 'Done.', errors: [] });
		const results = model.listToolResults().map(readItems);
		const [task] = pair.listCompleted('one');
		const url = expect.stringContaining(`/results/${task?.taskId}/`);
		const note = expect.stringContaining('![](link)');
		expect(results.map(([item]) => item?.json)).toMatchObject([
			{ ...task, resultUrls: [url], note },
			{ ...task, file: { kind: 'result', url }, note },
			{ url: expect.any(String) },
		]);
		for (const item of results.flat()) expect(item).not.toHaveProperty('binary');
		expect(listFiles()).toEqual(files);
		expect(pair.countCreations()).toBe(1);
	});

	it('is told of errors, and pays once for what it asks again in any chat, with an ID that is in the log', async () => {
		const readNew = pair.n8n.followLog();
		const unknown = '#garbage #created';
		const calls: Array<[prompt: string, words: RegExp]> = [
			['#status=401', /access token/i],
			['#status=402', /too few credits/],
			[unknown, /may have been paid for/],
			[unknown, /may have been paid for/],
			['one', /"status":"pending"/],
			['one', /"status":"pending"/],
		];
		const agent = await createAgent(
			[buildCreatingTool('start')],
			calls.map(([prompt]) => [{ prompt }]),
		);
		await agent.chat('Make it night');
		for (const [index, [, words]] of calls.entries())
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

	it('sleeps while a workflow of media-for-agents sleeps, and is given links', async () => {
		const { n8n, service } = pair;
		const example = readExample('media-for-agents', { n8n: n8n.url, media: service.filesUrl });
		const { id } = await pair.importWorkflow(example);
		const named = { name: 'picture', description: 'picture' };
		const tool = { type: 'workflow', ...named, workflowId: id, workflow: example.name };
		const agent = await createAgent([tool], [[{ prompt: 'night #slow=2' }]]);
		const { suspended } = await agent.chat('Make it night');
		if (!suspended) throw new Error('The agent does not wait');
		const [execution] = await n8n.waitForExecutions({ workflowId: id, count: 1 });
		const output = execution?.getOutput('Make the picture')[0];
		expect(output?.binary?.data?.id).toContain(`executions/${execution?.id}/`);

		// n8n 2.41 does not wake the agent of a draft by itself: it loads its user without a role.
		const chat = await agent.checkForResult(suspended);
		expect(chat).toMatchObject({ text: 'Done.', errors: [] });
		const [task] = pair.listCompleted('night #slow=2');
		expect(JSON.parse(String(model.listToolResults()[0]))).toMatchObject({
			status: 'success',
			data: { 'Tell the agent': [{ ...task, links: [expect.any(String)] }] },
		});
		expect(pair.countCreations()).toBe(1);
	});
});
