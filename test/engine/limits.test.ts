import type { INodeParameters } from 'n8n-workflow';
import { poll } from '../../dev/n8n/wait.cts';
import { editImage, useService } from './engine';

const engine = useService({ taskSeconds: 30 });

const CREATE = '/api/v1/jobs/createTask';

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

const PICTURE = { data: 'iVBORw0KGgo=', mimeType: 'image/png', fileName: 'a.png' };
const CONTINUE = { onError: 'continueRegularOutput' as const };
const RETRY = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
const countCreations = () => engine.service.requests.filter(({ path }) => path === CREATE).length;

it('the limit counts the tasks of each run of a loop, and those that may exist, but no refusal', async () => {
	const options = { maxTasksPerRun: 4 };
	const first = await create(['one', '#status=422', '#status=500'], options, CONTINUE);
	const second = await create(['two', 'three'], options, {}, first.data);
	expect(second.error).toBeUndefined();
	const third = await create(['four'], options, {}, second.data);
	expect(third.error?.message).toContain('4 were created before in this execution');
	expect(engine.service.tasks.size).toBe(3);
});

it('a try that is repeated counts a task once, and no refusal', async () => {
	engine.service.faultNext({ path: CREATE, delaySeconds: 0 });
	engine.service.faultNext({ path: CREATE, code: 455 });
	const limits = { maxTasksPerRun: 2, keepCredits: 1 };
	const { error, output } = await create(['one', 'two'], limits, RETRY);
	expect(error).toBeUndefined();
	expect(output[0]).toHaveLength(2);
	expect(countCreations()).toBe(3);
});

it('a second try whose credits the first one has used up names its tasks', async () => {
	const { error } = await create(['one', 'two', '#status=422'], { keepCredits: 75 }, RETRY);
	expect(error?.message).toBe(
		"The account has 75 credits, and 'Stop Below This Balance' is 75 in Options",
	);
	const ids = engine.listTasks().map(({ taskId }) => taskId);
	expect(error?.description).toBe(
		`Nothing more was created. Top up the account, or lower 'Stop Below This Balance'. These tasks exist. Look at them with Get: ${ids.join(', ')}`,
	);
});

it('a file is not uploaded for an item that is not sent', async () => {
	engine.service.faultNext({ path: CREATE, code: 402 });
	await engine.run(
		{ ...editImage, image: 'data', options: { concurrency: 1 } },
		{ items: [{}, {}, {}], binary: { data: PICTURE }, node: CONTINUE },
	);
	expect(engine.service.uploads.size).toBe(1);
});

it.each(['create', 'createAndWait'])(
	'a stopped execution sends nothing more: %s',
	async (operation) => {
		engine.service.faultNext({ path: CREATE, delaySeconds: 0.3 });
		const items = ['one', 'two', 'three'].map((prompt) => ({ prompt }));
		await engine.run(
			{ ...editImage, image: 'data', operation, options: { concurrency: 1 } },
			{
				items,
				binary: { data: PICTURE },
				node: CONTINUE,
				stopAfter: async () => await poll(() => countCreations() === 1, { what: 'a request' }),
			},
		);
		expect(countCreations()).toBe(1);
		expect(engine.service.uploads.size).toBe(1);
		expect(engine.listTasks().map(({ input }) => input.prompt)).toEqual(['one']);
	},
);
