import type { INodeExecutionData } from 'n8n-workflow';
import { newTask, REQUEST, type Task } from '../../../../nodes/MediaGeneration/api/task';
import { toWords } from '../../../../nodes/MediaGeneration/lib/fileName';
import { openRecord } from '../../../../nodes/MediaGeneration/run/open';
import type { Sleep, Wait } from '../../../../nodes/MediaGeneration/operations/record/wait';
import { Sleeper } from '../../../../nodes/MediaGeneration/run/nap';
import type { WaitDecision } from '../../../../nodes/MediaGeneration/run/decide';
import type { planAwake } from '../../../../nodes/MediaGeneration/run/timetable';
import { waitForTasks } from '../../../../nodes/MediaGeneration/operations/wait/waitForTasks';
import { buildContext, buildItem, WAIT } from '../../n8n';
import { buildFileHelpers } from '../results/files.cts';

jest.mock('../../../../nodes/MediaGeneration/run/nap');
/** The ends of the waits that were planned. */
const mockEnds: number[] = [];
jest.mock('../../../../nodes/MediaGeneration/run/timetable', () => {
	const actual = jest.requireActual<{ planAwake: typeof planAwake }>(
		'../../../../nodes/MediaGeneration/run/timetable',
	);
	const plan: typeof planAwake = (begun, until, n8nEnds) => {
		mockEnds.push(until);
		return actual.planAwake(begun, until, n8nEnds);
	};
	return { ...actual, planAwake: plan };
});
beforeEach(() => {
	jest.resetAllMocks();
	mockEnds.length = 0;
	// So short a wait has one look, at once.
	jest.spyOn(Date, 'now').mockReturnValue(1_000);
});
afterEach(() => jest.restoreAllMocks());

const RESUME_URL = 'https://n8n.example/webhook-waiting/7/media-generation?signature=key';
const pending = (taskId: string) => newTask(taskId, 'model');
const completed = (taskId: string): Task => ({ ...pending(taskId), status: 'completed' });

let executions = 0;

/** A run with these tasks. Its service answers by `getTask`. */
function newRun(tasks: Task[], more: Partial<Wait['settings']> = {}) {
	const hints: string[] = [];
	const log: string[] = [];
	/** The token that each task was asked for with. */
	const tokens: Record<string, string> = {};
	const input: INodeExecutionData[] = tasks.map((_, item) => ({ json: { item } }));
	const data: { main?: unknown } = { main: [input] };
	const put = jest.fn<Promise<void>, [Date]>().mockResolvedValue();
	const getTask = jest.fn(async (taskId: string): Promise<Task> => pending(taskId));
	const { helpers, asked } = buildFileHelpers(() => ({ chunks: [Buffer.from('file')] }));
	const context = buildContext(
		{ executionId: `wait-${executions++}` },
		{
			addExecutionHints: ({ message }: { message: string }) => hints.push(message),
			getExecuteData: () => ({ data }),
			putExecutionToWait: put,
			helpers,
			getWorkflowSettings: () => ({}),
			getWorkflow: () => ({ id: 'workflow', name: 'Films' }),
			logger: { info() {}, warn: (line: string) => log.push(line) },
		},
	);
	const record = openRecord(context);
	const works = tasks.map((task, index) => {
		record.addTask(index, { model: 'model', input: {} }, task.taskId);
		const credentials = { accessToken: task.taskId };
		const { service } = buildItem(context, index, { credentials });
		Object.assign(service, {
			async getTask(taskId: string) {
				tokens[taskId] = service.credentials.accessToken;
				return await getTask(taskId);
			},
		});
		const words = toWords(task[REQUEST]?.prompt ?? '');
		return { index, getService: async () => service, task, words };
	});
	const settings = { ...WAIT, limit: 500, ...more };
	const stored = record.openWait(() => settings);
	const wait = async (decision: WaitDecision = {}, woken?: Sleep) =>
		await waitForTasks(context, works, {
			record: Object.assign(record, { woken }),
			wait: stored,
			decision,
		});
	return { wait, stored, hints, log, record, data, input, put, getTask, tokens, files: asked };
}

const shown = (taskId: string, status: string) => ({
	items: [{ json: { ...pending(taskId), status } }],
});

it('stays awake without a resume URL, says why, and outputs for each item its task', async () => {
	const { wait, hints, getTask } = newRun([pending('a'), pending('b'), pending('a')]);
	getTask.mockImplementation(async (id) => (id === 'b' ? completed(id) : pending(id)));
	const { outcomes, fallAsleep } = await wait({ reason: 'because somebody waits' });
	const a = shown('a', 'timedOut');
	expect(outcomes).toEqual([a, shown('b', 'completed'), a]);
	expect(fallAsleep).toBeUndefined();
	expect(hints).toEqual([
		'The run stayed awake because somebody waits.',
		expect.stringContaining('1 of 2 tasks has not ended'),
	]);
});

it('asks for each task by the account of its item', async () => {
	const { wait, tokens } = newRun([pending('a'), pending('b')]);
	await wait();
	expect(tokens).toEqual({ a: 'a', b: 'b' });
});

