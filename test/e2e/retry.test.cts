import { expect } from '@jest/globals';
import { chain, editSample, NODE, buildPrompts } from '../../dev/fixtures/workflows.cts';
import { usePair } from './support.cts';

const pair = usePair({
	service: {
		taskSeconds: 0.5,
		readSeconds: 0,
		credits: 1e9,
		callbackRetrySeconds: [0.2, 0.4, 0.8, 1.6, 3.2],
	},
});

it('an execution that failed, corrected and retried from the executions list, keeps the tasks of the same requests', async () => {
	const { filesUrl } = pair.service;
	const options = { tasksPer10Seconds: 0, concurrency: 1 };
	const ours = editSample(filesUrl, { seed: 7, options });
	const texts = buildPrompts(['one', '#status=422', 'three']);
	const { id } = await pair.importWorkflow(chain('Retry', [texts, ours]));
	const failed = await pair.runSaved(id);
	expect(failed.status).toBe('error');
	expect(failed.getError()?.description).toContain(pair.findId('one'));
	const { nodes } = await pair.n8n.getWorkflow(id);
	const corrected = JSON.stringify(nodes).replace(
		'{{ $json.prompt }}',
		"{{ $json.prompt.replace('#status=422', 'two') }}",
	);
	const changes = { nodes: JSON.parse(corrected) as object };
	await pair.n8n.request('PATCH', `/rest/workflows/${id}`, changes);
	const before = pair.countCreations();
	const execution = await pair.retry(failed.id, { loadWorkflow: true });
	expect(execution.status).toBe('success');
	expect(pair.countCreations()).toBe(before + 2);
	expect(pair.listPrompts()).toEqual(['one', 'three', 'two']);
	expect(execution.getItems(NODE)).toMatchObject(pair.listCompleted('one', 'two', 'three'));
});
