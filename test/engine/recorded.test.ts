import { useService } from './engine';
import { recordings } from './recordings.cts';

describe.each(recordings)(
	'the node, answered as $name was recorded',
	({ recorded, model, input }) => {
		const engine = useService({ recorded, taskSeconds: 0.05 });

		/** The recorded input, with files that this emulator has. */
		const buildInput = () =>
			JSON.stringify(input).replaceAll('{resultsUrl}', engine.service.resultsUrl);

		it('creates a task, waits for it, and downloads its files', async () => {
			const { output, error } = await engine.run({
				resource: 'task',
				operation: 'createAndWait',
				model: 'custom',
				customModel: model,
				inputMode: 'json',
				customInput: buildInput(),
				waitFor: 'polling',
				downloadResults: true,
			});
			expect(error).toBeUndefined();
			const [taskId] = engine.service.tasks.keys();
			const [item] = output[0] ?? [];
			expect(item?.json).toMatchObject({ taskId, status: 'completed', model });
			expect(item?.json.resultUrls).not.toEqual([]);
			expect(item?.json.downloadError).toBeUndefined();
			expect(item?.binary?.data).toBeDefined();
		});

		it('reads the credits', async () => {
			const { output } = await engine.run({ resource: 'account', operation: 'getCredits' });
			expect(output[0]?.[0]?.json).toEqual({ credits: expect.any(Number) as number });
		});

		it('uploads a file', async () => {
			const fileUrl = `${engine.service.resultsUrl}/sample.png`;
			const parameters = { resource: 'file', operation: 'upload', source: 'url', fileUrl };
			const { output } = await engine.run(parameters);
			const [upload] = engine.service.uploads.values();
			expect(output[0]?.[0]?.json).toMatchObject({ url: upload?.downloadUrl });
		});

		it('names an unknown task and a wrong token', async () => {
			const get = { resource: 'task', operation: 'get', taskId: 'no-such-task' };
			expect((await engine.run(get)).error?.message).toMatch(/\((404|422)/);
			const credentials = { ...engine.credentials, accessToken: 'wrong' };
			const { error } = await engine.run(
				{ resource: 'account', operation: 'getCredits' },
				{ credentials },
			);
			expect(error?.message).toContain('does not accept the access token');
		});
	},
);
