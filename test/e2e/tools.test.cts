import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
	agentWith,
	mcpServerWith,
	startByWebhook,
	type AgentAge,
} from '../../dev/fixtures/agents.cts';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import { startScriptedModel } from '../../dev/fixtures/scriptedModel.cts';
import {
	chain,
	createAndWait,
	editSample,
	mediaGeneration,
	prompts,
} from '../../dev/fixtures/workflows.cts';

let pair: Pair;

beforeAll(async () => {
	pair = await startPair({ service: { taskSeconds: 0.5 }, n8n: 'shared' });
});

afterAll(async () => await pair?.stop());

beforeEach(() => {
	pair.service.set({ faultsFor: () => ({}) });
	pair.service.tasks.clear();
	pair.service.requests.length = 0;
});

/** Our node as a tool, whose model chooses the prompt; the seed is another one at each try. */
const buildTool = (parameters: Record<string, unknown> = {}, more: object = {}) =>
	mediaGeneration(
		editSample(pair.service.resultsUrl, {
			prompt: "={{ $fromAI('Prompt', 'What to change', 'string') }}",
			seed: '={{ Math.floor(Math.random() * 1e9) }}',
			...parameters,
		}),
		more,
	);

async function runAgent(tool: ReturnType<typeof buildTool>, prompts: string[][], age?: AgentAge) {
	const model = await startScriptedModel(prompts.map((turn) => turn.map((Prompt) => ({ Prompt }))));
	try {
		const openAiApi = await pair.n8n.createCredential(model.credential);
		const execution = await pair.run(agentWith(tool, age), { others: { openAiApi } });
		return { execution, results: model.listToolResults() };
	} finally {
		await model.close();
	}
}

const countCreations = () =>
	pair.service.requests.filter(({ path }) => path.endsWith('/createTask')).length;

const RETRY = { retryOnFail: true, maxTries: 3, waitBetweenTries: 50 };

describe.each<AgentAge>(['oldest', 'older', 'newest'])('as a tool of the %s agent', (age) => {
	it('returns the finished task, asleep where n8n runs the tool as a node', async () => {
		const { execution, results } = await runAgent(
			buildTool({ waitFor: 'callback' }),
			[['A starry night']],
			age,
		);
		expect(execution.status).toBe('success');
		expect(execution.getItems('Agent')).toEqual([{ output: 'Done.' }]);
		const [task] = [...pair.service.tasks.values()];
		expect(JSON.parse(String(results[0]))).toEqual([
			{
				taskId: task?.taskId,
				status: 'completed',
				resultUrls: [expect.any(String)],
				creditsConsumed: expect.any(Number) as number,
			},
		]);
		expect(Boolean(task?.callBackUrl)).toBe(age === 'newest');
		expect(task?.input.prompt).toBe('A starry night');
	});

	it('creates no task beyond Maximum Tasks per Run, whatever the model asks for', async () => {
		const { results } = await runAgent(
			buildTool({ options: { maxTasksPerRun: 3 } }),
			[['one'], ['two', 'three'], ['four'], ['four', 'five']],
			age,
		);
		expect(pair.service.tasks.size).toBe(3);
		expect(countCreations()).toBe(3);
		expect(results).toHaveLength(6);
		for (const result of results.slice(0, 3)) expect(result).toContain('completed');
		for (const result of results.slice(3))
			expect(result).toMatch(
				/'Maximum Tasks per Run' is 3.*The limit was set by the owner of this workflow/,
			);
	});

	it('tells the model how to look again when the limit passes', async () => {
		const { results } = await runAgent(
			buildTool({ waitFor: 'polling', options: { toolWaitLimit: 0.05 } }),
			[['#neverEnds']],
			age,
		);
		expect(JSON.parse(String(results[0]))).toMatchObject([
			{
				taskId: [...pair.service.tasks.keys()][0],
				status: 'timedOut',
				note: expect.stringContaining('with the operation Get') as string,
			},
		]);
	});

	it.each([
		['#garbage #created', 'the recent tasks of your account'],
		['#accepted=503', 'the service named it'],
	])(
		'sends a call of unknown outcome once, also when n8n retries it and the model asks again: %s',
		async (prompt, hint) => {
			const { results } = await runAgent(buildTool({}, RETRY), [[prompt], [prompt]], age);
			expect(countCreations()).toBe(1);
			expect(pair.service.tasks.size).toBe(1);
			expect(results).toHaveLength(2);
			for (const result of results) {
				expect(result).toContain('The task may exist and may have been paid for');
				expect(result).toContain(hint);
			}
		},
	);

	it('creates two tasks when the model asks for the same twice', async () => {
		await runAgent(buildTool({ waitFor: 'polling' }), [['night'], ['night']], age);
		expect(pair.service.tasks.size).toBe(2);
	});

	it('tells the model what to do about a refusal', async () => {
		const { results } = await runAgent(buildTool(), [['#status=402']], age);
		expect(results[0]).toContain('The account has too few credits (402');
		expect(results[0]).toContain('Top up');
	});
});

