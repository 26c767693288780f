import type { INodeExecutionData } from 'n8n-workflow';
import type { Task } from '../../../nodes/MediaGeneration/api/task';
import { fallAsleep } from '../../../nodes/MediaGeneration/run/sleep/sleep';
import { buildEntry, buildWaiting } from './waitingRun';

const RESUME_URL = 'https://n8n.example/webhook-waiting/7';
const MINUTE = 60_000;

beforeEach(() => void jest.useFakeTimers({ now: 1_000 }));
afterEach(() => jest.useRealTimers());

let executions = 0;

/** A run with a task that has ended, with two files, one that goes on, and an item that was refused. */
function build({ goesOn = true, failedTasks = 'output' as 'output' | 'error' } = {}) {
	const ended: Task = {
		...{ taskId: 'a', model: 'model', status: 'completed' },
		...{ resultUrls: ['https://files.example/1', 'https://files.example/2'] },
	};
	const put = jest.fn<Promise<void>, [Date]>().mockResolvedValue();
	const input: INodeExecutionData[] = [0, 1, 2].map((item) => ({ json: { item } }));
	const data: Record<string, unknown> = { main: [input] };
	const entries = [buildEntry({ taskId: 'a', end: ended }), buildEntry({ taskId: 'b' })];
	const run = buildWaiting([...entries, { attempts: [] }], {
		...{ executionId: `sleep-${executions++}`, goesOn },
		settings: { limit: MINUTE, perFile: true, failedTasks },
		more: {
			evaluateExpression: () => RESUME_URL,
			getExecuteData: () => ({ data }),
			putExecutionToWait: put,
			helpers: {
				constructExecutionMetaData: (items: object[], { itemData }: { itemData: object }) =>
					items.map((item) => ({ ...item, pairedItem: itemData })),
			},
		},
	});
	run.errors.set(2, new Error('refused'));
	run.decision.obstacle = 'it answers 302';
	return { run, put, data, input };
}

it('n8n stores the items so far, the input and the errors, and ends the wait after the limit', async () => {
	const { run, put, data, input } = build();
	const returned = await fallAsleep(run);
	expect(returned).toMatchObject([
		{ json: { taskId: 'a', status: 'completed', file: { index: 0 } }, pairedItem: { item: 0 } },
		{ json: { taskId: 'a', file: { index: 1 } } },
		{ json: { taskId: 'b', status: 'timedOut' }, pairedItem: { item: 1 } },
		{ json: {}, error: { message: 'refused' }, pairedItem: { item: 2 } },
	]);
	const stored = [...returned];
	// n8n empties the array that a node returns, where its errors have an output of their own.
	returned.pop();
	const [[until]] = put.mock.calls as [[Date]];
	expect(data).toEqual({ main: [stored], 'media-generation-input': [input] });
	const errors = { 2: { message: 'refused' } };
	expect(run.ledger.sleep).toEqual({ number: 1, end: until.getTime(), errors });
	expect(until.getTime()).toBeGreaterThan(1_000 + MINUTE);
	expect([run.hints, run.log]).toEqual([[], ['"Node" sleeps, but it answers 302.']]);
});

it('where n8n ends the sleep itself, a task that has not ended is an error as the run would make it', async () => {
	const { run } = build({ failedTasks: 'error' });
	const [, , unfinished] = await fallAsleep(run);
	const error = { message: expect.stringMatching(/had not ended .* Task ID: b$/) as string };
	expect(unfinished).toEqual({ json: {}, error, pairedItem: { item: 1 } });
});

it('notes no sleep where n8n could not let it', async () => {
	const { run, put, data, input } = build();
	put.mockRejectedValue(new Error('No active execution found'));
	await expect(fallAsleep(run)).rejects.toThrow('No active execution');
	expect(run.ledger.sleep).toBeUndefined();
	expect(data).toEqual({ main: [input] });
});
