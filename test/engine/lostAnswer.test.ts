import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { editImage, useService } from './engine';

/** The pauses before a creation is asked for again are those of a fiftieth of the time. */
jest.mock('n8n-workflow', () => {
	const actual = jest.requireActual<{ sleep: (ms: number, signal?: AbortSignal) => unknown }>(
		'n8n-workflow',
	);
	return {
		...actual,
		sleep: (ms: number, signal?: AbortSignal) => actual.sleep(ms / 50, signal),
	};
});

const HEADER = { customEndpoints: true, idempotencyHeader: 'Idempotency-Key' };
const NONE = { customEndpoints: true, idempotencyHeader: '' };
const OFF = { ...HEADER, customEndpoints: false };
const UNKNOWN = 'The task may exist and may have been paid for';

const engine = useService({ taskSeconds: 30, idempotencyHeader: HEADER.idempotencyHeader });
beforeEach(() => engine.service.set({ idempotencyHeader: HEADER.idempotencyHeader }));

/** Another request at each try. */
const edit: INodeParameters = { ...editImage, seed: '={{ Math.floor(Math.random() * 1e9) }}' };

const repeats = (maxTries: number) => ({ retryOnFail: true, maxTries, waitBetweenTries: 1 });

interface Run {
	prompts: string[];
	credentials?: object;
	parameters?: INodeParameters;
	node?: object;
	retryOf?: Awaited<ReturnType<typeof engine.run>>['data'];
}

async function create({ prompts, credentials = HEADER, parameters = edit, ...more }: Run) {
	const items = prompts.map((prompt): IDataObject => ({ prompt }));
	const data = { ...engine.credentials, ...credentials };
	const {
		data: ran,
		output,
		error,
	} = await engine.run(parameters, {
		items,
		credentials: data,
		...more,
	});
	return { ran, ids: output[0]?.map(({ json }) => json.taskId), error };
}

const listIds = () => engine.listTasks().map(({ taskId }) => taskId);

it.each([
	['one answer lost', '#lost=1', 2],
	['three answers lost', '#lost=3', 4],
	['an HTTP 500 that hides a task', '#status=500 #created', 2],
	['a text that hides a task', '#garbage #created', 2],
])('with the header, %s costs one task', async (_, prompt, requests) => {
	const { ids, error } = await create({ prompts: [prompt] });
	expect(error).toBeUndefined();
	expect(ids).toEqual(listIds());
	expect(ids).toHaveLength(1);
	expect(engine.service.requests).toHaveLength(requests);
});

it.each([
	['no header is named', NONE],
	['Advanced Settings is off', OFF],
])('where %s, a creation is sent once, also when n8n repeats the run', async (_, credentials) => {
	const { error } = await create({ prompts: ['#lost=1'], credentials, node: repeats(3) });
	expect(error?.description).toContain(UNKNOWN);
	expect(engine.service.requests).toHaveLength(1);
});

it('a creation is asked for four times in all, and stays unknown', async () => {
	const { error } = await create({ prompts: ['#lost=9'] });
	expect(error?.description).toContain(UNKNOWN);
	expect(engine.service.requests).toHaveLength(4);
	expect(engine.service.tasks.size).toBe(1);
});

it("n8n's repeat of the place asks with the same key and body, whatever its expressions return", async () => {
	const { ids } = await create({ prompts: ['#lost=5'], node: repeats(2) });
	expect(ids).toEqual(listIds());
	expect(ids).toHaveLength(1);
	expect(engine.service.requests).toHaveLength(6);
});

it('a refusal after a lost answer does not say that there is no task', async () => {
	engine.service.faultNext({ dropConnection: true });
	engine.service.faultNext({ code: 402, times: 7 });
	const { error } = await create({ prompts: ['one'], node: repeats(2) });
	expect(error?.description).toContain(UNKNOWN);
	expect(engine.service.requests).toHaveLength(8);
});

it.each([
	{ request: 'the same request', parameters: editImage, tasks: 1 },
	{ request: 'a corrected one', parameters: { ...editImage, seed: 7 }, tasks: 2 },
])(
	'a retry of an execution that ended unknown, with $request, makes it $tasks',
	async ({ parameters, tasks }) => {
		const { ran } = await create({ prompts: ['#lost=4'], parameters: editImage });
		const { ids, error } = await create({ prompts: ['#lost=4'], parameters, retryOf: ran });
		const known = listIds();
		expect(known).toHaveLength(tasks);
		if (tasks === 1) expect(ids).toEqual(known);
		else expect(error?.description).toContain(UNKNOWN);
	},
);

it('items, runs and executions that ask for the same have keys of their own', async () => {
	const prompts = ['same', 'same'];
	const { ran } = await create({ prompts, parameters: editImage });
	await engine.run(editImage, {
		items: prompts.map((prompt) => ({ prompt })),
		credentials: { ...engine.credentials, ...HEADER },
		after: ran,
	});
	await create({ prompts, parameters: editImage, node: { id: '2' } });
	expect(engine.service.tasks.size).toBe(6);
});

it('a service that ignores the header charges again for what is asked for again', async () => {
	engine.service.set({ idempotencyHeader: '' });
	const faults = [{ lost: 1 }, {}];
	engine.service.set({ faultsFor: () => faults.shift() });
	const { ids } = await create({ prompts: ['one'] });
	engine.service.set({ faultsFor: undefined });
	expect(engine.service.tasks.size).toBe(2);
	expect(listIds()).toContain(ids?.[0]);
});

it('a header of another use is refused before anything is sent', async () => {
	const credentials = { ...HEADER, idempotencyHeader: 'Authorization' };
	const { error } = await create({ prompts: ['one'], credentials });
	expect(error?.message).toContain("'Idempotency Header'");
	expect(engine.service.requests).toHaveLength(0);
});
