import type { INodeParameters } from 'n8n-workflow';
import { poll } from '../../dev/n8n/wait.cts';
import { editImage, useService } from './engine';

const engine = useService({ taskSeconds: 30 });

const CREATE = '/api/v1/jobs/createTask';
const CREDITS = '/api/v1/chat/credit';

/** Creates tasks of these prompts, one after the other, with these Options and settings of the node. */
const create = async (
	prompts: string[],
	options: INodeParameters,
	node?: object,
	after?: Awaited<ReturnType<typeof engine.run>>['data'],
) => {
	engine.service.set({ credits: 100 });
	return await engine.run(
		{ ...editImage, options: { concurrency: 1, ...options } },
		{ items: prompts.map((prompt) => ({ prompt })), node, after },
	);
};

const RETRY = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
const countRequests = (to: string) =>
	engine.service.requests.filter(({ path }) => path === to).length;

describe('the limits of Options', () => {
	it.each<[INodeParameters, string, string]>([
		[{ maxTasksPerRun: 1 }, "'Maximum Tasks per Run' is 1 in Options, 0 were", 'raise the limit'],
		[{ maxTasksPerRun: '1 ' }, "'Maximum Tasks per Run' is 1 in Options", 'raise the limit'],
		[{ maxTasksPerRun: -1 }, "'Maximum Tasks per Run' in Options must be a", 'Correct the option'],
		[{ maxTasksPerRun: 'x' }, "'Maximum Tasks per Run' in Options must be a", 'Correct the option'],
		[{ keepCredits: 100 }, "100 credits, and 'Keep at Least' is 100 in Options", 'Top up'],
	])('keep everything from being created: %j', async (options, message, next) => {
		const { error } = await create(['one', 'two'], options);
		expect(error?.message).toContain(message);
		expect(error?.message).not.toContain('[item');
		expect(error?.description).toContain('Nothing was created.');
		expect(error?.description).toContain(next);
		expect(countRequests(CREATE)).toBe(0);
	});

	it.each<[INodeParameters, number]>([
		[{ maxTasksPerRun: 2 }, 0],
		[{ maxTasksPerRun: '' }, 0],
		[{ keepCredits: 0 }, 1],
		[{ keepCredits: 99 }, 1],
	])('let tasks be created within them: %j, credits asked for %d times', async (options, asked) => {
		expect((await create(['one', 'two'], options)).error).toBeUndefined();
		expect(engine.service.tasks.size).toBe(2);
		expect(countRequests(CREDITS)).toBe(asked);
	});

	it('are told of each item when On Error continues', async () => {
		const node = { onError: 'continueRegularOutput' };
		const { output } = await create(['one', 'two'], { maxTasksPerRun: 1 }, node);
		const error = expect.stringContaining("'Maximum Tasks per Run' is 1") as string;
		expect(output[0]).toMatchObject(
			[0, 1].map((item) => ({ json: { error }, pairedItem: { item } })),
		);
	});

	it('count the tasks of each run of a loop, and those that may exist, but no refusal', async () => {
		const options = { maxTasksPerRun: 4 };
		const node = { onError: 'continueRegularOutput' };
		const first = await create(['one', '#status=402', '#status=500'], options, node);
		const second = await create(['two', 'three'], options, {}, first.data);
		expect(second.error).toBeUndefined();
		const third = await create(['four'], options, {}, second.data);
		expect(third.error?.message).toContain('4 were created before in this execution');
		expect(engine.service.tasks.size).toBe(3);
	});

	it('are told an agent as not its own to raise', async () => {
		const { error } = await create(['one'], { maxTasksPerRun: 0 }, { type: 'mediaGenerationTool' });
		expect(error?.message).toContain('set by the owner of this workflow: do not try again');
	});
});

describe('a try that is repeated', () => {
	const limits = { maxTasksPerRun: 2, keepCredits: 1 };

	it('counts a task once, and no refusal', async () => {
		engine.service.faultNext({ path: CREATE, delaySeconds: 0 });
		engine.service.faultNext({ path: CREATE, code: 455 });
		const { error, output } = await create(['one', 'two'], limits, RETRY);
		expect(error).toBeUndefined();
		expect(output[0]).toHaveLength(2);
		expect(countRequests(CREATE)).toBe(3);
	});

	it('counts nothing when the credits could not be read', async () => {
		engine.service.faultNext({ path: CREDITS, status: 500 });
		expect((await create(['one', 'two'], limits, RETRY)).error).toBeUndefined();
		expect(engine.service.tasks.size).toBe(2);
	});
});

it('credits that the service does not tell keep everything from being created', async () => {
	engine.service.faultNext({ path: CREDITS, status: 500 });
	const { error } = await create(['one'], { keepCredits: 1 });
	expect(error?.message).toContain("'Keep at Least' is set in Options, but the service does not");
	expect(error?.description).toContain("Check 'Credits Path' in the credential");
	expect(engine.service.tasks.size).toBe(0);
});

it.each<[object, number]>([
	[{}, 1],
	[{ onError: 'continueRegularOutput' }, 2],
])('after a refusal, with the settings %j, %d are asked for', async (node, count) => {
	await create(['#status=402', 'two'], {}, node);
	expect(countRequests(CREATE)).toBe(count);
});

it.each(['create', 'createAndWait'])(
	'a stopped execution sends nothing more: %s',
	async (operation) => {
		engine.service.faultNext({ path: CREATE, delaySeconds: 0.3 });
		const items = ['one', 'two', 'three'].map((prompt) => ({ prompt }));
		await engine.run(
			{ ...editImage, operation, options: { concurrency: 1 } },
			{
				items,
				stopAfter: async () =>
					await poll(() => countRequests(CREATE) === 1, { timeout: 5_000, what: 'a request' }),
			},
		);
		expect(countRequests(CREATE)).toBe(1);
		expect(engine.listTasks().map(({ input }) => input.prompt)).toEqual(['one']);
	},
);
