import { UserError, type INodeExecutionData } from 'n8n-workflow';
import { RefusedRunError } from '../../../nodes/MediaGeneration/operations/errors';
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import type {
	Failures,
	Item,
	Operation,
	Prepared,
} from '../../../nodes/MediaGeneration/operations/operation';
import { openRecord } from '../../../nodes/MediaGeneration/operations/record';
import { buildContext, type Run, refuse } from '../n8n';

const operations: Operation[] = [];
jest.mock('../../../nodes/MediaGeneration/operations/index', () => ({
	get operations() {
		return operations;
	},
}));

interface Options extends Run {
	putExecutionToWait?: (until: Date) => unknown;
	/** The items that n8n has stored for a run that sleeps. */
	stored?: INodeExecutionData[];
}

/** Builds what n8n gives to a run, of three items by default. */
const buildRun = ({ parameters, ...run }: Options) =>
	buildContext(
		{ input: [{}, {}, {}], ...run },
		{
			getNodeParameter: (name: string, _item: number, fallback: unknown) =>
				({ resource: 'task', operation: 'do', ...parameters })[name] ?? fallback,
			getCredentials: async () => ({ baseUrl: 'https://api.example', accessToken: 'token' }),
			helpers: {
				constructExecutionMetaData: (items: object[], { itemData }: { itemData: object }) =>
					items.map((item) => ({ ...item, pairedItem: itemData })),
			},
			getExecuteData: () => ({ data: { main: [run.stored] } }),
			putExecutionToWait: run.putExecutionToWait,
		},
	);

