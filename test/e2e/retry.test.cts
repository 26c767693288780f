import { expect } from '@jest/globals';
import { buildCredentialData, CREDENTIAL_TYPE } from '../../dev/fixtures/pair.cts';
import { chain, editSample, generate, NODE, prompts } from '../../dev/fixtures/workflows.cts';
import { usePair } from './support.cts';

const pair = usePair({
	service: {
		taskSeconds: 0.5,
		lookupSeconds: 0,
		credits: 1e9,
		callbackRetrySeconds: [0.2, 0.4, 0.8, 1.6, 3.2],
	},
});

it('an execution that failed, corrected and retried from the executions list, keeps the tasks of the same requests', async () => {
	const { resultsUrl } = pair.service;
	const options = { tasksPer10Seconds: 0, concurrency: 1 };
	const ours = editSample(resultsUrl, { seed: 7, options });
	const texts = prompts(['one', '#status=422', 'three']);
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

describe('a retry while the catalogue fails', () => {
	const WAYS = {
		json: { anyInput: '={ "prompt": "{{ $json.prompt }}", "duration": "5 " }' },
		fields: {
			inputMode: 'fields',
			prompt: '={{ $json.prompt }}',
			anyFields: { mappingMode: 'defineBelow', schema: [], value: { duration: '5 ' } },
		},
	};

	it.each(['json', 'fields'] as const)('pays for nothing again: %s', async (way) => {
		const { service, n8n } = pair;
		const options = { concurrency: 1 };
		const ours = generate({ anyModel: 'epsilon-2/text-to-video', options, ...WAYS[way] });
		const credential = await pair.createCredential({});
		const texts = prompts(['one', 'two', '#status=422']);
		const { id } = await pair.importWorkflow(chain('Retry', [texts, ours]), { credential });
		const failed = await pair.runSaved(id);
		expect(failed.status).toBe('error');
		expect(pair.listPrompts()).toEqual(['one', 'two']);
		const before = pair.countCreations();

		// n8n has nothing in memory of what is below this path.
		const modelSchemaPath = `/api/v1/models/{model}/schema?${way}`;
		const data = buildCredentialData(service, { advancedSettings: true, modelSchemaPath });
		await n8n.updateCredential(credential.id, { name: 'Changed', type: CREDENTIAL_TYPE, data });
		const fault = { path: '/api/v1/models/', status: 503, message: 'the catalogue is down' };
		const faults = Array.from({ length: 20 }, () => fault);
		faults.forEach(service.faultNext);
		const retried = await pair.retry(failed.id);
		expect(service.requestFaults.length).toBeLessThan(faults.length);
		service.requestFaults.length = 0;
		expect(retried.readError()).toContain(way === 'json' ? pair.findId('one') : fault.message);
		// The one that was refused is sent again, unless nothing is.
		expect(pair.countCreations() - before).toBe(way === 'json' ? 1 : 0);
		expect(pair.listPrompts()).toEqual(['one', 'two']);
	});
});