describe('as a tool of the newest agent that sleeps', () => {
	const sleeping = (more: object = {}) => buildTool({ waitFor: 'callback', ...more });
	const readResults = (results: string[]) =>
		results.map((result) => (JSON.parse(result) as Array<Record<string, unknown>>)[0]);

	it('polls for all calls of a turn but the last, which sleeps', async () => {
		const { execution, results } = await runAgent(sleeping(), [['one', 'two', 'three'], ['four']]);
		expect(execution.status).toBe('success');
		const tasks = [...pair.service.tasks.values()];
		expect(tasks.map(({ input }) => input.prompt)).toEqual(['one', 'two', 'three', 'four']);
		expect(tasks.map(({ callBackUrl }) => Boolean(callBackUrl))).toEqual([
			false,
			false,
			true,
			true,
		]);
		expect(readResults(results)).toMatchObject(
			tasks.map(({ taskId }) => ({ taskId, status: 'completed' })),
		);
	});

	it('is told of a task that failed', async () => {
		const { results } = await runAgent(sleeping(), [['#fail']]);
		expect(readResults(results)).toEqual([
			{
				taskId: [...pair.service.tasks.keys()][0],
				status: 'failed',
				failCode: '501',
				failMessage: expect.any(String) as string,
				creditsConsumed: expect.any(Number) as number,
			},
		]);
	});

	it('is told of a task that goes on when the wait limit passes', async () => {
		const { results } = await runAgent(sleeping({ waitLimit: 0.05 }), [['#neverEnds']]);
		expect(readResults(results)).toEqual([
			{
				taskId: [...pair.service.tasks.keys()][0],
				status: 'timedOut',
				note: expect.stringContaining('Do not create it again') as string,
			},
		]);
	}, 180_000);

	it('goes on in a workflow that is active, each time that its task ends', async () => {
		const model = await startScriptedModel([[{ Prompt: 'night' }], [{ Prompt: 'day' }]]);
		try {
			const openAiApi = await pair.n8n.createCredential(model.credential);
			const workflow = startByWebhook(agentWith(sleeping()));
			const { id, url } = await pair.activate(workflow, { others: { openAiApi } });
			await fetch(url, { method: 'POST' });
			const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
			expect(execution?.getItems('Agent')).toEqual([{ output: 'Done.' }]);
			expect(readResults(model.listToolResults())).toMatchObject(
				[...pair.service.tasks.values()].map(({ taskId }) => ({ taskId, status: 'completed' })),
			);
			expect(pair.service.tasks.size).toBe(2);
			await pair.n8n.deactivate(id);
		} finally {
			await model.close();
		}
	});

	// At its start, n8n 2.41 takes an agent that sleeps for one that crashed, whatever its tool (`ExecutionRecoveryService`).
	it('is ended by a restart of n8n, whose log has the ID', async () => {
		const own = await startPair({ service: { faultsFor: () => ({ noCallback: true }) } });
		const model = await startScriptedModel([[{ Prompt: 'night' }]]);
		try {
			const openAiApi = await own.n8n.createCredential(model.credential);
			const tool = createAndWait({ customInput: '={{ { prompt: $fromAI("Prompt") } }}' });
			const { id } = await own.importWorkflow(agentWith(tool), { others: { openAiApi } });
			const executionId = await own.n8n.run(id);
			await own.n8n.waitForExecution(executionId, { until: ['waiting'] });
			const taskId = String([...own.service.tasks.keys()][0]);
			await own.service.waitForTask(taskId);
			await own.n8n.kill();
			await own.n8n.restart();
			const answer = await own.service.callback(taskId);
			expect([200, 409]).toContain(answer.status);
			expect(own.n8n.readLog()).toContain(`created task ${taskId}`);
			expect(own.service.tasks.size).toBe(1);
		} finally {
			await model.close();
			await own.stop();
		}
	}, 240_000);
});