/** Executes an operation whose items are output as they were prepared. */
async function execute(operation: Partial<Operation>, options: Options = {}) {
	const ran: Array<Prepared<unknown>> = [];
	operations.splice(0, Infinity, {
		resource: 'task',
		value: 'do',
		fields: [] as Operation['fields'],
		prepare: ({ index }) => ({ index }),
		async run(prepared) {
			ran.push(...prepared);
			return {
				outcomes: prepared.map(({ request }) => ({ items: [{ json: request as object }] })),
			};
		},
		...operation,
	} as Operation);
	const done = await executeOperation(buildRun(options)).then(
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
const saying = (message: string) => ({ message: expect.stringContaining(message) as string });

it('names an operation that the node does not have', async () => {
	const { error } = await execute({}, { parameters: { operation: 'undo' } });
	expect(error).toMatchObject(saying('there is no "undo"'));
});

describe('an item that fails its check', () => {
	it('keeps the run from beginning with On Error "stop"', async () => {
		const { error, ran } = await execute({ prepare: failSecond });
		expect(error).toMatchObject({ message: 'Wrong [item 1]', context: { itemIndex: 1 } });
		expect(ran).toEqual([]);
	});

	it('is an error item at its place with On Error "continue"', async () => {
		const { output } = await execute({ prepare: failSecond }, { goesOn: true });
		expect(output).toEqual([[done(0), failed(1, 'Wrong'), done(2)]]);
	});

	it.each([
		[{ timeoutSeconds: 0 }, "'Request Timeout (Seconds)' in Options must be"],
		[{ count: null }, "'Count' in Options must be a number"],
	])('is one with an option out of its range: %j', async (options, message) => {
		const count = { displayName: 'Count', name: 'count', type: 'number', default: 1 };
		const list = { ...count, name: 'options', type: 'collection', options: [count] };
		const { error } = await execute(
			{ fields: [list] as Operation['fields'] },
			{ parameters: { options } },
		);
		expect(error).toMatchObject(saying(message));
	});
});

it.each<[boolean, object]>([
	[false, { error: saying('Down') }],
	[true, { output: [[0, 1, 2].map((item) => failed(item, 'Down'))] }],
])(
	'an error of all items is that of the run, or that of each if it goes on: %s',
	async (goesOn, expected) => {
		const run = async () => await Promise.reject(new Error('Down'));
		expect(await execute({ run }, { goesOn })).toMatchObject(expected);
	},
);

it('an item that was not begun has no output, and one with several has them all', async () => {
	const outcomes = [undefined, { items: [{ json: { a: 1 } }, { json: { b: 2 } }] }, { items: [] }];
	const { output } = await execute({ run: async () => await Promise.resolve({ outcomes }) });
	const pairedItem = { item: 1 };
	expect(output).toEqual([[{ a: 1 }, { b: 2 }].map((json) => ({ json, pairedItem }))]);
});

it('checks at most twenty items at once, and runs them in their order', async () => {
	let [running, most] = [0, 0];
	const prepare = async ({ index }: Item) => {
		most = Math.max(most, ++running);
		for (let turns = index % 3; turns >= 0; turns--) await Promise.resolve();
		running--;
		return { index };
	};
	const { ran } = await execute({ prepare }, { input: Array<object>(50).fill({}) });
	expect(most).toBe(20);
	expect(ran.map(({ item }) => item.index)).toEqual(Array.from({ length: 50 }, (_, at) => at));
});

describe('a run that n8n repeats', () => {
	/** A node whose first item has a task. */
	const keepTask = () => {
		const kept = {};
		openRecord(buildRun({ kept })).addTask(0, { model: 'model', input: {} }, 'task');
		return kept;
	};

	it('reads nothing but the credential of an item that has a task', async () => {
		const prepare = ({ index, read }: Item) => ({ index, prompt: read('prompt') });
		const parameters = { prompt: 'Night', options: { timeoutSeconds: 9 } };
		const { ran } = await execute({ creates: true, prepare }, { kept: keepTask(), parameters });
		expect(ran.map(({ request }) => request)).toEqual([
			expect.objectContaining({ taskId: 'task', model: 'model' }),
			{ index: 1, prompt: 'Night' },
			{ index: 2, prompt: 'Night' },
		]);
		expect(ran.map(({ item }) => item.settings.timeoutSeconds)).toEqual([60, 9, 9]);
	});

	it('names the tasks that it has in the error of another item', async () => {
		const { error } = await execute({ creates: true, prepare: failSecond }, { kept: keepTask() });
		const description = 'This task exists. Look at it with Get: task';
		expect(error).toMatchObject({ message: 'Wrong [item 1]', description });
	});

	it('sleeps on with the same items and end, if it sleeps', async () => {
		const kept = {};
		const record = openRecord(buildRun({ kept }));
		record.openWait(() => 0);
		record.sleep({ until: 5_000, input: [], failures: {} });
		const stored = [{ json: { taskId: 'task' } }];
		const putExecutionToWait = jest.fn();
		const { output, ran } = await execute({ creates: true }, { kept, stored, putExecutionToWait });
		expect([output, ran]).toEqual([[stored], []]);
		expect(putExecutionToWait.mock.calls).toEqual([[new Date(105_000)]]);
	});
});

describe('a run that falls asleep with an item that failed', () => {
	const described = Object.assign(new Error('Wrong'), { description: 'Said by n8n' });

	it.each<[string, Error]>([
		['of a field', new UserError('Wrong', { description: 'Correct it.' })],
		['of a run that was refused', new RefusedRunError('Too many', { description: 'Give fewer.' })],
		['of the service', refuse(402)],
		["of n8n's", described],
	])('stores its output, and outputs an error %s again when it is woken', async (_, error) => {
		const kept = {};
		const stored: INodeExecutionData[] = [];
		const prepare = ({ index }: Item) => {
			if (index === 1) throw error;
			return { index };
		};
		const run: Operation['run'] = async (prepared, context) => {
			const outcomes = prepared.map(({ item: { index } }) => ({ items: [{ json: { index } }] }));
			const record = openRecord(context);
			if (record.woken) return { outcomes };
			const fallAsleep = async (items: INodeExecutionData[], failures: Failures) => {
				stored.push(...items);
				record.openWait(() => 0);
				record.sleep({ until: 2, input: [], failures, woken: [] });
			};
			return { outcomes, fallAsleep };
		};
		const operation = { creates: true, prepare, run };
		const asleep = await execute(operation, { kept, goesOn: true });
		expect(stored).toHaveLength(3);
		expect(stored[1]?.json).toMatchObject({ error: `${error.message} [item 1]` });
		expect(asleep.output).toEqual([stored]);
		// n8n stores it in between.
		const again = JSON.parse(JSON.stringify(kept)) as object;
		const woken = await execute(
			{ ...operation, prepare: ({ index }) => ({ index }) },
			{ kept: again, goesOn: true },
		);
		expect(woken.output).toEqual([stored]);
	});
});
