import { newTask } from '../../../../nodes/MediaGeneration/api/task';
import type { Item } from '../../../../nodes/MediaGeneration/operations/operation';
import { pollUntilEnded } from '../../../../nodes/MediaGeneration/operations/wait/poll';
import { fallAsleep } from '../../../../nodes/MediaGeneration/operations/wait/sleep';
import { waitForTasks } from '../../../../nodes/MediaGeneration/operations/wait/waitForTasks';
import { buildContext } from '../../context';

jest.mock('../../../../nodes/MediaGeneration/operations/wait/poll');
jest.mock('../../../../nodes/MediaGeneration/operations/wait/sleep');
const polled = jest.mocked(pollUntilEnded);
const slept = jest.mocked(fallAsleep);
beforeEach(() => {
	jest.resetAllMocks();
	jest.spyOn(Date, 'now').mockReturnValue(1_000);
});
afterEach(() => jest.restoreAllMocks());

const failed = { error: new Error('refused') };
const completed = { ...newTask('done', 'model'), status: 'completed' as const };

/** Waits for these results of the creations. */
async function wait(results: unknown[], resumeUrl?: string, begun?: number) {
	const hints: string[] = [];
	const context = buildContext(
		{},
		{
			getWorkflow: () => ({ name: 'Pictures' }),
			addExecutionHints: ({ message }: { message: string }) => hints.push(message),
			getExecutionCancelSignal: () => undefined,
		},
	);
	const created = results.map((result, index) => {
		const service = { credentials: { baseUrl: `https://${index}.example` } };
		return { item: { index, context, service } as unknown as Item, result };
	});
	const stored = { settings: { limit: 500, timeoutSeconds: 1 }, begun };
	const run = await waitForTasks(context, created as never, {
		wait: stored,
		decision: { resumeUrl },
	});
	return { ...run, stored, hints, context };
}

const shown = (taskId: string, status: string) => ({
	items: [{ json: { ...newTask(taskId, 'model'), status } }],
});
const results = [
	failed,
	{ task: newTask('a', 'model') },
	undefined,
	{ task: newTask('b', 'model') },
];

it('polls without a resume URL, and outputs what it learned at the position of each item', async () => {
	polled.mockImplementation(async (_, { batch }) => {
		batch.learn('b', { ...newTask('b', 'model'), status: 'completed' });
	});
	const { outcomes, hints, stored, fallAsleep: asleep } = await wait(results);
	expect(outcomes).toEqual([failed, shown('a', 'timedOut'), undefined, shown('b', 'completed')]);
	expect(asleep).toBeUndefined();
	expect(hints).toEqual([expect.stringContaining('1 of 2 tasks has not ended')]);
	expect(stored.begun).toBe(1_000);
	const [, , { until, getSource }] = polled.mock.calls[0] as Parameters<typeof pollUntilEnded>;
	expect(until).toBe(1_500);
	expect(getSource('b').service.credentials.baseUrl).toBe('https://3.example');
});

it('a later try goes on to the same limit', async () => {
	await wait(results, undefined, 700);
	expect(polled.mock.calls[0]?.[2].until).toBe(1_200);
});

it('sleeps with a resume URL, with the items as they are so far', async () => {
	const { outcomes, fallAsleep: asleep, stored, context } = await wait(results, 'https://n8n/7');
	expect(outcomes[1]).toEqual(shown('a', 'timedOut'));
	await asleep?.([]);
	expect(polled).not.toHaveBeenCalled();
	const credentials = { baseUrl: 'https://1.example' };
	const access = { url: 'https://n8n/7', credentials };
	expect(slept).toHaveBeenCalledWith(context, [], { wait: stored, until: 1_500 }, access);
});

it('stays awake if no task is open', async () => {
	const { fallAsleep: asleep, outcomes } = await wait([{ task: completed }], 'https://n8n/7');
	expect(asleep).toBeUndefined();
	expect(outcomes).toEqual([shown('done', 'completed')]);
});
