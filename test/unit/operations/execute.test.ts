import type { INodeExecutionData } from 'n8n-workflow';
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import type {
	Item,
	Operation,
	Prepared,
	RunResult,
} from '../../../nodes/MediaGeneration/operations/operation';
import { openRecord } from '../../../nodes/MediaGeneration/operations/record';
import type { Run } from '../context';
import { buildCreator } from './creations';

const operations: Operation[] = [];
jest.mock('../../../nodes/MediaGeneration/operations/index', () => ({
	get operations() {
		return operations;
	},
}));

const REQUEST = { model: 'model', input: {} };

interface Options extends Run {
	onError?: 'stop' | 'continue';
	parameters?: Record<string, unknown>;
	count?: number;
	putExecutionToWait?: (until: Date) => unknown;
	parked?: INodeExecutionData[];
}

/** Builds what n8n gives to a run, of three items by default. */
const buildRun = ({ onError = 'stop', parameters, count = 3, ...run }: Options) =>
	buildCreator(run, {
		getInputData: () => Array.from({ length: count }, () => ({ json: {} })),
		getNodeParameter: (name: string, _item: number, fallback: unknown) =>
			({ resource: 'task', operation: 'do', ...parameters })[name] ?? fallback,
		getCredentials: async () => ({ baseUrl: 'https://api.example', accessToken: 'token' }),
		continueOnFail: () => onError === 'continue',
		helpers: {
			constructExecutionMetaData: (items: object[], { itemData }: { itemData: object }) =>
				items.map((item) => ({ ...item, pairedItem: itemData })),
		},
		getExecuteData: () => ({ data: { main: [run.parked] } }),
		putExecutionToWait: run.putExecutionToWait,
	});

/** Executes an operation whose items are output as they were prepared. */
async function execute(operation: Partial<Operation>, options: Options = {}) {
	const ran: Array<Prepared<unknown>> = [];
	const run = async (prepared: Array<Prepared<unknown>>): Promise<RunResult> => {
		ran.push(...prepared);
		const outcomes = prepared.map(({ request }) => ({ items: [{ json: request as object }] }));
		return await Promise.resolve({ outcomes });
	};
	const prepare = ({ index }: Item) => ({ index });
	const base = { resource: 'task', value: 'do', fields: [] as Operation['fields'], prepare, run };
	operations.splice(0, Infinity, { ...base, ...operation } as Operation);
	const context = buildRun(options);
	const done = await executeOperation(context).then(
		(output) => ({ output, error: undefined }),
		(error: unknown) => ({ output: undefined, error }),
	);
	return { ...done, ran };
}

const failSecond = (item: Item) => {
	if (item.index === 1) throw new Error('Wrong');
	return { index: item.index };
};
const done = (index: number) => ({ json: { index }, pairedItem: { item: index } });
const failed = (item: number, error: string) => ({
	json: { error: `${error} [item ${item}]` },
	pairedItem: { item },
});

it('names an operation that the node does not have', async () => {
	const { error } = await execute({}, { parameters: { operation: 'undo' } });
	expect(error).toMatchObject({ message: expect.stringContaining('there is no "undo"') as string });
});

describe('an item that fails its check', () => {
	it('keeps the run from beginning with On Error "stop"', async () => {
		const { error, ran } = await execute({ prepare: failSecond });
		expect(error).toMatchObject({ message: 'Wrong [item 1]', context: { itemIndex: 1 } });
		expect(ran).toEqual([]);
	});

	it('is an error item at its place with On Error "continue"', async () => {
		const { output } = await execute({ prepare: failSecond }, { onError: 'continue' });
		expect(output).toEqual([[done(0), failed(1, 'Wrong'), done(2)]]);
	});

	it.each([
		['its timeout', { timeoutSeconds: 0 }, "'Request Timeout (Seconds)' in Options must be"],
		['a number of the operation', { count: null }, "'Count' in Options must be a number"],
	])('is one with %s out of its range', async (_, options, message) => {
		const count = { displayName: 'Count', name: 'count', type: 'number' as const, default: 1 };
		const timeout = {
			...count,
			displayName: 'Request Timeout (Seconds)',
			name: 'timeoutSeconds',
			typeOptions: { minValue: 1, maxValue: 3_600 },
		};
		const list = {
			...count,
			name: 'options',
			type: 'collection' as const,
			options: [count, timeout],
		};
		const { error } = await execute({ fields: [list] }, { parameters: { options } });
		expect(error).toMatchObject({ message: expect.stringContaining(message) as string });
	});
});

