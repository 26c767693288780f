import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import { newTask } from '../../../../nodes/MediaGeneration/api/task';
import { Looker, type Source } from '../../../../nodes/MediaGeneration/operations/wait/looker';

it('files of a run that was woken may take as long as its Request Timeout says', async () => {
	const timeouts: unknown[] = [];
	const helpers = {
		httpRequest: async ({ timeout }: { timeout?: number }) => {
			timeouts.push(timeout);
			throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
		},
	};
	const service = { credentials: { baseUrl: 'https://api.example', accessToken: 'token' } };
	const looker = new Looker({
		limit: 1,
		timeoutSeconds: 300,
		downloads: { field: 'data', maxBytes: null },
	});
	const task = newTask('task', 'model');
	const resultUrls = ['https://files.example/a.png'];
	looker.batch.setTasks([{ ...task, status: 'completed', resultUrls }]);
	// Of an item that has a task, no options are read.
	const settings = { timeoutSeconds: 60 };
	const source = { service: service as unknown as TaskService, helpers, settings };
	await looker.collectFiles(() => source as unknown as Source);
	expect(timeouts.length).toBeGreaterThan(0);
	expect(new Set(timeouts)).toEqual(new Set([300_000]));
});
