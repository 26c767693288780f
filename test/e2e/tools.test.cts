import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { agentWith, mcpServerWith, type AgentAge } from '../../dev/fixtures/agents.cts';
import { startScriptedModel } from '../../dev/fixtures/scriptedModel.cts';
import { editSample } from '../../dev/fixtures/workflows.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { isOldest, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5 } });

/** Before 2.25, n8n ends the execution of its newest agent with the error of a tool, unless On Error says otherwise. */
const TELL_ERRORS = isOldest ? { onError: 'continueRegularOutput' } : {};

/** Our node as a tool, whose model chooses the prompt; the seed is another one at each try. */
const buildTool = (parameters: Record<string, unknown> = {}, more?: object) =>
	editSample(
		pair.service.resultsUrl,
		{
			prompt: "={{ $fromAI('Prompt', 'What to change', 'string') }}",
			seed: '={{ Math.floor(Math.random() * 1e9) }}',
			options: {},
			...parameters,
		},
		{ ...TELL_ERRORS, ...more },
	);

/** Starts a model that calls its tool, in each turn once for each prompt. */
async function startModel(turns: string[][]) {
	const model = await startScriptedModel(turns.map((turn) => turn.map((Prompt) => ({ Prompt }))));
	return { model, others: { openAiApi: await pair.n8n.createCredential(model.credential) } };
}

/** Has an agent call the tool, and returns what it told the model. */
async function runAgent(tool: WorkflowNode, turns: string[][], age?: AgentAge) {
	const { model, others } = await startModel(turns);
	const execution = await pair.run(agentWith(tool, age), { others });
	await model.close();
	expect(execution.getItems('Agent')).toEqual([{ output: 'Done.' }]);
	return model.listToolResults();
}

const readTasks = (results: string[]) =>
	results.map((result) => (JSON.parse(result) as Array<Record<string, unknown>>)[0]);

const RETRY = { retryOnFail: true, maxTries: 3, waitBetweenTries: 50 };
const MAY_EXIST = 'The task may exist and may have been paid for';

describe.each<AgentAge>(['oldest', 'older', 'newest'])('as a tool of the %s agent', (age) => {
	it('returns the finished task, for which it polls', async () => {
		const results = await runAgent(buildTool(), [['A starry night']], age);
		const [task] = pair.listTasks();
		expect(readTasks(results)).toEqual([
			{
				taskId: task?.taskId,
				status: 'completed',
				resultUrls: [expect.any(String)],
				creditsConsumed: expect.any(Number),
			},
		]);
		expect(task?.callBackUrl).toBeUndefined();
		expect(task?.input.prompt).toBe('A starry night');
	});

	it('creates no task beyond Maximum Tasks per Run, whatever the model asks for', async () => {
		const tool = buildTool({ options: { maxTasksPerRun: 3 } });
		const turns = [['one'], ['two', 'three'], ['four'], ['four', 'five']];
		const results = await runAgent(tool, turns, age);
		expect(pair.service.tasks.size).toBe(3);
		expect(pair.countCreations()).toBe(3);
		expect(results).toHaveLength(6);
		for (const result of results.slice(0, 3)) expect(result).toContain('completed');
		for (const result of results.slice(3))
			expect(result).toMatch(
				/'Maximum Tasks per Run' is 3.*The limit was set by the owner of this workflow/,
			);
	});

	it('creates a task for each call, also for equal ones, unless its outcome is unknown, and tells the model what to do', async () => {
		const calls: Array<[prompt: string, ...told: string[]]> = [
			['night', '"status":"completed"'],
			['night', '"status":"completed"'],
			['#neverEnds', '"status":"timedOut"', 'with the operation Get'],
			['#garbage #created', MAY_EXIST, 'the recent tasks of your account'],
			['#garbage #created', MAY_EXIST, 'the recent tasks of your account'],
			['#accepted=503', MAY_EXIST, 'the service named it'],
			['#accepted=503', MAY_EXIST, 'the service named it'],
			['#fail', '"status":"failed"', '"failCode":"501"'],
			['#status=402', 'The account has too few credits (402', 'Top up'],
		];
		const tool = buildTool({ waitFor: 'polling', options: { toolWaitLimit: 0.05 } }, RETRY);
		const turns = calls.map(([prompt]) => [prompt]);
		const results = await runAgent(tool, turns, age);
		expect(results).toHaveLength(calls.length);
		for (const [index, [, ...told]] of calls.entries())
			for (const words of told) expect(results[index]).toContain(words);
		// n8n repeats a refused call of the newest agent only.
		const refused = age === 'newest' ? RETRY.maxTries : 1;
		expect(pair.countCreations()).toBe(6 + refused);
		expect(pair.listTasks().map(({ input }) => input.prompt)).toEqual([
			'night',
			'night',
			'#neverEnds',
			'#garbage #created',
			'#accepted=503',
			'#fail',
		]);
	});
});

it('as a tool of an MCP server, returns the finished task, and sends a call of unknown outcome once', async () => {
	const path = randomUUID();
	await pair.activate(mcpServerWith(buildTool({}, RETRY), path));
	const client = new Client({ name: 'test', version: '1' });
	await client.connect(new StreamableHTTPClientTransport(new URL(`${pair.n8n.url}/mcp/${path}`)));
	const { tools } = await client.listTools();
	const call = async (Prompt: string) => {
		const answer = await client.callTool({ name: String(tools[0]?.name), arguments: { Prompt } });
		return JSON.stringify(answer.content);
	};
	const finished = await call('A starry night');
	expect(finished).toContain('completed');
	expect(finished).toContain(pair.listIds()[0]);
	expect(await call('#garbage #created')).toContain(MAY_EXIST);
	expect(pair.countCreations()).toBe(2);
	await client.close();
});
