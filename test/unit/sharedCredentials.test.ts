import type { IWebhookFunctions } from 'n8n-workflow';
import { readSharedCredentials, SHARED_FOR } from '../../nodes/MediaGeneration/callback/webhook';

/** A node whose credential reads end when told. */
function nodeOf(id: string, credential = 'credential') {
	const reads: Array<{ resolve: (token: string) => void; reject: (error: Error) => void }> = [];
	const context = {
		getNode: () => ({ id, credentials: { mediaGenerationApi: { id: credential, name: '' } } }),
		getWorkflow: () => ({ id: 'workflow' }),
		getMode: () => 'webhook',
		getCredentials: async () =>
			await new Promise((resolve, reject) =>
				reads.push({ resolve: (accessToken) => resolve({ accessToken }), reject }),
			),
	} as unknown as IWebhookFunctions;
	const connect = async () => (await readSharedCredentials(context)).accessToken;
	return { reads, connect };
}

describe('callbacks that read a credential', () => {
	afterEach(() => jest.useRealTimers());

	it('share one read for a second, and the next one reads anew', async () => {
		jest.useFakeTimers();
		const { reads, connect } = nodeOf('shared');
		const first = [connect(), connect(), connect()];
		reads[0]?.resolve('old');
		expect(await Promise.all(first)).toEqual(['old', 'old', 'old']);
		await jest.advanceTimersByTimeAsync(SHARED_FOR - 1);
		expect(await connect()).toBe('old');
		expect(reads).toHaveLength(1);
		await jest.advanceTimersByTimeAsync(1);
		const next = connect();
		expect(reads).toHaveLength(2);
		reads[1]?.resolve('new');
		expect(await next).toBe('new');
	});

	it('share its failure too, which is not kept', async () => {
		const { reads, connect } = nodeOf('failing');
		const first = [connect(), connect()];
		reads[0]?.reject(new Error('no database'));
		expect((await Promise.allSettled(first)).map(({ status }) => status)).toEqual([
			'rejected',
			'rejected',
		]);
		const next = connect();
		reads[1]?.resolve('token');
		expect(await next).toBe('token');
	});

	it('share none with another node, nor with another credential of the same', async () => {
		const nodes = [nodeOf('one'), nodeOf('two'), nodeOf('one', 'other')];
		const tokens = nodes.map(async ({ connect }) => await connect());
		for (const [index, { reads }] of nodes.entries()) reads[0]?.resolve(`${index}`);
		expect(await Promise.all(tokens)).toEqual(['0', '1', '2']);
	});
});