it.each<[string, NonNullable<Options['onError']>, object]>([
	['ends the run', 'stop', { error: expect.objectContaining({ message: 'Down' }) as Error }],
	['is that of each item', 'continue', { output: [[0, 1, 2].map((item) => failed(item, 'Down'))] }],
])('an error of all items %s with On Error "%s"', async (_, onError, expected) => {
	const run = async () => await Promise.reject(new Error('Down'));
	expect(await execute({ run }, { onError })).toMatchObject(expected);
});

it('an item that was not begun has no output, and one with several has them all', async () => {
	const outcomes = [undefined, { items: [{ json: { a: 1 } }, { json: { b: 2 } }] }, { items: [] }];
	const { output } = await execute({ run: async () => await Promise.resolve({ outcomes }) });
	const pairedItem = { item: 1 };
	expect(output).toEqual([
		[
			{ json: { a: 1 }, pairedItem },
			{ json: { b: 2 }, pairedItem },
		],
	]);
});

it('checks at most twenty items at once, and runs them in their order', async () => {
	let [running, most] = [0, 0];
	const prepare = async ({ index }: Item) => {
		most = Math.max(most, ++running);
		for (let turns = index % 3; turns >= 0; turns--) await Promise.resolve();
		running--;
		return { index };
	};
	const { ran } = await execute({ prepare }, { count: 50 });
	expect(most).toBe(20);
	expect(ran.map(({ item }) => item.index)).toEqual(Array.from({ length: 50 }, (_, at) => at));
});

describe('a run that n8n repeats', () => {
	it('reads nothing but the credential of an item that has a task', async () => {
		const kept = {};
		openRecord(buildRun({ kept })).addTask(0, REQUEST, 'task');
		const prepare = ({ index, read }: Item) => ({ index, prompt: read('prompt') });
		const options = { kept, parameters: { prompt: 'Night', options: { timeoutSeconds: 9 } } };
		const { ran } = await execute({ creates: true, prepare }, options);
		expect(ran.map(({ request }) => request)).toEqual([
			expect.objectContaining({ taskId: 'task', model: 'model' }),
			{ index: 1, prompt: 'Night' },
			{ index: 2, prompt: 'Night' },
		]);
		expect(ran.map(({ item }) => item.settings.timeoutSeconds)).toEqual([60, 9, 9]);
	});

	it('names the tasks that it has in the error of another item', async () => {
		const kept = {};
		openRecord(buildRun({ kept })).addTask(0, REQUEST, 'task');
		const { error } = await execute({ creates: true, prepare: failSecond }, { kept });
		const description = 'This task exists. Look at it with Get: task';
		expect(error).toMatchObject({ message: 'Wrong [item 1]', description });
	});

	it('parks again with the same items and end, once it has parked', async () => {
		const kept = {};
		openRecord(buildRun({ kept })).openWait(() => 0).parkedUntil = 5_000;
		const parked = [{ json: { taskId: 'task' } }];
		const until: number[] = [];
		const putExecutionToWait = (end: Date) => void until.push(end.getTime());
		const { output, ran } = await execute({ creates: true }, { kept, parked, putExecutionToWait });
		expect([output, until, ran]).toEqual([[parked], [105_000], []]);
	});
});

it('a run that falls asleep does so with its output, errors included', async () => {
	const asleep: INodeExecutionData[] = [];
	const fallAsleep = async (items: INodeExecutionData[]) => void asleep.push(...items);
	const run = async (prepared: unknown[]) =>
		await Promise.resolve({
			outcomes: prepared.map(() => ({ items: [{ json: {} }] })),
			fallAsleep,
		});
	const { output } = await execute({ prepare: failSecond, run }, { onError: 'continue' });
	expect(asleep).toHaveLength(3);
	expect(output).toEqual([asleep]);
});
