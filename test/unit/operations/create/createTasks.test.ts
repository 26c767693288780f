import type { CreateTaskRequest } from '../../../../nodes/MediaGeneration/api/client';
import { createTasks } from '../../../../nodes/MediaGeneration/operations/create/createTasks';
import { InputFile } from '../../../../nodes/MediaGeneration/operations/create/inputFile';
import { openRecord } from '../../../../nodes/MediaGeneration/operations/record';
import { buildCreator, prepare, refuse, unknown, type Prepared } from '../creations';

const pending = (taskId: string) => ({ task: { taskId, model: 'model', status: 'pending' } });
const onStop = () => buildCreator();
const onContinue = (run = {}) => buildCreator(run, { continueOnFail: () => true });

it('outputs each task at the place of its item, whatever is answered first', async () => {
	const context = onStop();
	const after = async (order: number) => {
		for (let turn = 0; turn < order; turn++) await Promise.resolve();
		return `task-${order}`;
	};
	const prepared = [9, 3, 1].map((order, index) =>
		prepare(context, index, { createTask: async () => await after(order) }),
	);
	const { results } = await createTasks(prepared, context);
	expect(results).toMatchObject(['task-9', 'task-3', 'task-1'].map(pending));
});

it.each([
	['ends the run with On Error "stop"', onStop, [{ error: refuse(422) }, undefined, undefined], 1],
	[
		'is that of its item with On Error "continue"',
		onContinue,
		[{ error: refuse(422) }, pending('task-1'), pending('task-2')],
		3,
	],
])('a refusal %s', async (_, open, expected, requests) => {
	const context = open();
	let sent = 0;
	const createTask = () => (sent++ ? undefined : refuse(422));
	const prepared = [0, 1, 2].map((index) =>
		prepare(context, index, { createTask, options: { concurrency: 1 } }),
	);
	const { results } = await createTasks(prepared, context);
	expect(results).toMatchObject(expected);
	expect(sent).toBe(requests);
});

it('sends nothing for an item that has a task, and says if its callback goes elsewhere', async () => {
	const kept = {};
	const before = onStop();
	const first = buildCreator({ kept });
	await createTasks(
		[0, 1].map((index) => prepare(first, index)),
		first,
	);
	const retry = buildCreator({ kept, executionId: '2' });
	const createTask = jest.fn(() => 'new');
	const prepared = [prepare(retry, 0, { createTask }), prepare(retry, 1, { createTask }, 'other')];
	const { results, elsewhere } = await createTasks(prepared, retry);
	expect(results).toMatchObject(['task-0', 'new'].map(pending));
	expect(createTask).toHaveBeenCalledTimes(1);
	expect(elsewhere).toBe(true);
	const known = { taskId: 'known', model: 'model', elsewhere: false };
	const own = await createTasks([{ ...prepare(before, 0), request: known }], before);
	expect(own).toMatchObject({ results: [pending('known')], elsewhere: false });
});

it('uploads the files of an item, and sends their links with its callback URL', async () => {
	const context = onStop();
	const bodies: CreateTaskRequest[] = [];
	const file = Object.create(InputFile.prototype) as InputFile;
	file.upload = jest.fn(async () => ({ url: 'https://files.example/a.png' }) as never);
	const { item } = prepare(context, 0, { createTask: (body) => void bodies.push(body) });
	const request = { model: 'model', input: { first: file, second: [file] }, callBackUrl: 'url' };
	await createTasks([{ item, request } as Prepared], context);
	const [first, second] = ['https://files.example/a.png', ['https://files.example/a.png']];
	expect(bodies).toEqual([{ model: 'model', callBackUrl: 'url', input: { first, second } }]);
});

describe('Maximum Tasks per Run', () => {
	const limited = { options: { concurrency: 1, maxTasksPerRun: 3 } };

	it('counts what exists or may exist, and nothing that was refused', async () => {
		const context = onContinue();
		const answers = ['task', unknown(), refuse(422)];
		const prepared = answers.map((answer, index) =>
			prepare(context, index, { ...limited, createTask: () => answer }),
		);
		await createTasks(prepared, context);
		expect(openRecord(context).shared.count).toBe(2);
	});

	it('refuses the items without a task, or ends the run', async () => {
		const error = expect.objectContaining({
			message: expect.stringContaining("'Maximum Tasks per Run' is 3") as string,
		}) as Error;
		const known = { taskId: 'known', model: 'model', elsewhere: false };
		const prepareAll = (context: ReturnType<typeof onStop>) => [
			{ ...prepare(context, 0), request: known },
			...[1, 2, 3, 4].map((index) => prepare(context, index, limited)),
		];
		const goesOn = onContinue();
		const { results } = await createTasks(prepareAll(goesOn), goesOn);
		expect(results).toMatchObject([pending('known'), ...Array<object>(4).fill({ error })]);
		const stops = onStop();
		await expect(createTasks(prepareAll(stops), stops)).rejects.toEqual(error);
		expect([goesOn, stops].map((context) => openRecord(context).shared.count)).toEqual([0, 0]);
	});
});

it('a stopped execution begins no creation', async () => {
	const stop = new AbortController();
	const context = buildCreator({}, { getExecutionCancelSignal: () => stop.signal });
	const createTask = () => void stop.abort();
	const prepared = [0, 1].map((index) =>
		prepare(context, index, { createTask, options: { concurrency: 1 } }),
	);
	const { results } = await createTasks(prepared, context);
	expect(results).toMatchObject([pending('task-0'), undefined]);
	expect(openRecord(context).shared.count).toBe(1);
});
