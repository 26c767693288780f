import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import { newTask, type Task } from '../../../../nodes/MediaGeneration/api/task';
import {
	Looker,
	type WaitSettings,
} from '../../../../nodes/MediaGeneration/operations/wait/looker';

const settings: WaitSettings = { timeoutSeconds: 1 };
const completed: Partial<Task> = { status: 'completed', resultUrls: ['https://x/1'] };

/** Looks at three tasks; by default the second goes on. */
function build({
	answer = async (taskId: string): Promise<Partial<Task>> =>
		taskId === 'two' ? { status: 'pending' } : completed,
	downloads = undefined as WaitSettings['downloads'],
	helpers = undefined as object | undefined,
} = {}) {
	const ids = ['one', 'two', 'three'];
	const asked: string[] = [];
	const tasks = ids.map((taskId) => newTask(taskId, 'model'));
	const looker = new Looker(tasks, { ...settings, downloads });
	const getTask = async (taskId: string) => {
		asked.push(taskId);
		return { taskId, ...(await answer(taskId)) };
	};
	const service = { getTask, credentials: { baseUrl: 'https://x' } } as unknown as TaskService;
	const getSource = () =>
		({ service, helpers }) as ReturnType<Parameters<Looker['look']>[1]['getSource']>;
	const look = async (more: object = {}, taskIds = ids) =>
		await looker.look(taskIds, { getSource, ...more });
	return { looker, batch: looker.batch, asked, look, getSource };
}

it.each<[string, object, string[], string[]]>([
	['at all', {}, ['one', 'two', 'three'], ['two']],
	[
		'one by one until one goes on',
		{ untilOpen: true, concurrency: 1 },
		['one', 'two'],
		['two', 'three'],
	],
	[
		'at no more once it is aborted',
		{ signal: AbortSignal.abort(), concurrency: 1 },
		['one'],
		['two', 'three'],
	],
])('it looks %s', async (_, options, expected, open) => {
	const { asked, look, batch } = build();
	await look(options);
	expect(asked).toEqual(expected);
	expect(batch.openIds).toEqual(open);
});

it('notes a look that failed, and looks again', async () => {
	let fails = true;
	const { look, batch } = build({
		answer: async () => (fails ? await Promise.reject(new Error('no answer')) : completed),
	});
	await look();
	expect(batch.failure?.message).toBe('no answer');
	fails = false;
	await look();
	expect(batch).toMatchObject({ isEnded: true, failure: undefined });
});

it('asks for a task that has ended no more', async () => {
	const { look, asked } = build();
	await look();
	await look();
	expect(asked).toEqual(['one', 'two', 'three', 'two']);
});

it('whoever asks while a request is under way shares the next one, which may know more', async () => {
	const answers: Array<(task: Partial<Task>) => void> = [];
	const answer = async () =>
		await new Promise<Partial<Task>>((resolve) => void answers.push(resolve));
	const { look, asked, batch } = build({ answer });
	const looks = [look({}, ['one'])];
	await Promise.resolve();
	looks.push(look({}, ['one']), look({}, ['one']));
	expect(asked).toEqual(['one']);
	answers[0]?.({ status: 'pending' });
	await looks[0];
	expect(batch.isOpen('one')).toBe(true);
	answers[1]?.(completed);
	await Promise.all(looks);
	expect(asked).toEqual(['one', 'one']);
	expect(batch.isOpen('one')).toBe(false);
});

describe('files', () => {
	const downloads = { field: 'data', maxBytes: null };

	it('of tasks that have completed are fetched where there is a place for them', async () => {
		const helpers = { httpRequest: jest.fn().mockRejectedValue(new Error('gone')) };
		const { look, looker, batch, getSource } = build({ downloads, helpers });
		await look();
		await looker.collectFiles(getSource);
		const [json] = batch.toOutput('one').map((item) => item.json);
		expect(json).toMatchObject({
			...completed,
			downloadError: expect.stringContaining('its host x') as string,
		});
		expect(json).not.toMatchObject({ downloadError: expect.stringContaining('limit') as string });
		const { length } = helpers.httpRequest.mock.calls;
		await looker.collectFiles(getSource);
		expect(helpers.httpRequest).toHaveBeenCalledTimes(length);
	});

	it('are not fetched with nowhere to put them, which their task says', async () => {
		const { look, looker, batch, getSource } = build({ downloads });
		await look();
		await looker.collectFiles(getSource);
		expect(batch.toOutput('one')[0]?.json).toHaveProperty('downloadError');
	});

	it('are not fetched if nobody wishes for them', async () => {
		const helpers = { httpRequest: jest.fn() };
		const { look, looker, batch, getSource } = build({ helpers });
		await look();
		await looker.collectFiles(getSource);
		expect(helpers.httpRequest).not.toHaveBeenCalled();
		expect(batch.toOutput('one')[0]?.json).not.toHaveProperty('downloadError');
	});
});
