import { newTask, type Task } from '../../../../nodes/MediaGeneration/api/task';
import type { CreateResult } from '../../../../nodes/MediaGeneration/operations/create/createTasks';
import type { Wait } from '../../../../nodes/MediaGeneration/operations/record';
import type { WaitSettings } from '../../../../nodes/MediaGeneration/operations/wait/looker';
import { pollUntilEnded } from '../../../../nodes/MediaGeneration/operations/wait/poll';
import { waitForTasks } from '../../../../nodes/MediaGeneration/operations/wait/waitForTasks';
import { findWaiting } from '../../../../nodes/MediaGeneration/operations/wait/waiting';
import { buildContext } from '../../context';
import { buildItem } from '../creations';

jest.mock('../../../../nodes/MediaGeneration/operations/wait/poll');
const polled = jest.mocked(pollUntilEnded);
beforeEach(() => {
	jest.resetAllMocks();
	jest.spyOn(Date, 'now').mockReturnValue(1_000);
});
afterEach(() => jest.restoreAllMocks());

const RESUME_URL = 'https://n8n.example/webhook-waiting/7';
const FAILED = { error: new Error('refused') };
const pending = (taskId: string) => newTask(taskId, 'model');
const completed = (taskId: string): Task => ({ ...pending(taskId), status: 'completed' });

/** Waits for these tasks, or what came instead of them. */
async function wait(tasks: Array<Task | typeof FAILED | undefined>, resumeUrl?: string) {
	const hints: string[] = [];
	const data: { main?: unknown } = {};
	const put = jest.fn<Promise<void>, [Date]>().mockResolvedValue();
	const context = buildContext(
		{},
		{
			addExecutionHints: ({ message }: { message: string }) => hints.push(message),
			getExecuteData: () => ({ data }),
			putExecutionToWait: put,
		},
	);
	const results = tasks.map((task, index): CreateResult => {
		if (!task || 'error' in task) return task;
		return { task, item: buildItem(context, index, { credentials: { accessToken: task.taskId } }) };
	});
	const stored: Wait<WaitSettings> = { settings: { limit: 500, timeoutSeconds: 1 } };
	const how = { wait: stored, decision: { resumeUrl } };
	const run = async () => await waitForTasks(context, results, how);
	return { ...(await run()), run, stored, hints, context, data, put };
}

const shown = (taskId: string, status: string) => ({
	items: [{ json: { ...pending(taskId), status } }],
});

it('polls without a resume URL, and outputs what it learned, each task once, at the position of its item', async () => {
	polled.mockImplementation(async (_, { batch }) => batch.learn('b', completed('b')));
	const tasks = [FAILED, pending('a'), undefined, pending('b'), pending('a')];
	const { outcomes, fallAsleep, hints } = await wait(tasks);
	const expected = [FAILED, shown('a', 'timedOut'), undefined, shown('b', 'completed')];
	expect(outcomes).toEqual([...expected, { items: [] }]);
	expect(fallAsleep).toBeUndefined();
	expect(hints).toEqual([expect.stringContaining('1 of 2 tasks has not ended')]);
	const [, , { getSource }] = polled.mock.calls[0] as Parameters<typeof pollUntilEnded>;
	expect(getSource('b').service.credentials.accessToken).toBe('b');
});

it('a later try goes on to the same limit', async () => {
	const { run } = await wait([pending('a')]);
	jest.mocked(Date.now).mockReturnValue(1_200);
	await run();
	expect(polled.mock.calls.map(([, , { until }]) => until)).toEqual([1_500, 1_500]);
});

describe('with a resume URL', () => {
	const items = [{ json: { taskId: 'a', status: 'timedOut' } }];

	it('sleeps: n8n stores the items so far, and ends the wait after the limit', async () => {
		const tasks = [completed('b'), pending('a')];
		const run = await wait(tasks, `${RESUME_URL}?signature=key`);
		expect(run.outcomes[1]).toEqual(shown('a', 'timedOut'));
		const returned = [...items];
		await run.fallAsleep?.(returned);
		returned.pop();
		expect(polled).not.toHaveBeenCalled();
		expect(run.put).toHaveBeenCalledWith(new Date(101_500));
		expect(run.data.main).toEqual([items]);
		expect(run.stored).toMatchObject({ parkedUntil: 1_500, resumeUrl: RESUME_URL });
		const { settings } = run.stored;
		expect(findWaiting(run.context)?.stored).toEqual({ items, settings, until: 1_500 });
	});

	it('does not note that it sleeps where n8n could not park it', async () => {
		const { put, fallAsleep, stored } = await wait([pending('a')], RESUME_URL);
		put.mockRejectedValue(new Error('No active execution found'));
		await expect(fallAsleep?.(items)).rejects.toThrow('No active execution');
		expect(stored).not.toHaveProperty('parkedUntil');
	});

	it('stays awake if no task is open', async () => {
		const { fallAsleep, outcomes } = await wait([completed('a')], RESUME_URL);
		expect(fallAsleep).toBeUndefined();
		expect(outcomes).toEqual([shown('a', 'completed')]);
	});
});
