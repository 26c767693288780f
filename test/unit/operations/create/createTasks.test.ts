import type { IExecuteFunctions } from 'n8n-workflow';
import type { CreateTaskRequest } from '../../../../nodes/MediaGeneration/api/client';
import { createTasks } from '../../../../nodes/MediaGeneration/operations/create/createTasks';
import { InputFile } from '../../../../nodes/MediaGeneration/operations/create/inputFile';
import { openRecord } from '../../../../nodes/MediaGeneration/operations/record';
import { buildContext } from '../../context';
import { prepare, refuse, unknown, type Prepared } from '../creations';

const pending = (taskId: string) => ({ task: { taskId, model: 'model', status: 'pending' } });

it('outputs each task at the place of its item, whatever is answered first', async () => {
	const context = buildContext();
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

/** Answers for items in turn, each sent after the answer to the one before. */
const inTurn = (context: IExecuteFunctions, answers: unknown[], options: object = {}) =>
	answers.map((answer, index) =>
		prepare(context, index, { createTask: () => answer, options: { concurrency: 1, ...options } }),
	);

it.each([
	['ends the run', false, [undefined, undefined]],
	['is that of its item in a run that goes on', true, [pending('b'), pending('c')]],
])('a refusal %s', async (_, goesOn, others) => {
	const context = buildContext({ goesOn });
	const { results } = await createTasks(inTurn(context, [refuse(422), 'b', 'c']), context);
	expect(results).toMatchObject([{ error: refuse(422) }, ...others]);
});

it('sends nothing for an item that has a task, and says if its callback goes elsewhere', async () => {
	const kept = {};
	const before = buildContext();
	const first = buildContext({ kept });
	await createTasks(
		[0, 1].map((index) => prepare(first, index)),
		first,
	);
	const retry = buildContext({ kept, executionId: '2' });
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
	const context = buildContext();
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
	it('counts what exists or may exist, and nothing that was refused', async () => {
		const context = buildContext({ goesOn: true });
		const answers = ['task', unknown(), refuse(422)];
		await createTasks(inTurn(context, answers, { maxTasksPerRun: 3 }), context);
		expect(openRecord(context).shared.count).toBe(2);
	});

	it('refuses the items without a task, or ends the run', async () => {
		const error = expect.objectContaining({
			message: expect.stringContaining("'Maximum Tasks per Run' is 3") as string,
		}) as Error;
		const known = { taskId: 'known', model: 'model', elsewhere: false };
		const prepareAll = (context: IExecuteFunctions) => [
			{ ...prepare(context, 0), request: known },
			...inTurn(context, ['a', 'b', 'c', 'd'], { maxTasksPerRun: 3 }),
		];
		const goesOn = buildContext({ goesOn: true });
		const { results } = await createTasks(prepareAll(goesOn), goesOn);
		expect(results).toMatchObject([pending('known'), ...Array<object>(4).fill({ error })]);
		const stops = buildContext();
		await expect(createTasks(prepareAll(stops), stops)).rejects.toEqual(error);
		expect([goesOn, stops].map((context) => openRecord(context).shared.count)).toEqual([0, 0]);
	});
});

it('a stopped execution begins no creation', async () => {
	const stop = new AbortController();
	const context = buildContext({ signal: stop.signal });
	const createTask = () => void stop.abort();
	const prepared = [0, 1].map((index) =>
		prepare(context, index, { createTask, options: { concurrency: 1 } }),
	);
	const { results } = await createTasks(prepared, context);
	expect(results).toMatchObject([pending('task-0'), undefined]);
	expect(openRecord(context).shared.count).toBe(1);
});
