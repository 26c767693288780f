import fs from 'node:fs';
import path from 'node:path';
import { postJson } from '../../dev/fixtures/callbacks.cts';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import {
	chain,
	connect,
	editSample,
	mediaGeneration,
	NODE_TYPE,
	prompts,
	SEEN,
} from '../../dev/fixtures/workflows.cts';
import { root } from '../../dev/pack.cts';

let pair: Pair;

beforeAll(async () => {
	pair = await startPair({
		service: {
			taskSeconds: 0.5,
			callbackRetrySeconds: [5, 10, 20],
			faultsFor: ({ index }) => ({ slow: 2 + (index % 20) / 2 }),
		},
	});
});

afterAll(async () => await pair?.stop());

describe('the n8n that the end-to-end tests run', () => {
	it('is one that the README names', async () => {
		const { versionCli } = await pair.n8n.request<{ versionCli: string }>('GET', '/rest/settings');
		const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
		expect(readme).toContain(`n8n ${versionCli}`);
	});

	it('has the packed nodes', async () => {
		const types = await pair.n8n.listNodeTypes('n8n-nodes-media-generation');
		expect(types.map(({ name }) => name)).toEqual([
			NODE_TYPE,
			`${NODE_TYPE}Tool`,
			`${NODE_TYPE}Trigger`,
		]);
	});
});

describe('n8n after a kill and a restart', () => {
	let active: { id: string; url: string };
	let parkedId: string;

	const call = async (round: number) =>
		await postJson(active.url, { 'content-type': 'application/json' }, { round });

	beforeAll(async () => {
		const { n8n, service } = pair;
		active = await pair.activate(
			connect('A webhook', [
				{
					name: 'Webhook',
					type: 'n8n-nodes-base.webhook',
					typeVersion: 2,
					webhookId: 'c0ffee00-0000-4000-8000-000000000002',
					parameters: { httpMethod: 'POST', path: 'restart' },
				},
			]),
		);
		expect((await call(1)).status).toBe(200);
		await n8n.waitForExecutions({ workflowId: active.id, count: 1 });

		const parameters = editSample(service.resultsUrl, {
			prompt: '={{ $json.prompt }}',
			options: { tasksPer10Seconds: 0, concurrency: 20 },
		});
		const workflow = chain('Parked', [prompts(20), mediaGeneration(parameters), SEEN]);
		const { id } = await pair.importWorkflow(workflow);
		parkedId = await n8n.run(id);
		await n8n.waitForExecution(parkedId, { until: ['waiting'] });
		await service.waitForTask(String(pair.listTasks()[2]?.taskId));
		await n8n.kill();
		await n8n.restart();
	}, 180_000);

	it('runs workflows that were active', async () => {
		expect((await call(2)).status).toBe(200);
		const executions = await pair.n8n.waitForExecutions({ workflowId: active.id, count: 2 });
		const bodies = executions.map((execution) => execution.getItems('Webhook')[0]?.body);
		expect(bodies).toEqual([{ round: 1 }, { round: 2 }]);
	});

	it('loses no callback that came while 20 tasks were parked and it was down', async () => {
		const execution = await pair.n8n.waitForExecution(parkedId, { timeout: 90_000 });
		expect(execution.status).toBe('success');
		expect(execution.getItems('Seen')).toEqual(
			Array.from({ length: 20 }, (_, index) => ({
				prompt: `prompt ${index}`,
				status: 'completed',
			})),
		);
		expect(pair.service.requests.filter(({ path }) => path.endsWith('/createTask'))).toHaveLength(
			20,
		);
	});
});
