import { expect } from '@jest/globals';
import { TOKEN } from '../../dev/fixtures/pair.cts';
import { chain, editSample, buildItems, NODE, NODE_TYPE } from '../../dev/fixtures/workflows.cts';
import { startService } from '../../dev/service/index.cts';
import { readHints, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5 } });

it('charges each item to its own account where the credential has expressions, and polls instead of sleeping', async () => {
	await using other = await startService({ token: 'other-token', taskSeconds: 0.5 });
	const byItem = { baseUrl: '={{ $json.url }}', accessToken: '={{ $json.token }}' };
	const credential = await pair.createCredential(byItem);
	const accounts = buildItems([
		{ url: pair.service.url, token: TOKEN, prompt: 'one' },
		{ url: other.url, token: 'other-token', prompt: 'two' },
	]);
	const { filesUrl } = pair.service;
	const execution = await pair.run(chain('Accounts', [accounts, editSample(filesUrl)]), {
		credential,
	});
	expect(execution.getItems(NODE).map(({ status }) => status)).toEqual(['completed', 'completed']);
	expect(readHints(execution).join()).toContain('The run stayed awake because the credential');
	expect(pair.listPrompts()).toEqual(['one']);
	expect([...other.tasks.values()]).toMatchObject([{ input: { prompt: 'two' } }]);
});

it.each(['={{ $json.token }}', "={{ $('Form').item.json.token }}"])(
	'the editor says that a credential with the token %s depends on the run, and how to go on',
	async (accessToken) => {
		const { id, name } = await pair.createCredential({ accessToken });
		/** Asks for models or fields, as the editor does. */
		const ask = async (path: string, methodName: string) =>
			await pair.n8n.request<object>('POST', `/rest/dynamic-node-parameters/${path}`, {
				path: 'parameters.anyModel',
				nodeTypeAndVersion: { name: NODE_TYPE, version: 1.1 },
				currentNodeParameters: { anyModel: { __rl: true, mode: 'id', value: 'eta-upscale' } },
				credentials: { mediaGenerationApi: { id, name } },
				methodName,
			});
		const list = ask('resource-locator-results', 'searchModels');
		await expect(list).rejects.toThrow(/credential depends on the run.*JSON.*By ID/);
		const fields = await ask('resource-mapper-fields', 'getModelFields');
		expect(fields).toEqual({
			fields: [],
			emptyFieldsNotice: expect.stringMatching(/credential depends on the run.*JSON/),
		});
	},
);
