import type { CreateTaskRequest } from '../../../nodes/MediaGeneration/api/client';
import { InputFile } from '../../../nodes/MediaGeneration/run/input/inputFile';
import { sendAll } from '../../../nodes/MediaGeneration/run/send/send';
import { prepare, refuse } from '../n8n';
import { listResults, open, send } from './sending';

it('each task is noted at the place of its item, whatever is answered first', async () => {
	const after = async (order: number) => {
		for (let turn = 0; turn < order; turn++) await Promise.resolve();
		return `task-${order}`;
	};
	const run = await send(
		[9, 3, 1].map((order) => ({ createTask: async () => await after(order) })),
	);
	expect(listResults(run)).toEqual(['task-9', 'task-3', 'task-1']);
});

it.each([
	['ends the run', false, [undefined, undefined]],
	['is that of its item in a run that goes on', true, ['b', 'c']],
])('a refusal %s', async (_, goesOn, others) => {
	const items = [refuse(422), 'b', 'c'].map((answer) => ({
		createTask: () => answer,
		options: { concurrency: 1 },
	}));
	const results = listResults(await send(items, { goesOn }));
	expect(results).toEqual([refuse(422), ...others]);
});

it('uploads the files of an item, and sends their links with its callback URL', async () => {
	const bodies: CreateTaskRequest[] = [];
	const file = Object.create(InputFile.prototype) as InputFile;
	file.upload = jest.fn(async () => ({ url: 'https://files.example/a.png' }) as never);
	const run = open(1);
	const plan = prepare(run.call.context, 0, { createTask: (body) => void bodies.push(body) });
	plan.request = { ...plan.request, input: { first: file, second: [file] }, callBackUrl: 'url' };
	await sendAll(run, [plan]);
	const [first, second] = ['https://files.example/a.png', ['https://files.example/a.png']];
	expect(bodies).toEqual([{ model: 'model', callBackUrl: 'url', input: { first, second } }]);
});

it('a stopped execution begins no creation', async () => {
	const stop = new AbortController();
	const item = { createTask: () => void stop.abort(), options: { concurrency: 1 } };
	const run = await send([item, item], { signal: stop.signal });
	expect(listResults(run)).toEqual(['task-0', undefined]);
});

it('what waits for its turn is not created once another item has ended the run', async () => {
	jest.useFakeTimers();
	const sent: number[] = [];
	const items = [0, 1, 2].map((index) => ({
		createTask: () => {
			sent.push(index);
			return index ? `task-${index}` : refuse(422);
		},
		options: { tasksPer10Seconds: 1 },
		credentials: { accessToken: 'turns of a run that ends' },
	}));
	const sending = send(items);
	await jest.advanceTimersByTimeAsync(60_000);
	expect(listResults(await sending)).toEqual([refuse(422), undefined, undefined]);
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
		const createTask = () => void seconds.push((Date.now() - begun) / 1000);
		const options = { tasksPer10Seconds: 18 };
		const item = { createTask, credentials: { accessToken }, options };
		const runs = Array.from({ length: count }, async () => await send([item], { signal }));
		return { seconds, end: async () => (await Promise.all(runs)).flatMap(listResults) };
	}

	it('share the rate of their account, and have no part in that of another', async () => {
		const [one, other] = [begin('one', 40), begin('other', 18)];
		await jest.advanceTimersByTimeAsync(20_000);
		const [second, third] = [Array<number>(18).fill(10), Array<number>(4).fill(20)];
		expect(one.seconds).toEqual([...Array<number>(18).fill(0), ...second, ...third]);
		expect(other.seconds).toEqual(Array(18).fill(0));
		expect(await one.end()).toEqual(Array(40).fill('task-0'));
	});

	it('go on when one of them is stopped, which creates nothing more', async () => {
		const stop = new AbortController();
		const first = begin('stopped', 18);
		await jest.advanceTimersByTimeAsync(0);
		const stopped = begin('stopped', 1, stop.signal);
		const last = begin('stopped', 1);
		await jest.advanceTimersByTimeAsync(1_000);
		stop.abort(new Error('stopped'));
		expect(await stopped.end()).toEqual([new Error('stopped')]);
		await jest.advanceTimersByTimeAsync(9_000);
		expect([first, stopped, last].map(({ seconds }) => seconds.length)).toEqual([18, 0, 1]);
		expect(last.seconds).toEqual([10]);
	});

	it('stop for reasons of their own', async () => {
		const accessToken = 'poor';
		const items = [refuse(402), 'b'].map((answer) => ({
			createTask: () => answer,
			credentials: { accessToken },
			options: { concurrency: 1, tasksPer10Seconds: 18 },
		}));
		const [, second] = listResults(await send(items, { goesOn: true }));
		expect(String(second)).toContain('This item was not sent');
		const other = begin(accessToken, 1);
		await jest.advanceTimersByTimeAsync(0);
		expect(await other.end()).toEqual(['task-0']);
	});
});
