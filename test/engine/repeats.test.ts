import { editImage, useService } from './engine';

const engine = useService({ taskSeconds: 30 });
const lost = { ...editImage, prompt: '#lost' };
const retry = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };

it('a creation whose answer is lost is sent once, also when n8n repeats the run', async () => {
	const { error } = await engine.run(lost, { node: retry });
	expect(error?.description).toContain('The task may exist and may have been paid for');
	expect(engine.service.requests).toHaveLength(1);
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
	const exists = `Tasks that exist (look at them with Get): ${engine.listTasks()[0]?.taskId}`;
	expect(output).toMatchObject([
		{ json: { error: 'The vault is closed' }, pairedItem: { item: 0 } },
		{ json: { error: 'The vault is closed', message: exists }, pairedItem: { item: 1 } },
	]);
	expect(engine.service.tasks.size).toBe(1);
});
