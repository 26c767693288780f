const fs = require('node:fs');
const path = require('node:path');
const { startPackedN8n } = require('../../dev/fixtures/pair.cts');

const README = path.join(__dirname, '..', '..', 'README.md');

const WORKFLOW = {
	name: 'A webhook',
	nodes: [
		{
			id: 'c0ffee00-0000-4000-8000-000000000001',
			name: 'Webhook',
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			position: [0, 0],
			webhookId: 'c0ffee00-0000-4000-8000-000000000002',
			parameters: { httpMethod: 'POST', path: 'driver' },
		},
	],
	connections: {},
};

describe('the n8n that the end-to-end tests run', () => {
	/** @type {import('../../dev/n8n/n8n.cts').N8n} */
	let n8n;

	beforeAll(async () => {
		n8n = await startPackedN8n();
	});

	afterAll(async () => {
		await n8n?.stop();
	});

	/** @param {object} body */
	async function post(body) {
		return await fetch(await n8n.getProductionWebhookUrl(WORKFLOW), {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
	}

	it('is one that the README names', async () => {
		const { versionCli } = await n8n.request('GET', '/rest/settings');

		expect(fs.readFileSync(README, 'utf8')).toContain(`n8n ${versionCli}`);
	});

	it('has the packed nodes', async () => {
		const types = await n8n.listNodeTypes('n8n-nodes-media-generation');

		expect(types.map(({ name }) => name)).toEqual([
			'n8n-nodes-media-generation.mediaGeneration',
			'n8n-nodes-media-generation.mediaGenerationTool',
			'n8n-nodes-media-generation.mediaGenerationTrigger',
		]);
	});

	it('runs an active workflow, also after a kill and a restart', async () => {
		const { id: workflowId } = await n8n.importWorkflow(WORKFLOW);
		await n8n.activate(workflowId);

		expect((await post({ round: 1 })).status).toBe(200);
		await n8n.waitForExecutions({ workflowId, count: 1 });
		await n8n.kill();
		await n8n.restart();
		expect((await post({ round: 2 })).status).toBe(200);

		const executions = await n8n.waitForExecutions({ workflowId, count: 2 });
		expect(executions.map((execution) => execution.getItems('Webhook')[0].body)).toEqual([
			{ round: 1 },
			{ round: 2 },
		]);
	});
});
