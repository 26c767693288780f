import { editImage, useService } from '../engine';

const engine = useService({ taskSeconds: 0.1 });

const items = ['one', '#fail', 'three'].map((prompt) => ({ prompt }));
const runGenerate = { ...editImage, operation: 'generate', options: { howToWait: 'polling' } };
const findTask = (item: number) =>
	engine.listTasks().find(({ input }) => input.prompt === items[item]?.prompt);

it('outputs each task in its place with its file, and says what they cost', async () => {
	const options = { ...runGenerate.options, failedTasks: 'output' };
	const { output, hints } = await engine.run({ ...runGenerate, options }, { items });
	expect(output.map(({ binary }) => Object.keys(binary ?? {}))).toEqual([['data'], [], ['data']]);
	expect(output).toMatchObject(
		['completed', 'failed', 'completed'].map((status, item) => ({
			json: { taskId: findTask(item)?.taskId, status },
			pairedItem: { item },
		})),
	);
	expect(output[1]?.json).not.toHaveProperty('error');
	expect(hints).toEqual([
		expect.stringMatching(/^Tasks that failed: 1 of 3\. The first: ./),
		'Credits consumed: 37.5',
	]);
});

it('ends with the error of a task that failed, once all have ended, and names all', async () => {
	const { output, error } = await engine.run(runGenerate, { items });
	expect(output).toEqual([]);
	expect(error?.message).toMatch(/^The task failed: .+ \(code 501\) \[item 2 of 3\]$/);
	expect(error?.description).toMatch(new RegExp(`Task ID: ${findTask(1)?.taskId}$`));
	for (const item of [0, 2]) expect(error?.description).toContain(findTask(item)?.taskId);
	expect(engine.listTasks().map(({ state }) => state)).toEqual(['success', 'fail', 'success']);
});

it('outputs a task that failed with its error where the run continues', async () => {
	const node = { onError: 'continueRegularOutput' as const };
	const { output } = await engine.run(runGenerate, { items, node });
	expect(output).toMatchObject([
		{ json: { status: 'completed' } },
		{
			json: {
				taskId: findTask(1)?.taskId,
				status: 'failed',
				error: expect.stringContaining('The task failed') as string,
				message: expect.stringContaining('pays for a new task') as string,
			},
		},
		{ json: { status: 'completed' } },
	]);
});
