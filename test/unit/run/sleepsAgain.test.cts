import { Account, finish, NodeExecution, type Settings } from './failingRuns.cts';

/** As in another process: this one knows of no runs. */
jest.mock('../../../nodes/MediaGeneration/run/here', () => {
	const here: object = jest.requireActual('../../../nodes/MediaGeneration/run/here');
	return { ...here, catchUp: () => {}, findRunHere: () => undefined };
});

it('files are named by the prompt after a try and a sleep, in another process', async () => {
	const read = (item: number) => ({ item, prompt: `cats ${item}` });
	const settings: Settings = {
		items: [['failed', 'good'], ['good']],
		maxTries: 2,
		sleeps: true,
		read,
	};
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	const came = await finish(first, await first.run());
	const names = came.output.map(({ binary }) => Object.values(binary ?? {})[0]?.fileName);
	expect(names).toEqual(['cats-0.png', 'cats-1.png']);
});

it('a task that completed before a try is completed after the sleep, though the service knows it no longer', async () => {
	const settings: Settings = { items: [['failed', 'good'], ['good']], maxTries: 2, sleeps: true };
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	expect((await first.run()).sleeps).toBe(true);
	const came = await first.wake();
	expect(came.sleeps).toBe(true);
	const look = account.look.bind(account);
	account.look = (taskId) =>
		taskId === 'task-1-1' ? { statusCode: 200, body: '{"code":500,"msg":"fault"}' } : look(taskId);
	const last = await finish(first, came);
	expect(last.error?.message).toBeUndefined();
	expect(last.output.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
});
