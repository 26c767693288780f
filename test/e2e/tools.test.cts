import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { agentWith, mcpServerWith, type AgentAge } from '../../dev/fixtures/agents.cts';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import { startScriptedModel } from '../../dev/fixtures/scriptedModel.cts';
import { editSample, mediaGeneration } from '../../dev/fixtures/workflows.cts';

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
	it('polls though callback is chosen, and returns the finished task', async () => {
		const { execution, results } = await runAgent(
			buildTool({ waitFor: 'callback' }),
			[['A starry night']],
			age,
		);
		expect(execution.status).toBe('success');
		expect(execution.getItems('Agent')).toEqual([{ output: 'Done.' }]);
		expect(JSON.parse(String(results[0]))).toMatchObject([
			{ status: 'completed', resultUrls: [expect.any(String)] },
		]);
		const [task] = [...pair.service.tasks.values()];
		expect(task?.callBackUrl).toBeUndefined();
		expect(task?.input.prompt).toBe('A starry night');
	});

	it('tells the model how to look again when the limit passes', async () => {
		const { results } = await runAgent(buildTool({ waitLimit: 0.05 }), [['#neverEnds']], age);
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
		await runAgent(buildTool({ waitLimit: 0.01 }), [['night'], ['night']], age);
		expect(pair.service.tasks.size).toBe(2);
	});

	it('tells the model what to do about a refusal', async () => {
		const { results } = await runAgent(buildTool(), [['#status=402']], age);
		expect(results[0]).toContain('The account has too few credits (402');
		expect(results[0]).toContain('Top up');
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
