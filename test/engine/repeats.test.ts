import type { INodeParameters } from 'n8n-workflow';
import { startService, type Service } from '../../dev/service/index.cts';
import { run } from './engine';

let service: Service;
let credentials: { baseUrl: string; accessToken: string; webhookSecret: string };

beforeAll(async () => {
	service = await startService({ token: 'a-token', taskSeconds: 30 });
	credentials = { baseUrl: service.url, accessToken: 'a-token', webhookSecret: 'a-key' };
});

afterAll(async () => await service.close());

beforeEach(() => {
	service.tasks.clear();
	service.requests.length = 0;
});

const retry = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

const edit = (more: INodeParameters = {}): INodeParameters => ({
	resource: 'task',
	operation: 'create',
	model: 'beta2/image-edit',
	image: 'https://media.example/subject.png',
	prompt: '={{ $json.prompt }}',
	// Another request at each try.
	seed: '={{ Math.floor(Math.random() * 1e9) }}',
	...more,
});

const prompts = (...texts: string[]) => texts.map((prompt) => ({ prompt }));

const tasksByPrompt = () => [...service.tasks.values()].map(({ input }) => input.prompt).sort();

describe('Retry On Fail, with an expression that returns another value at each try', () => {
	it('creates each task once when one of three is refused at first', async () => {
		service.faultNext({ code: 455 });
		const items = prompts('one', 'two', 'three');
		const { output, error } = await run({ parameters: edit(), items, credentials, node: retry });
		expect(error).toBeUndefined();
		expect(tasksByPrompt()).toEqual(['one', 'three', 'two']);
		expect(
			output[0]?.map(({ json }) => service.tasks.get(String(json.taskId))?.input.prompt),
		).toEqual(['one', 'two', 'three']);
	});

	it.each([
		'#status=500',
		'#status=502',
		'#status=501',
		'#status=408',
		'#status=409',
		'#status=499',
		'#status=302',
		'#status=307',
		'#garbage',
		'#noTaskId',
	])('sends a request once that is answered with %s, also when it made a task', async (fault) => {
		for (const prompt of [fault, `${fault} #created`]) {
			service.requests.length = 0;
			const items = prompts(prompt);
			const { error } = await run({ parameters: edit(), items, credentials, node: retry });
			expect(error?.description).toContain('The task may exist and may have been paid for');
			expect(service.requests).toHaveLength(1);
		}
	});

	it('sends a request once whose connection breaks off', async () => {
		service.faultNext({ dropConnection: true });
		const items = prompts('one');
		const { error } = await run({ parameters: edit(), items, credentials, node: retry });
		expect(error?.message).toContain('broke off the connection before it answered');
		expect(error?.description).toContain('The task may exist and may have been paid for');
		expect(service.requests).toHaveLength(1);
	});

	it('sends a request once that failed for the first item, when On Error continues: n8n repeats such a run', async () => {
		const { output } = await run({
			parameters: edit(),
			items: prompts('#status=500', 'two'),
			credentials,
			onError: 'continueRegularOutput',
			node: retry,
		});
		expect(service.requests).toHaveLength(2);
		expect(output[0]).toMatchObject([
			{ json: { error: expect.stringContaining('500') } },
			{ json: { status: 'pending' } },
		]);
	});

	it('sends again what was surely refused', async () => {
		for (const code of [402, 422, 433, 455])
			for (const status of [200, code]) {
				service.tasks.clear();
				service.faultNext({ status, code, times: 2 });
				const items = prompts('one');
				const { output } = await run({ parameters: edit(), items, credentials, node: retry });
				expect(output[0]).toMatchObject([{ json: { status: 'pending' } }]);
				expect(service.tasks.size).toBe(1);
			}
	});

	it('does not repeat a listed code that came with a status of somebody else', async () => {
		service.faultNext({ status: 502, code: 422 });
		const items = prompts('one');
		const { error } = await run({ parameters: edit(), items, credentials, node: retry });
		expect(error?.description).toContain('may exist');
		expect(service.requests).toHaveLength(1);
	});
});

