import { editImage, useService } from './engine';

/** The pauses before a creation is asked for again are those of a fiftieth of the time. */
jest.mock('n8n-workflow', () => {
	const actual = jest.requireActual<{ sleep: (ms: number, signal?: AbortSignal) => unknown }>(
		'n8n-workflow',
	);
	return { ...actual, sleep: (ms: number, signal?: AbortSignal) => actual.sleep(ms / 50, signal) };
});

const header = 'Idempotency-Key';
const withHeader = { credentials: () => ({ advancedSettings: true, idempotencyHeader: header }) };
const engine = useService({ taskSeconds: 30, idempotencyHeader: header });
const lost = { ...editImage, prompt: '#lost=1' };
const retry = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };

it('with an idempotency header, a lost answer costs one task', async () => {
	const { output } = await engine.run(lost, withHeader);
	expect(output).toMatchObject([{ json: { taskId: engine.listTasks()[0]?.taskId } }]);
	expect(engine.service.requests).toHaveLength(2);
	expect(engine.service.tasks.size).toBe(1);
});

it('without one, a creation is sent once, also when n8n repeats the run', async () => {
	const { error } = await engine.run(lost, { node: retry });
	expect(error?.description).toContain('The task may exist and may have been paid for');
	expect(engine.service.requests).toHaveLength(1);
});

it('items and nodes that ask for the same have keys of their own', async () => {
	for (const id of ['1', '2'])
		await engine.run(editImage, { ...withHeader, items: [{}, {}], node: { id } });
	expect(engine.service.tasks.size).toBe(4);
});

it('a task of an earlier try is named where its credential can not be read any more', async () => {
	const closing = () => {
		if (engine.service.tasks.size > 0) throw new Error('The vault is closed');
		return {};
	};
	const { output } = await engine.run(editImage, {
		items: [{ prompt: '#status=422' }, { prompt: 'paid' }],
		credentials: closing,
		node: { ...retry, onError: 'continueRegularOutput' },
	});
	const exists = `This task exists. Look at it with Get: ${engine.listTasks()[0]?.taskId}`;
	expect(output).toMatchObject([
		{ json: { error: 'The vault is closed [item 0]' }, pairedItem: { item: 0 } },
		{ json: { error: 'The vault is closed [item 1]', message: exists }, pairedItem: { item: 1 } },
	]);
	expect(engine.service.tasks.size).toBe(1);
});
