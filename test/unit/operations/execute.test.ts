import type {
	Operation,
	PlainOperation,
	Step,
} from '../../../nodes/MediaGeneration/operations/operation';
import { ABOUT_SERVICE_TEXTS } from '../../../nodes/MediaGeneration/run/output/errors';
import type { Item } from '../../../nodes/MediaGeneration/run/input/item';
import { runNode } from './runNode.cts';

const operations: object[] = [];
jest.mock('../../../nodes/MediaGeneration/operations/index', () => ({
	get operations() {
		return operations;
	},
}));

const outputIndex = (index: number) => [{ json: { index } }];
const fail = (index: number) => {
	if (index === 1) throw new Error('Wrong');
};

/** What an operation does at an item, and for all. */
interface Acts {
	check?: (index: number) => void | Promise<void>;
	step?: (index: number) => void;
	work?: PlainOperation<object>['work'];
	fields?: Operation['fields'];
}

/** Executes an operation whose items output their index. @returns the items that were begun, too */
async function execute(
	{ check, step, work, fields = [] }: Acts,
	{ parameters, ...setup }: Parameters<typeof runNode>[1] = {},
) {
	const begun: number[] = [];
	const prepare = async ({ index }: Item): Promise<Step> => {
		await check?.(index);
		return async () => {
			begun.push(index);
			await Promise.resolve();
			step?.(index);
			return outputIndex(index);
		};
	};
	operations.splice(0, 1, { resource: 'task', value: 'do', fields, prepare, work });
	return {
		...(await runNode({ operation: 'do', ...parameters }, { input: [{}, {}, {}], ...setup })),
		begun,
	};
}

const done = (index: number) => ({ json: { index }, pairedItem: { item: index } });
const failed = (item: number, error: string) => ({ json: { error }, pairedItem: { item } });
const saying = (message: string) => ({ message: expect.stringContaining(message) as string });

it('an item that fails its check keeps the run from beginning with On Error "stop", or is an error at its place', async () => {
	const { error, begun } = await execute({ check: fail });
	expect(error).toMatchObject({ message: 'Wrong [item 2 of 3]' });
	expect(begun).toEqual([]);
	const { output } = await execute({ check: fail }, { goesOn: true });
	expect(output).toEqual([done(0), failed(1, 'Wrong'), done(2)]);
});

it('an option of another type fails the check', async () => {
	const count = { displayName: 'Count', name: 'count', type: 'number', default: 1 };
	const list = { ...count, name: 'options', type: 'collection', options: [count] };
	const fields = [list] as Operation['fields'];
	const parameters = { options: { count: null } };
	const { error, begun } = await execute({ fields }, { parameters });
	expect(error).toMatchObject(saying("'Count' in Options must be a number"));
	expect(begun).toEqual([]);
});

it('after an error of an item, no further item is begun, unless the run goes on', async () => {
	const input = Array<object>(9).fill({});
	const { error, begun } = await execute({ step: fail }, { input });
	expect(error).toMatchObject({ message: 'Wrong [item 2 of 9]' });
	expect(begun).toHaveLength(5);
	const { output } = await execute({ step: fail }, { input, goesOn: true });
	expect(output?.slice(0, 3)).toEqual([done(0), failed(1, 'Wrong'), done(2)]);
	expect(output).toHaveLength(9);
});

it('an error that ends all work is the error of the run, or of each item if the run goes on', async () => {
	const work = async () => await Promise.reject(new Error('Down'));
	expect(await execute({ work })).toMatchObject({ error: saying('Down') });
	const { output } = await execute({ work }, { goesOn: true });
	expect(output).toEqual([0, 1, 2].map((item) => failed(item, 'Down')));
});

it('below an MCP server, a call is answered in time, whatever hangs', async () => {
	const work = async () => await new Promise<never>(() => {});
	const server = { type: '@n8n/n8n-nodes-langchain.mcpTrigger' };
	const more = {
		workflow: { nodes: { server }, getChildNodes: () => ['server'] },
		runExecutionData: { resultData: { runData: { server: [{ startTime: Date.now() }] } } },
	};
	const { output } = await execute({ work }, { isTool: true, input: [{}], more });
	const error = 'The result was not ready in time: an MCP client waits a minute.';
	const next = 'Call again, unless a task was to be created: it may exist already.';
	expect(output).toEqual([failed(0, `${error} ${next} ${ABOUT_SERVICE_TEXTS}`)]);
});

it('an item that was not begun has no output, and an item with several outputs has all', async () => {
	const outcomes = [undefined, { items: [...outputIndex(7), ...outputIndex(8)] }, { items: [] }];
	const { output } = await execute({ work: async () => await Promise.resolve(outcomes) });
	expect(output).toEqual([7, 8].map((index) => ({ ...done(index), pairedItem: { item: 1 } })));
});

it('checks at most twenty items at once, and runs them in their order', async () => {
	let [running, most] = [0, 0];
	const check = async (index: number) => {
		most = Math.max(most, ++running);
		for (let ticks = index % 3; ticks >= 0; ticks--) await Promise.resolve();
		running--;
	};
	const { begun } = await execute({ check }, { input: Array<object>(50).fill({}) });
	expect(most).toBe(20);
	expect(begun).toEqual(Array.from({ length: 50 }, (_, index) => index));
});
