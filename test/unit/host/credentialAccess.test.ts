import type { IWebhookFunctions } from 'n8n-workflow';
import { readAsWebhook } from '../../../nodes/MediaGeneration/host/credentialAccess';
import { buildBaseContext } from '../../world/contexts.cts';

const node = { id: 'node', name: 'Node' };

/** Reads the credential in a context as n8n's classes are: its own read uses fields of the context. */
async function read(more: object = {}) {
	const context = {
		getCredentials: async () => await Promise.resolve({ from: 'the documented read' }),
		async _getCredentials(this: Record<string, unknown>, ...given: unknown[]) {
			const { runExecutionData, runIndex } = this;
			return await Promise.resolve({ given, runExecutionData, runIndex });
		},
		...more,
	};
	return await readAsWebhook(buildBaseContext<IWebhookFunctions>({ node }, context));
}

/** Expressions see no item, and nothing that the request brought. */
const given = ['mediaGenerationApi', { data: {}, node, source: null }, [], 0];
const NO_RUN = { resultData: { runData: {} } };

it.each([
	['a run that falls asleep, as its webhook will', { resultData: { runData: { Form: [] } } }],
	['a trigger, which has no run yet', undefined],
])('%s reads the credential in the isolate that n8n holds', async (_, runExecutionData) => {
	const more = { runExecutionData, runIndex: 3, connectionInputData: [{ json: {} }] };
	const expected = { given, runExecutionData: runExecutionData ?? NO_RUN, runIndex: 0 };
	expect(await read(more)).toEqual(expected);
});

it('an n8n without this method is asked in the documented way', async () => {
	expect(await read({ _getCredentials: undefined })).toEqual({ from: 'the documented read' });
});
