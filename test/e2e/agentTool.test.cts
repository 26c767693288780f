import { expect } from '@jest/globals';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import { startScriptedModel } from '../../dev/fixtures/scriptedModel.cts';
import { connect, mediaGeneration } from '../../dev/fixtures/workflows.cts';

let pair: Pair;
let model: Awaited<ReturnType<typeof startScriptedModel>>;

beforeAll(async () => {
	pair = await startPair({ service: { taskSeconds: 0.5 }, n8n: 'shared' });
	model = await startScriptedModel({ Prompt: 'A starry night' });
});

afterAll(async () => {
	await model?.close();
	await pair?.stop();
});

/** Has an agent use our node, with these parameters, as its tool. */
async function runAgent(parameters: Record<string, unknown>) {
	const openAiApi = await pair.n8n.createCredential(model.credential);
	const tool = mediaGeneration({
		resource: 'task',
		operation: 'createAndWait',
		model: 'beta2/image-edit',
		image: `${pair.service.resultsUrl}/sample.png`,
		prompt: "={{ $fromAI('Prompt', 'What to change', 'string') }}",
		...parameters,
	});
	const workflow = connect('Agent', [
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
		{
			name: 'Agent',
			type: '@n8n/n8n-nodes-langchain.agent',
			typeVersion: 3,
			parameters: { promptType: 'define', text: 'Make it night', options: {} },
		},
		{
			name: 'Model',
			type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
			typeVersion: 1.2,
			parameters: { model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
			credentials: { openAiApi: {} },
		},
		{ ...tool, type: `${tool.type}Tool` },
	]);
	const toAgent = (type: string) => ({ [type]: [[{ node: 'Agent', type, index: 0 }]] });
	workflow.connections = {
		Start: toAgent('main'),
		Model: toAgent('ai_languageModel'),
		[tool.name]: toAgent('ai_tool'),
	};
	const execution = await pair.run(workflow, { others: { openAiApi } });
	return { execution, result: model.getToolResult() };
}

describe("as an AI agent's tool", () => {
	it('polls in place of waiting for a callback, and returns the result to the agent', async () => {
		const { execution, result } = await runAgent({ waitFor: 'callback' });
		expect(execution.status).toBe('success');
		expect(execution.getItems('Agent')).toEqual([{ output: 'Done.' }]);
		expect(result).toMatchObject([{ status: 'completed', resultUrls: [expect.any(String)] }]);
		const task = pair.listTasks().at(-1);
		expect(task?.input.prompt).toBe('A starry night');
		expect(task?.callBackUrl).toBeUndefined();
	});

	it('tells the agent how to get the task later, when the limit passes', async () => {
		pair.service.set({ faultsFor: () => ({ neverEnds: true }) });
		const { result } = await runAgent({ waitLimit: 0.05 });
		expect(result).toMatchObject([
			{
				taskId: pair.listTasks().at(-1)?.taskId,
				status: 'timedOut',
				note: expect.stringContaining('with the operation Get'),
			},
		]);
	});
});
