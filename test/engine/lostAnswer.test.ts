import type { IDataObject, INodeParameters, IRunExecutionData } from 'n8n-workflow';
import { editImage, useService } from './engine';

/** The pauses before a creation is asked for again are those of a fiftieth of the time. */
jest.mock('n8n-workflow', () => {
	const actual = jest.requireActual<{ sleep: (ms: number, signal?: AbortSignal) => unknown }>(
		'n8n-workflow',
	);
	return { ...actual, sleep: (ms: number, signal?: AbortSignal) => actual.sleep(ms / 50, signal) };
});

const HEADER = { customEndpoints: true, idempotencyHeader: 'Idempotency-Key' };
const UNKNOWN = 'The task may exist and may have been paid for';

const engine = useService({ taskSeconds: 30, idempotencyHeader: HEADER.idempotencyHeader });

/** Another request at each try. */
const edit: INodeParameters = { ...editImage, seed: '={{ Math.floor(Math.random() * 1e9) }}' };

const repeats = (maxTries: number) => ({ retryOnFail: true, maxTries, waitBetweenTries: 1 });

interface Run {
	prompts: string[];
	credentials?: object;
	parameters?: INodeParameters;
	node?: object;
	retryOf?: IRunExecutionData;
	after?: IRunExecutionData;
}

async function create({ prompts, credentials = HEADER, parameters = edit, ...more }: Run) {
	const items = prompts.map((prompt): IDataObject => ({ prompt }));
	const data = { ...engine.credentials, ...credentials };
	const ran = await engine.run(parameters, { items, credentials: data, ...more });
	return { ...ran, ids: ran.output[0]?.map(({ json }) => json.taskId) };
}

const listIds = () => engine.listTasks().map(({ taskId }) => taskId);

it.each([
	['one answer lost', '#lost=1', 2],
	['an HTTP 500 that hides a task', '#status=500 #created', 2],
	['a text that hides a task', '#garbage #created', 2],
])('with the header, %s costs one task', async (_, prompt, requests) => {
	const { ids, error } = await create({ prompts: [prompt] });
	expect(error).toBeUndefined();
	expect(ids).toEqual(listIds());
	expect(ids).toHaveLength(1);
	expect(engine.service.requests).toHaveLength(requests);
});

it('without a header, a creation is sent once, also when n8n repeats the run', async () => {
	const { error } = await create({ prompts: ['#lost=1'], credentials: {}, node: repeats(3) });
	expect(error?.description).toContain(UNKNOWN);
	expect(engine.service.requests).toHaveLength(1);
});

it.each([
	{ request: 'the same request', parameters: editImage, tasks: 1 },
	{ request: 'a corrected one', parameters: { ...editImage, seed: 7 }, tasks: 2 },
])(
	'a retry of an execution that ended unknown, with $request, makes it $tasks',
	async ({ parameters, tasks }) => {
		const { data } = await create({ prompts: ['#lost=4'], parameters: editImage });
		const { ids, error } = await create({ prompts: ['#lost=4'], parameters, retryOf: data });
		const known = listIds();
		expect(known).toHaveLength(tasks);
		if (tasks === 1) expect(ids).toEqual(known);
		else expect(error?.description).toContain(UNKNOWN);
	},
);

it('items, runs and nodes that ask for the same have keys of their own', async () => {
	const same = { prompts: ['same', 'same'], parameters: editImage };
	const { data } = await create(same);
	await create({ ...same, after: data });
	await create({ ...same, node: { id: '2' } });
	expect(engine.service.tasks.size).toBe(6);
});
