import fs from 'node:fs';
import path from 'node:path';
import { expect } from '@jest/globals';
import { N8nAgent, nodeTool, type AgentTool } from '../../dev/fixtures/n8nAgents.cts';
import { startScriptedModel, ToolCall } from '../../dev/fixtures/scriptedModel.cts';
import { editSample, mediaGeneration } from '../../dev/fixtures/workflows.cts';
import { usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 0.3 },
	n8n: { env: { N8N_DEFAULT_BINARY_DATA_MODE: 'default' } },
});

type Turns = Parameters<typeof startScriptedModel>[0];

const PROMPT = "={{ $fromAI('Prompt', 'What to change', 'string') }}";
const TASK_ID = "={{ $fromAI('TaskID', 'The ID of the task', 'string') }}";

const withCredential = (node: ReturnType<typeof mediaGeneration>) => ({
	...node,
	credentials: { mediaGenerationApi: pair.credential },
});

const build = (operation: string, parameters: Record<string, unknown> = {}, more?: object) => {
	const node = editSample(pair.service.resultsUrl, { operation, prompt: PROMPT, ...parameters });
	return nodeTool(operation, withCredential(node), more);
};

async function runAgent(tools: AgentTool[], turns: Turns) {
	const model = await startScriptedModel(turns);
	const credential = await pair.n8n.createCredential(model.agentCredential);
	const agent = await N8nAgent.create(pair.n8n, 'Painter', credential, tools);
	const chat = await agent.chat('Make it night');
	await model.close();
	return { chat, results: model.listToolResults() };
}

it('makes one', async () => {
	const { chat, results } = await runAgent(
		[build('createAndWait')],
		[[{ Prompt: 'one' }], [{ Prompt: 'two' }, { Prompt: 'three' }]],
	);
	console.log(JSON.stringify(chat.events, null, 1), results);
	console.log(pair.n8n.readLog().slice(-3000));
	expect(chat.text).toBe('Done.');
	void fs, path, TASK_ID, ToolCall;
});
