import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { startService, type Service } from '../../dev/service/index.cts';
import { editImage, useService } from './engine';

const engine = useService({ taskSeconds: 30 });

const unknown = 'The task may exist and may have been paid for';
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

const listPrompts = ({ tasks }: Service = engine.service) =>
	[...tasks.values()].map(({ input }) => input.prompt).sort();

describe('Retry On Fail, with an expression that returns another value at each try', () => {
	it('creates each task once when one of three is refused at first', async () => {
		engine.service.faultNext({ code: 455 });
		const { output, error } = await create(['one', 'two', 'three']);
		expect(error).toBeUndefined();
		expect(listPrompts()).toEqual(['one', 'three', 'two']);
		expect(output[0]?.map(({ json }) => readPrompt(json))).toEqual(['one', 'two', 'three']);
	});

	it.each([
		...[302, 307, 408, 409, 499, 500, 501, 502].map((status) => `#status=${status}`),
		'#garbage',
		'#noTaskId',
	])('sends a request once that is answered with %s, also when it made a task', async (fault) => {
		for (const prompt of [fault, `${fault} #created`]) {
			engine.service.requests.length = 0;
			expect((await create([prompt])).error?.description).toContain(unknown);
			expect(engine.service.requests).toHaveLength(1);
		}
	});

	it.each([
		['not at all', { dropConnection: true }, 'broke off the connection before it answered'],
		[
			'with a refusal by the status of a proxy',
			{ status: 502, code: 422 },
			'did not accept a field (422',
		],
	])('sends a request once that is answered %s', async (_, fault, message) => {
		engine.service.faultNext(fault);
		const { error } = await create(['one']);
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(unknown);
		expect(engine.service.requests).toHaveLength(1);
	});

	it('sends a request once that failed for the first item, when On Error continues: n8n repeats such a run', async () => {
		const { output } = await create(['#status=500', 'two'], { onError: 'continueRegularOutput' });
		expect(engine.service.requests).toHaveLength(2);
		expect(output[0]).toMatchObject([
			{ json: { error: expect.stringContaining('500') } },
			{ json: { status: 'pending' } },
		]);
	});

	it.each([402, 422, 433, 455].flatMap((code) => [200, code].map((status) => ({ status, code }))))(
		'sends again what was surely refused, with %j',
		async (refusal) => {
			engine.service.faultNext({ ...refusal, times: 2 });
			expect((await create(['one'])).output[0]).toMatchObject([{ json: { status: 'pending' } }]);
			expect(engine.service.tasks.size).toBe(1);
		},
	);
});

describe('an answer with a task ID', () => {
	it.each(['#accepted=201', '#accepted=202', '#code=0', '#code=201', '#numericId', '#code=500'])(
		'is a task, when it comes with %s',
		async (prompt) => {
			const { output, error } = await create([prompt]);
			expect(error).toBeUndefined();
			expect(output[0]).toMatchObject([{ json: { taskId: engine.listTasks()[0]?.taskId } }]);
			expect(engine.service.requests).toHaveLength(1);
		},
	);

	it('is named when it comes with a refusal, whose outcome is unknown', async () => {
		const { error } = await create(['#accepted=503']);
		expect(error?.description).toContain(
			`the service named it ${engine.listTasks()[0]?.taskId}. Look at it with Get`,
		);
		expect(engine.service.requests).toHaveLength(1);
	});

	it('can be looked at when it is a number', async () => {
		await create(['#numericId']);
		const [taskId = ''] = engine.service.tasks.keys();
		const { output } = await engine.run({ resource: 'task', operation: 'get', taskId });
		expect(output[0]).toMatchObject([{ json: { taskId, status: 'pending' } }]);
	});
});

describe('a run that waits for the callback', () => {
	const waiting = { operation: 'createAndWait' };

	it.each(['continueRegularOutput', 'continueErrorOutput'])(
		'parks the same items again when n8n repeats it for an error in its first item (%s)',
		async (onError) => {
			const { parked = [] } = await create(['#status=402', 'two', 'three'], { onError }, waiting);
			expect(listPrompts()).toEqual(['three', 'two']);
			expect(parked.map(({ json }) => json)).toMatchObject([
				{ error: expect.stringContaining('too few credits') },
				{ status: 'timedOut', taskId: expect.any(String) },
				{ status: 'timedOut', taskId: expect.any(String) },
			]);
			expect(parked.slice(1).map(({ json }) => readPrompt(json))).toEqual(['two', 'three']);
		},
	);

	it('parks one item under Execute Once, in the data that n8n stores', async () => {
		const { parked } = await create(['one', 'two'], { executeOnce: true }, waiting);
		expect(parked).toMatchObject([{ json: { taskId: engine.listTasks()[0]?.taskId } }]);
		expect(engine.service.tasks.size).toBe(1);
	});
});

describe('a credential with expressions', () => {
	let other: Service;
	beforeAll(async () => (other = await startService({ token: 'other-token', taskSeconds: 30 })));
	beforeEach(() => other.tasks.clear());
	afterAll(async () => await other.close());

	const readByItem = (item?: IDataObject) => ({
		...engine.credentials,
		...(item?.account === 'second' && { baseUrl: other.url, accessToken: 'other-token' }),
	});
	const second = { account: 'second', prompt: 'two' };

	it('is read for each item', async () => {
		const items = [{ account: 'first', prompt: 'one' }, second];
		const { error } = await engine.run(edit, { items, credentials: readByItem });
		expect(error).toBeUndefined();
		expect(listPrompts()).toEqual(['one']);
		expect(listPrompts(other)).toEqual(['two']);
	});

	/** As n8n reads parameters while the execution sleeps: it has no data of the run then. */
	const throwAsleep = () => {
		throw new Error('no data');
	};
	const blankAsleep = () => ({ ...engine.credentials, webhookSecret: '' });
	it.each<[string, typeof readByItem]>([
		['is another one for the item', readByItem],
		['needs the item to be resolved', (item) => (item ? engine.credentials : throwAsleep())],
		['is another one without the item', (item) => (item ? engine.credentials : blankAsleep())],
	])('makes the node poll when it %s', async (_, credentials) => {
		const { parked, hints, output } = await engine.run(
			{ ...edit, operation: 'createAndWait', waitLimit: 0.01 },
			{ items: [second], credentials },
		);
		expect(parked).toBeUndefined();
		expect(hints).toEqual([expect.stringContaining('polled instead of waiting')]);
		expect(output[0]).toMatchObject([{ json: { status: 'timedOut' } }]);
	});
});
