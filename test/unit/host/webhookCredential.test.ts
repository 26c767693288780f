import type { IWebhookFunctions } from 'n8n-workflow';
import { readAsWebhook } from '../../../nodes/MediaGeneration/host/webhookCredential';

const node = { id: 'node', name: 'Node' };

/** Builds a context as n8n's classes are: its own read uses fields of the context. */
function buildContext(more: object = {}) {
	const read = jest.fn();
	const context = {
		getNode: () => node,
		getCredentials: async () => await Promise.resolve({ from: 'the documented read' }),
		async _getCredentials(this: Record<string, unknown>, ...all: unknown[]) {
			read(...all);
			const { runExecutionData, runIndex } = this;
			return await Promise.resolve({ runExecutionData, runIndex });
		},
		...more,
	};
	const send = async () => await readAsWebhook(context as unknown as IWebhookFunctions, 'api');
	return { read, send };
}

it('expressions of the credential see no item, and nothing that the request brought', async () => {
	const { read, send } = buildContext({ connectionInputData: [{ json: { body: 'a stranger' } }] });
	await send();
	expect(read.mock.calls).toEqual([['api', { data: {}, node, source: null }, [], 0]]);
});

it('a run that falls asleep reads the credential as its webhook will, whichever run it is', async () => {
	const runExecutionData = { resultData: { runData: { Form: [] } } };
	const { send } = buildContext({ runExecutionData, runIndex: 3 });
	expect(await send()).toEqual({ runExecutionData, runIndex: 0 });
});

it('a trigger, which has no run yet, reads it in the isolate that n8n holds for the workflow', async () => {
	const { send } = buildContext({ runExecutionData: undefined });
	expect(await send()).toEqual({ runExecutionData: { resultData: { runData: {} } }, runIndex: 0 });
});

it('an n8n without this method is asked in the documented way', async () => {
	const { send } = buildContext({ _getCredentials: undefined });
	expect(await send()).toEqual({ from: 'the documented read' });
});
