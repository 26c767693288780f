import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { editImage, useService } from './engine';

const engine = useService({ taskSeconds: 30 });

const retry = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

const edit: INodeParameters = {
	...editImage,
	// Another request at each try.
	seed: '={{ Math.floor(Math.random() * 1e9) }}',
};

const listPrompts = () =>
	engine
		.listTasks()
		.map(({ input }) => input.prompt)
		.sort();

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

it('a retry from the executions list keeps the tasks of the same requests, without a question to the service', async () => {
	const items = ['one', 'two'].map((prompt) => ({ prompt }));
	const { data } = await engine.run(editImage, { items });
	const { output } = await engine.run(editImage, { items, retryOf: data });
	const ids = engine.listTasks().map(({ taskId }) => taskId);
	expect(output[0]?.map(({ json }) => json.taskId)).toEqual(ids);
	expect(engine.service.requests).toHaveLength(2);
});
