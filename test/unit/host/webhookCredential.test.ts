import type { IExecuteFunctions } from 'n8n-workflow';
import { readAsWebhook } from '../../../nodes/MediaGeneration/host/webhookCredential';

/** A run whose credential n8n resolves with its input data. */
const buildRun = (resolve: (input: unknown) => object) =>
	({
		connectionInputData: ['an item'],
		async getCredentials(this: { connectionInputData: unknown }) {
			await Promise.resolve();
			return resolve(this.connectionInputData);
		},
	}) as unknown as IExecuteFunctions;

it('a credential is read without the input of the run, which stays as it was', async () => {
	const run = buildRun((input) => ({ input }));
	expect(await readAsWebhook(run, 'type')).toEqual({ input: undefined });
	expect(run).toMatchObject({ connectionInputData: ['an item'] });
});

it('a credential that needs the input is none', async () => {
	const run = buildRun((input) => ({ key: (input as string[])[0] }));
	expect(await readAsWebhook(run, 'type')).toBeUndefined();
});
