import { editImage, useService } from '../engine';

const engine = useService({ taskSeconds: 0.1 });

const items = ['one', '#fail', 'three'].map((prompt) => ({ prompt }));
const runGenerate = { ...editImage, operation: 'generate', options: { howToWait: 'polling' } };
const findTask = (item: number) =>
	engine.listTasks().find(({ input }) => input.prompt === items[item]?.prompt);

it('ends with the error of a task that failed, once all have ended, and names all tasks', async () => {
	const { output, error } = await engine.run(runGenerate, { items });
	expect(output).toEqual([]);
	expect(error?.message).toMatch(/^The task failed: .+ \(code 501\) \[item 2 of 3\]$/);
	expect(error?.description).toMatch(new RegExp(`Task ID: ${findTask(1)?.taskId}$`));
	for (const item of [0, 2]) expect(error?.description).toContain(findTask(item)?.taskId);
	expect(engine.listTasks().map(({ state }) => state)).toEqual(['success', 'fail', 'success']);
});

it('a task of the try before is named where the credential can no longer be read', async () => {
	const closeVault = () => {
		if (engine.service.tasks.size > 0) throw new Error('The vault is closed');
		return {};
	};
	const { output } = await engine.run(editImage, {
		items: [{ prompt: '#status=422' }, { prompt: 'paid' }],
		credentials: closeVault,
		node: {
			...{ retryOnFail: true, maxTries: 2, waitBetweenTries: 1 },
			onError: 'continueRegularOutput',
		},
	});
	const exists = `Tasks that exist (look at them with Get): ${engine.listTasks()[0]?.taskId} (created)`;
	expect(output).toMatchObject([
		{ json: { error: 'The vault is closed' }, pairedItem: { item: 0 } },
		{ json: { error: 'The vault is closed', message: exists }, pairedItem: { item: 1 } },
	]);
	expect(engine.service.tasks.size).toBe(1);
});