describe('the credits to keep', () => {
	const run = async (options: object) =>
		await pair.run(
			chain('Credits', [
				prompts(2),
				createAndWait({ operation: 'create', options: { tasksPer10Seconds: 0, ...options } }),
			]),
		);

	it.each([
		[{ keepCredits: 1e9 }, /^The account has [\d.]+ credits, and 'Keep at Least' is 1000000000/],
		[{ maxTasksPerRun: 1 }, /^'Maximum Tasks per Run' is 1 in Options, 0 were created before/],
		[{ keepCredits: 'many' }, /^'Keep at Least \(Credits\)' in Options must be a number/],
	])('keep everything from being created: %j', async (options, message) => {
		const execution = await run(options);
		expect(execution.getError('Media Generation')?.message).toMatch(message);
		expect(pair.service.tasks.size).toBe(0);
	});

	it('are asked for once', async () => {
		const execution = await run({ keepCredits: 1, maxTasksPerRun: 2 });
		expect(execution.getError()).toBeUndefined();
		expect(pair.service.tasks.size).toBe(2);
		expect(pair.service.requests.filter(({ path }) => path.endsWith('/credit'))).toHaveLength(1);
	});

	it('keep everything from being created when the service does not tell them', async () => {
		pair.service.faultNext({ path: '/api/v1/chat/credit', status: 500 });
		const error = (await run({ keepCredits: 1 })).getError('Media Generation');
		expect(error?.message).toMatch(
			/^'Keep at Least' is set in Options, but the service does not tell/,
		);
		expect(pair.service.tasks.size).toBe(0);
	});

	it('are told with what the tasks cost', async () => {
		const nodes = [prompts(2), createAndWait({ waitFor: 'polling' })];
		const execution = await pair.run(chain('Cost', nodes));
		expect(execution.getRuns('Media Generation')[0]?.hints).toMatchObject([
			{ message: expect.stringMatching(/^2 tasks consumed [\d.]+ credits\.$/) as string },
		]);
	});
});

describe('as a tool of an MCP server', () => {
	async function call(tool: ReturnType<typeof buildTool>, ...prompts: string[]) {
		const path = randomUUID();
		const { id } = await pair.activate(mcpServerWith(tool, path));
		const client = new Client({ name: 'test', version: '1' });
		await client.connect(new StreamableHTTPClientTransport(new URL(`${pair.n8n.url}/mcp/${path}`)));
		try {
			const { tools } = await client.listTools();
			const name = String(tools[0]?.name);
			const results: string[] = [];
			for (const Prompt of prompts)
				results.push(
					JSON.stringify((await client.callTool({ name, arguments: { Prompt } })).content),
				);
			return results;
		} finally {
			await client.close();
			await pair.n8n.deactivate(id);
		}
	}

	it('returns the finished task', async () => {
		const [result] = await call(buildTool(), 'A starry night');
		expect(result).toContain('completed');
		expect(result).toContain([...pair.service.tasks.keys()][0]);
	});

	it('sends a call of unknown outcome once, also when n8n retries it', async () => {
		const [result] = await call(buildTool({}, RETRY), '#garbage #created');
		expect(result).toContain('The task may exist and may have been paid for');
		expect(countCreations()).toBe(1);
	});
});
