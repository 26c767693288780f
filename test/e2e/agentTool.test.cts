const { startPair } = require('../../dev/fixtures/pair.cts');
const { startScriptedModel } = require('../../dev/fixtures/scriptedModel.cts');
const { mediaGeneration } = require('../../dev/fixtures/workflows.cts');

/** @type {Awaited<ReturnType<typeof startPair>>} */
let pair;
/** @type {Awaited<ReturnType<typeof startScriptedModel>>} */
let model;

beforeAll(async () => {
	pair = await startPair({ service: { taskSeconds: 0.5 } });
	model = await startScriptedModel({ Prompt: 'A starry night' });
});

afterAll(async () => {
	await model?.close();
	await pair?.stop();
});

/** @param {Record<string, unknown>} parameters of our node as a tool */
async function runAgent(parameters) {
	const openAi = await pair.n8n.createCredential(model.credential);
	const tool = mediaGeneration({
		resource: 'task',
		operation: 'createAndWait',
		model: 'beta2/image-edit',
		image: `${pair.service.resultsUrl}/sample.png`,
		prompt: "={{ $fromAI('Prompt', 'What to change', 'string') }}",
		...parameters,
	});
	const node = (/** @type {object} */ more) => ({ position: [0, 0], parameters: {}, ...more });
	const workflow = {
		name: 'Agent',
		nodes: [
			node({ id: '1', name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1 }),
			node({
				id: '2',
				name: 'Agent',
				type: '@n8n/n8n-nodes-langchain.agent',
				typeVersion: 3,
				parameters: { promptType: 'define', text: 'Make it night', options: {} },
			}),
			node({
				id: '3',
				name: 'Model',
				type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
				typeVersion: 1.2,
				parameters: { model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
				credentials: { openAiApi: {} },
			}),
			node({ ...tool, id: '4', type: `${tool.type}Tool` }),
		],
		connections: {
			Start: { main: [[{ node: 'Agent', type: 'main', index: 0 }]] },
			Model: { ai_languageModel: [[{ node: 'Agent', type: 'ai_languageModel', index: 0 }]] },
			[tool.name]: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
		},
		settings: { executionOrder: 'v1' },
	};
	const { id } = await pair.n8n.importWorkflow(/** @type {any} */ (workflow), {
		credentials: { ...pair.credentials.credentials, openAiApi: openAi },
	});
	const execution = await pair.n8n.waitForExecution(await pair.n8n.run(id));
	return { execution, result: model.getToolResult() };
}

describe("as an AI agent's tool", () => {
	it('never parks: it polls, though callback is chosen, and tells the agent the result', async () => {
		const { execution, result } = await runAgent({ waitFor: 'callback' });
		expect(execution.status).toBe('success');
		expect(execution.getItems('Agent')).toEqual([{ output: 'Done.' }]);
		expect(result).toMatchObject([{ status: 'completed', resultUrls: [expect.any(String)] }]);
		const [task] = [...pair.service.tasks.values()].slice(-1);
		expect(task).toMatchObject({ callBackUrl: undefined, input: { prompt: 'A starry night' } });
	});

	it('tells the agent how to look again when the limit passes', async () => {
		pair.service.set({ faultsFor: () => ({ neverEnds: true }) });
		const { result } = await runAgent({ waitLimit: 0.05 });
		expect(result).toMatchObject([
			{
				taskId: [...pair.service.tasks.keys()].at(-1),
				status: 'timedOut',
				note: expect.stringContaining('with the operation Get'),
			},
		]);
	});
});
