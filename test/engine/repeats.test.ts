import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { editImage, useService } from './engine';

const engine = useService({ taskSeconds: 30 });

const retry = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

const edit: INodeParameters = {
	...editImage,
	// Another request at each try.
	seed: '={{ Math.floor(Math.random() * 1e9) }}',
};

/** Creates tasks of these prompts, with Retry On Fail and more settings of the node. */
const create = async (prompts: string[], settings: object = {}, parameters: INodeParameters = {}) =>
	await engine.run(
		{ ...edit, ...parameters },
		{ items: prompts.map((prompt) => ({ prompt })), node: { ...retry, ...settings } },
	);

const readPrompt = (json?: IDataObject) =>
	engine.service.tasks.get(String(json?.taskId))?.input.prompt;

const listPrompts = () =>
	engine
		.listTasks()
		.map(({ input }) => input.prompt)
		.sort();

describe('Retry On Fail, with an expression that returns another value at each try', () => {
	it('creates each task once when one of three is refused at first', async () => {
		engine.service.faultNext({ code: 455 });
		const { output, error } = await create(['one', 'two', 'three']);
		expect(error).toBeUndefined();
		expect(listPrompts()).toEqual(['one', 'three', 'two']);
		expect(output[0]?.map(({ json }) => readPrompt(json))).toEqual(['one', 'two', 'three']);
	});

	it('sends a request once that failed for the first item, when On Error continues: n8n repeats such a run', async () => {
		const { output } = await create(['#status=500', 'two'], { onError: 'continueRegularOutput' });
		expect(engine.service.requests).toHaveLength(2);
		expect(output[0]).toMatchObject([
			{ json: { error: expect.stringContaining('500') } },
			{ json: { status: 'pending' } },
		]);
	});
});

describe('a task that an earlier try has created', () => {
	/** Runs two items. The first is refused at first, and before the next try this happens to them. */
	async function runTwice(
		happen: (refused: IDataObject, paid: IDataObject) => unknown,
		{ node, ...more }: Parameters<typeof engine.run>[1] = {},
		parameters: INodeParameters = {},
	) {
		const filled = { picture: String(editImage.image), minutes: 30, timeout: 60 };
		const refused: IDataObject = { ...filled, prompt: 'refused' };
		const paid: IDataObject = { ...filled, prompt: 'paid' };
		let isFirst = true;
		engine.service.set({
			faultsFor: ({ input }) => {
				if (!isFirst || input.prompt !== 'refused') return undefined;
				isFirst = false;
				happen(refused, paid);
				return { status: 422 };
			},
		});
		const options = { timeoutSeconds: '={{ $json.timeout }}' };
		const ran = await engine.run(
			{ ...edit, image: '={{ $json.picture }}', options, ...parameters },
			{ items: [refused, paid], node: { ...retry, maxTries: 2, ...node }, ...more },
		);
		engine.service.set({ faultsFor: undefined });
		const { taskId } = engine.listTasks().find(({ input }) => input.prompt === 'paid') ?? {};
		return { ...ran, taskId, exists: `This task exists. Look at it with Get: ${taskId}` };
	}

	it.each<[string, INodeParameters]>([
		['Create', {}],
		['Generate', { operation: 'createAndWait', waitLimit: '={{ $json.minutes }}' }],
		[
			'with an expression that fails',
			{ options: { timeoutSeconds: "={{ $json.timeout || $('None').item }}" } },
		],
	])('is output, though its fields are blank now: %s', async (_, parameters) => {
		const blank = { picture: '', prompt: null, minutes: null, timeout: null };
		const { error, output, parked, taskId } = await runTwice(
			(_refused, paid) => Object.assign(paid, blank),
			{},
			parameters,
		);
		expect(error).toBeUndefined();
		expect(parked ?? output[0]).toMatchObject([
			{ json: { taskId: expect.any(String) } },
			{ json: { taskId, model: 'beta2/image-edit' } },
		]);
		expect(listPrompts()).toEqual(['paid', 'refused']);
	});

	it("is named by another item's error", async () => {
		const { error, exists } = await runTwice((refused) => (refused.picture = 'none'));
		expect(error?.message).toContain('\'Image\' is "none"');
		expect(error?.description).toContain(exists);
		expect(listPrompts()).toEqual(['paid']);
	});

	it.each([undefined, 'continueRegularOutput' as const])(
		'is named when its credential cannot be read any more, with On Error %s',
		async (onError) => {
			let isClosed = false;
			const credentials = (item?: IDataObject) => {
				if (isClosed && item?.prompt === 'paid') throw new Error('The vault is closed');
				return engine.credentials;
			};
			const { error, output, exists } = await runTwice(() => (isClosed = true), {
				node: { onError },
				credentials,
			});
			const told = onError
				? output[0]?.[1]?.json
				: { error: error?.message, message: error?.description };
			expect(told).toEqual({
				error: expect.stringContaining('[item 1]'),
				message: expect.stringContaining(exists),
			});
			expect(listPrompts()).toEqual(onError ? ['paid', 'refused'] : ['paid']);
		},
	);
});

describe('Retry from the executions list', () => {
	const items = ['one', 'two'].map((prompt) => ({ prompt }));
	/** Creates two tasks, and retries their execution with these changes. */
	const createTwice = async (parameters: INodeParameters = {}) => {
		const { data } = await engine.run(editImage, { items });
		return await engine.run({ ...editImage, ...parameters }, { items, retryOf: data });
	};
	const listIds = () => engine.listTasks().map(({ taskId }) => taskId);

	it('keeps the tasks of the same requests, without a question to the service', async () => {
		const { output } = await createTwice();
		expect(output[0]?.map(({ json }) => json.taskId)).toEqual(listIds());
		expect(engine.service.requests).toHaveLength(2);
	});

	it('stays awake for tasks whose callbacks go to the earlier execution', async () => {
		const waiting = { operation: 'createAndWait', waitLimit: 0.02 };
		const { output, parked, hints } = await createTwice(waiting);
		expect(parked).toBeUndefined();
		expect(output[0]?.map(({ json }) => json.taskId)).toEqual(listIds());
		expect(hints[0]).toContain('tasks of this run were created by an earlier execution');
	});
});

it('a run that has parked parks the same items again when n8n repeats it for an error in its first item', async () => {
	const settings = { onError: 'continueRegularOutput' };
	const prompts = ['#status=402', 'two', 'three'];
	const { parked = [] } = await create(prompts, settings, { operation: 'createAndWait' });
	expect(listPrompts()).toEqual(['three', 'two']);
	expect(parked.map(({ json }) => json)).toMatchObject([
		{ error: expect.stringContaining('too few credits') },
		{ status: 'timedOut', taskId: expect.any(String) },
		{ status: 'timedOut', taskId: expect.any(String) },
	]);
	expect(parked.slice(1).map(({ json }) => readPrompt(json))).toEqual(['two', 'three']);
});