describe('an answer with a task ID', () => {
	it.each(['#accepted=201', '#accepted=202', '#code=0', '#code=201', '#numericId', '#code=500'])(
		'is a task, when it comes with %s',
		async (prompt) => {
			const items = prompts(prompt);
			const { output, error } = await run({ parameters: edit(), items, credentials, node: retry });
			expect(error).toBeUndefined();
			expect(output[0]).toMatchObject([{ json: { taskId: [...service.tasks.keys()][0] } }]);
			expect(service.requests).toHaveLength(1);
		},
	);

	it('is named when it comes with a refusal, whose outcome is unknown', async () => {
		const items = prompts('#accepted=503');
		const { error } = await run({ parameters: edit(), items, credentials, node: retry });
		expect(error?.description).toContain(
			`the service named it ${[...service.tasks.keys()][0]}. Look at it with Get`,
		);
		expect(service.requests).toHaveLength(1);
	});

	it('can be looked at when it is a number', async () => {
		await run({ parameters: edit(), items: prompts('#numericId'), credentials });
		const [taskId = ''] = [...service.tasks.keys()];
		const { output } = await run({
			parameters: { resource: 'task', operation: 'get', taskId },
			credentials,
		});
		expect(output[0]).toMatchObject([{ json: { taskId, status: 'pending' } }]);
	});
});

describe('a run that waits for the callback', () => {
	const parameters = edit({ operation: 'createAndWait' });
	const items = prompts('#status=402', 'two', 'three');

	it.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'parks the same items again when n8n repeats it for an error in its first item (%s)',
		async (onError) => {
			const { parked } = await run({ parameters, items, credentials, onError, node: retry });
			expect(tasksByPrompt()).toEqual(['three', 'two']);
			expect(parked?.map(({ json }) => json)).toMatchObject([
				{ error: expect.stringContaining('too few credits') },
				{ status: 'timedOut', taskId: expect.any(String) },
				{ status: 'timedOut', taskId: expect.any(String) },
			]);
			expect(
				parked?.slice(1).map(({ json }) => service.tasks.get(String(json.taskId))?.input.prompt),
			).toEqual(['two', 'three']);
		},
	);

	it('parks one item under Execute Once, in the data that n8n stores', async () => {
		const { parked } = await run({
			parameters,
			items: prompts('one', 'two'),
			credentials,
			node: { executeOnce: true },
		});
		expect(parked).toMatchObject([{ json: { taskId: [...service.tasks.keys()][0] } }]);
		expect(service.tasks.size).toBe(1);
	});
});

describe('a credential with expressions', () => {
	let other: Service;
	beforeAll(async () => (other = await startService({ token: 'other-token', taskSeconds: 30 })));
	afterAll(async () => await other.close());
	beforeEach(() => other.tasks.clear());

	const accounts = () => ({
		first: credentials,
		second: { ...credentials, baseUrl: other.url, accessToken: 'other-token' },
	});
	const byItem = (item?: object) =>
		accounts()[(item as { account?: 'first' | 'second' })?.account ?? 'first'];
	const items = [
		{ account: 'first', prompt: 'one' },
		{ account: 'second', prompt: 'two' },
	];

	it('is read for each item', async () => {
		const { error } = await run({ parameters: edit(), items, credentials: byItem });
		expect(error).toBeUndefined();
		expect(tasksByPrompt()).toEqual(['one']);
		expect([...other.tasks.values()].map(({ input }) => input.prompt)).toEqual(['two']);
	});

	it.each([
		['is another one for the item', byItem],
		[
			'cannot be resolved without the data of the run',
			(item?: object) => {
				if (!item) throw new Error('no data');
				return credentials;
			},
		],
		[
			'is another one without the data of the run',
			(item?: object) => (item ? credentials : { ...credentials, webhookSecret: '' }),
		],
	])(
		'makes the node poll when it %s: n8n could not read it while the execution sleeps',
		async (_, read) => {
			const { parked, hints, output } = await run({
				parameters: edit({ operation: 'createAndWait', waitLimit: 0.01 }),
				items: items.slice(1),
				credentials: read,
			});
			expect(parked).toBeUndefined();
			expect(hints).toEqual([expect.stringContaining('polled instead of waiting')]);
			expect(output[0]).toMatchObject([{ json: { status: 'timedOut' } }]);
		},
	);
});
