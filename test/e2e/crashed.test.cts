import { expect } from '@jest/globals';
import { chain, editSample, NODE, prompts, WAIT } from '../../dev/fixtures/workflows.cts';
import { usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 2, callbackRetrySeconds: [0.5, 1, 2, 4, 8] },
	n8n: {},
	keeps: true,
});

describe('an execution that crashed after its tasks had ended, retried from the executions list', () => {
	const texts = ['one', 'two'];
	let retried: Awaited<ReturnType<typeof pair.runSaved>>;

	beforeAll(async () => {
		const { n8n, service } = pair;
		// Blank for the tasks that are the node's input after the crash.
		const edit = editSample(service.resultsUrl, {
			operation: 'createAndWait',
			prompt: '=A photo of {{ $json.prompt }}',
		});
		const parameters = { amount: 12, unit: 'seconds' };
		const workflow = chain('Crashed', [prompts(texts), edit, { ...WAIT, parameters }]);
		const id = await pair.park(workflow);
		for (const taskId of pair.listIds()) await service.waitForTask(taskId);
		await n8n.waitForExecution(id, { until: ['running'] });
		await n8n.kill();
		await n8n.restart();
		await n8n.waitForExecution(id, { until: ['crashed'] });
		const { id: again } = await n8n.request<{ id: string }>(
			'POST',
			`/rest/executions/${id}/retry`,
			{ loadWorkflow: true },
		);
		retried = await n8n.waitForExecution(again, { timeout: 60_000 });
	}, 180_000);

	it('buys nothing again, and outputs the tasks in their places', () => {
		expect(retried.status).toBe('success');
		expect(pair.countCreations()).toBe(2);
		expect(retried.getItems(NODE)).toMatchObject(
			texts.map((text) => ({
				taskId: pair.findId(`A photo of ${text}`),
				status: 'completed',
			})),
		);
	});
});