it('outputs an item for each file of a task where that is chosen', async () => {
	const resultUrls = ['https://x/1', 'https://x/2'];
	const task: Task = { ...completed('a'), resultUrls, result: { resultUrls } };
	const { outcomes } = await newRun([task], { perFile: true }).wait();
	const files = resultUrls.map((url, index) => ({ index, kind: 'result', url }));
	expect(outcomes).toEqual([{ items: files.map((file) => ({ json: { ...task, file } })) }]);
});

it('a later try goes on to the same limit', async () => {
	const { wait } = newRun([pending('a')]);
	await wait();
	jest.mocked(Date.now).mockReturnValue(1_200);
	await wait();
	expect(mockEnds).toEqual([1_500, 1_500]);
});

it('a later try asks for nothing that has ended, and downloads no file twice', async () => {
	const downloads = { field: 'data', maxBytes: null };
	const run = newRun([pending('a'), pending('b')], { downloads });
	const end = (taskId: string): Task => ({
		...completed(taskId),
		resultUrls: [`https://files.example/${taskId}`],
	});
	run.getTask.mockImplementation(async (id) => (id === 'a' ? end(id) : pending(id)));
	await run.wait();
	run.getTask.mockImplementation(async (id) => end(id));
	const { outcomes } = await run.wait();
	const binary = { data: expect.objectContaining({ data: 'file' }) as object };
	expect(outcomes).toMatchObject([{ items: [{ binary }] }, { items: [{ binary }] }]);
	expect(run.getTask.mock.calls.map(([id]) => id)).toEqual(['a', 'b', 'b']);
	expect(run.files.map(({ url }) => url)).toEqual([
		'https://files.example/a',
		'https://files.example/b',
	]);
});

describe('a run that was woken', () => {
	const asleep = { number: 1, until: 1_500, input: [], failures: {} };

	it('asks for no task whose end the webhook knew, and names its file by its prompt', async () => {
		const downloads = { field: 'data', maxBytes: null };
		const created = { ...pending('a'), [REQUEST]: { prompt: 'A cat' } };
		const { wait, getTask } = newRun([created, pending('b')], { downloads });
		const woken = [{ ...completed('a'), resultUrls: ['https://files.example/1'] }];
		const { outcomes, fallAsleep } = await wait({}, { ...asleep, woken });
		expect(fallAsleep).toBeUndefined();
		expect(getTask.mock.calls).toEqual([['b']]);
		const data = { fileName: expect.stringMatching(/^a-cat/i) as string };
		expect(outcomes).toMatchObject([
			{ items: [{ json: { taskId: 'a', status: 'completed' }, binary: { data } }] },
			shown('b', 'timedOut'),
		]);
	});

	it('does not say that it stayed awake', async () => {
		const { wait, hints } = newRun([completed('a')]);
		await wait({}, { ...asleep, woken: [] });
		expect(hints).toEqual([]);
	});
});

describe('with a resume URL', () => {
	const items = [{ json: { taskId: 'a', status: 'timedOut' } }];
	const decision = { resumeUrl: RESUME_URL, obstacle: 'it answers 302' };

	it('sleeps: n8n stores the items so far, and ends the wait after the limit', async () => {
		const resultUrls = ['https://files.example/1', 'https://files.example/2'];
		const b = { ...completed('b'), resultUrls };
		const { wait, input, put, data, record, getTask, ...run } = newRun([b, pending('a')], {
			perFile: true,
		});
		const { outcomes, fallAsleep } = await wait(decision);
		expect(outcomes).toEqual([{ items: [{ json: b }] }, shown('a', 'timedOut')]);
		const returned = [...items];
		const failures = { 2: { message: 'refused' } };
		await fallAsleep?.(returned, failures);
		// n8n empties the array that a node returns, where its errors have an output of their own.
		returned.pop();
		expect(getTask).not.toHaveBeenCalled();
		expect(put).toHaveBeenCalledWith(new Date(101_500));
		expect(data.main).toEqual([items]);
		const sleep = { number: 1, until: 1_500, failures };
		expect(record.asleep).toEqual({ ...sleep, input: [input] });
		expect(run).toMatchObject({ hints: [], log: ['"Node" sleeps, but it answers 302.'] });
		const [[sleeping, { url }]] = jest.mocked(Sleeper).mock.calls as [
			ConstructorParameters<typeof Sleeper>,
		];
		expect(sleeping.tasks.map(({ taskId }) => taskId)).toEqual(['b', 'a']);
		expect([sleeping.asleep, url]).toEqual([record.asleep, RESUME_URL]);
	});

	it('does not note that it sleeps where n8n could not let it', async () => {
		const { wait, put, record, data, input } = newRun([pending('a')]);
		const { fallAsleep } = await wait(decision);
		put.mockRejectedValue(new Error('No active execution found'));
		await expect(fallAsleep?.(items, {})).rejects.toThrow('No active execution');
		expect(record.asleep).toBeUndefined();
		expect(data.main).toEqual([input]);
	});

	it.each([
		['no task is open', completed('a'), 1_000],
		['its limit has passed, in a later try', pending('a'), 500],
	])('stays awake if %s', async (_, task, begun) => {
		const { wait, stored, hints } = newRun([task]);
		stored.begun = begun;
		const { fallAsleep } = await wait(decision);
		expect(fallAsleep).toBeUndefined();
		expect(hints.join()).not.toContain('it answers 302');
	});
});
