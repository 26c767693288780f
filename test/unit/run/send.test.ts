import type { IExecuteFunctions } from 'n8n-workflow';
import type { CreateTaskRequest } from '../../../nodes/MediaGeneration/api/client';
import { createTasks } from '../../../nodes/MediaGeneration/run/send';
import { InputFile } from '../../../nodes/MediaGeneration/run/inputFile';
import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import type { RequestWork } from '../../../nodes/MediaGeneration/operations/work';
import { buildContext, prepare, refuse } from '../n8n';

const create = async (context: IExecuteFunctions, requests: RequestWork[]) =>
	await createTasks({ context, record: openRecord(context), called: Date.now() }, requests);

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
	const results = await create(context, prepared);
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
	const results = await create(context, inTurn(context, [refuse(422), 'b', 'c']));
	expect(results).toMatchObject([{ error: refuse(422) }, ...others]);
});

it('uploads the files of an item, and sends their links with its callback URL', async () => {
	const context = buildContext();
	const bodies: CreateTaskRequest[] = [];
	const file = Object.create(InputFile.prototype) as InputFile;
	file.upload = jest.fn(async () => ({ url: 'https://files.example/a.png' }) as never);
	const { item } = prepare(context, 0, { createTask: (body) => void bodies.push(body) });
	const request = { model: 'model', input: { first: file, second: [file] }, callBackUrl: 'url' };
	await create(context, [{ index: 0, item, request }]);
	const [first, second] = ['https://files.example/a.png', ['https://files.example/a.png']];
	expect(bodies).toEqual([{ model: 'model', callBackUrl: 'url', input: { first, second } }]);
});

it('a stopped execution begins no creation', async () => {
	const stop = new AbortController();
	const context = buildContext({ signal: stop.signal });
	const createTask = () => void stop.abort();
	const prepared = [0, 1].map((index) =>
		prepare(context, index, { createTask, options: { concurrency: 1 } }),
	);
	const results = await create(context, prepared);
	expect(results).toMatchObject([pending('task-0'), undefined]);
});

it('what waits for its turn is not created once another item has ended the run', async () => {
	jest.useFakeTimers();
	const context = buildContext();
	const sent: number[] = [];
	const prepared = [0, 1, 2].map((index) =>
		prepare(context, index, {
			createTask: () => {
				sent.push(index);
				return index ? `task-${index}` : refuse(422);
			},
			options: { tasksPer10Seconds: 1 },
			credentials: { accessToken: 'turns of a run that ends' },
		}),
	);
	const creating = create(context, prepared);
	await jest.advanceTimersByTimeAsync(60_000);
	expect(await creating).toMatchObject([{ error: refuse(422) }, undefined, undefined]);
	expect(sent).toEqual([0]);
	jest.useRealTimers();
});

describe('runs at the same time', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	/** Begins runs that create a task each, at the rate that the node comes with, and notes when. */
	function begin(accessToken: string, count: number, signal?: AbortSignal) {
		const begun = Date.now();
		const seconds: number[] = [];
		const runs = Array.from({ length: count }, async () => {
			const context = buildContext({ signal });
			const createTask = () => void seconds.push((Date.now() - begun) / 1000);
			const options = { tasksPer10Seconds: 18 };
			const prepared = prepare(context, 0, { createTask, credentials: { accessToken }, options });
			return (await create(context, [prepared]))[0];
		});
		return { seconds, end: async () => await Promise.all(runs) };
	}

	it('share the rate of their account, and have no part in that of another', async () => {
		const [one, other] = [begin('one', 40), begin('other', 18)];
		await jest.advanceTimersByTimeAsync(20_000);
		const [second, third] = [Array<number>(18).fill(10), Array<number>(4).fill(20)];
		expect(one.seconds).toEqual([...Array<number>(18).fill(0), ...second, ...third]);
		expect(other.seconds).toEqual(Array(18).fill(0));
		for (const result of await one.end()) expect(result).toMatchObject(pending('task-0'));
	});

	it('go on when one of them is stopped, which creates nothing more', async () => {
		const stop = new AbortController();
		const first = begin('stopped', 18);
		await jest.advanceTimersByTimeAsync(0);
		const stopped = begin('stopped', 1, stop.signal);
		const last = begin('stopped', 1);
		await jest.advanceTimersByTimeAsync(1_000);
		stop.abort(new Error('stopped'));
		expect(await stopped.end()).toEqual([{ error: new Error('stopped') }]);
		await jest.advanceTimersByTimeAsync(9_000);
		expect([first, stopped, last].map(({ seconds }) => seconds.length)).toEqual([18, 0, 1]);
		expect(last.seconds).toEqual([10]);
	});

	it('stop for reasons of their own', async () => {
		const context = buildContext({ goesOn: true });
		const answers = [refuse(402), 'b'];
		const accessToken = 'poor';
		const prepared = answers.map((answer, index) =>
			prepare(context, index, {
				createTask: () => answer,
				credentials: { accessToken },
				options: { concurrency: 1, tasksPer10Seconds: 18 },
			}),
		);
		const results = await create(context, prepared);
		const message = expect.stringContaining('This item was not sent') as string;
		expect(results[1]).toMatchObject({ error: { message } });
		const other = begin(accessToken, 1);
		await jest.advanceTimersByTimeAsync(0);
		expect(await other.end()).toMatchObject([pending('task-0')]);
	});
});
