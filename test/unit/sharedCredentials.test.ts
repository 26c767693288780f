import type { IWebhookFunctions } from 'n8n-workflow';
import {
	readSharedCredentials,
	SHARED_FOR,
} from '../../nodes/MediaGeneration/callback/sharedCredentials';

const withId = (id: string) => ({ mediaGenerationApi: { id } });

/** A node whose credential reads end when told. */
function buildNode(
	id: string,
	{ workflow = 'workflow', credentials = withId('one') as object, mode = 'webhook' } = {},
) {
	const reads: Array<{ resolve: (token: string) => void; reject: (error: Error) => void }> = [];
	const context = {
		getNode: () => ({ id, credentials }),
		getWorkflow: () => ({ id: workflow }),
		getMode: () => mode,
		getCredentials: async () =>
			await new Promise((resolve, reject) =>
				reads.push({ resolve: (accessToken) => resolve({ accessToken }), reject }),
			),
	} as unknown as IWebhookFunctions;
	return { reads, read: async () => (await readSharedCredentials(context)).accessToken };
}

describe('callbacks that read a credential', () => {
	beforeEach(() => void jest.useFakeTimers());
	afterEach(() => void jest.useRealTimers());

	it('share one read for a second, and the next one reads anew', async () => {
		const { reads, read } = buildNode('shared');
		const first = [read(), read(), read()];
		reads[0]?.resolve('old');
		expect(await Promise.all(first)).toEqual(['old', 'old', 'old']);
		await jest.advanceTimersByTimeAsync(SHARED_FOR - 1);
		expect(await read()).toBe('old');
		expect(reads).toHaveLength(1);
		await jest.advanceTimersByTimeAsync(1);
		const next = read();
		reads[1]?.resolve('new');
		expect(await next).toBe('new');
	});

	it('share its failure too, which is not kept', async () => {
		const { reads, read } = buildNode('failing');
		const first = [read(), read()].map(async (token) => await token.catch(String));
		reads[0]?.reject(new Error('no database'));
		expect(await Promise.all(first)).toEqual(['Error: no database', 'Error: no database']);
		const next = read();
		reads[1]?.resolve('token');
		expect(await next).toBe('token');
	});

	it('share none with another node, workflow or mode, nor with another credential', async () => {
		const credentials = [{ credentials: withId('other') }, { credentials: {} }];
		const others = [{ workflow: 'other' }, { mode: 'manual' }, ...credentials];
		const nodes = [
			buildNode('one'),
			buildNode('two'),
			...others.map((other) => buildNode('one', other)),
		];
		const tokens = nodes.map(async ({ read }) => await read());
		for (const [index, { reads }] of nodes.entries()) reads[0]?.resolve(`${index}`);
		expect(await Promise.all(tokens)).toEqual(['0', '1', '2', '3', '4', '5']);
	});
});
