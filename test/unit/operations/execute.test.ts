import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import type {
	Operation,
	PlainOperation,
	Prepared,
} from '../../../nodes/MediaGeneration/operations/operation';
import { SAID } from '../../../nodes/MediaGeneration/run/output/errors';
import type { Item } from '../../../nodes/MediaGeneration/run/input/item';
import { buildContext, type Run } from '../n8n';

const operations: Operation[] = [];
jest.mock('../../../nodes/MediaGeneration/operations/index', () => ({
	get operations() {
		return operations;
	},
}));

/** Builds what n8n gives to a run, of three items by default. */
const buildRun = ({ parameters, ...run }: Run, more: object) =>
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
			...more,
		},
	);

/** Executes an operation whose items are output as they were prepared. */
async function execute(operation: Partial<PlainOperation>, options: Run = {}, more = {}) {
	const ran: Array<Prepared<unknown>> = [];
	operations.splice(0, Infinity, {
		resource: 'task',
		value: 'do',
		fields: [] as Operation['fields'],
		prepare: ({ index }) => ({ index }),
		async run(prepared) {
			ran.push(...prepared);
			return prepared.map(({ request }) => ({ items: [{ json: request as object }] }));
		},
		...operation,
	} as PlainOperation);
	const done = await executeOperation(buildRun(options, more)).then(
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
	json: { error },
	pairedItem: { item },
});
const saying = (message: string) => ({ message: expect.stringContaining(message) as string });

describe('an item that fails its check', () => {
	it('keeps the run from beginning with On Error "stop"', async () => {
		const { error, ran } = await execute({ prepare: failSecond });
		expect(error).toMatchObject({ message: 'Wrong [item 2 of 3]' });
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

it('below an MCP server, answers in time, whatever hangs', async () => {
	const begun = Date.now();
	const run = async () => await new Promise<never>(() => {});
	const server = { type: '@n8n/n8n-nodes-langchain.mcpTrigger' };
	const more = {
		workflow: { nodes: { server }, getChildNodes: () => ['server'] },
		runExecutionData: { resultData: { runData: { server: [{ startTime: begun - 44_950 }] } } },
	};
	const { output } = await execute({ run }, { isTool: true, input: [{}] }, more);
	const error = 'It took too long, because MCP clients give up after a minute.';
	const next = 'Call again, unless a task was to be created: it may exist already.';
	expect(output).toEqual([[failed(0, `${error} ${next} ${SAID}`)]]);
	expect(Date.now() - begun).toBeGreaterThanOrEqual(45);
});

it('an item that was not begun has no output, and one with several has them all', async () => {
	const outcomes = [undefined, { items: [{ json: { a: 1 } }, { json: { b: 2 } }] }, { items: [] }];
	const { output } = await execute({ run: async () => await Promise.resolve(outcomes) });
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
