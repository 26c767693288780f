import { editImage, useService } from '../engine';

const engine = useService({ taskSeconds: 0.2 });

const TEXTS = ['one', '#fail', '#slow=1 three'];

/** Starts a task for each prompt, and lists the items that name them. */
async function startTasks() {
	const items = TEXTS.map((prompt) => ({ prompt }));
	const { output } = await engine.run(editImage, { items });
	engine.service.requests.length = 0;
	return output.map(({ json: { taskId } }) => ({ taskId: String(taskId) }));
}

const runWait = { resource: 'task', operation: 'wait', taskId: '={{ $json.taskId }}' };

it('outputs what Generate does, each task in its place with its file, and creates nothing', async () => {
	const items = await startTasks();
	const options = { failedTasks: 'output' };
	const { output, hints } = await engine.run({ ...runWait, options }, { items });
	expect(output).toMatchObject(
		['completed', 'failed', 'completed'].map((status, item) => ({
			json: { taskId: items[item]?.taskId, status, model: 'beta2/image-edit' },
			pairedItem: { item },
		})),
	);
	expect(output.map(({ binary }) => Object.keys(binary ?? {}))).toEqual([['data'], [], ['data']]);
	expect(hints).toEqual([
		expect.stringMatching(/^Tasks that failed: 1 of 3\. The first: ./),
		'Credits consumed: 37.5',
	]);
	expect(engine.service.requests.filter(({ method }) => method === 'POST')).toEqual([]);
});

it('names an ID that the service does not know, and waits for the others where the run continues', async () => {
	const [one] = await startTasks();
	const items = [{ taskId: 'unknown' }, { taskId: String(one?.taskId) }];
	const parameters = { ...runWait, options: { waitLimit: 0.05 } };
	const { error } = await engine.run(parameters, { items });
	expect(error).toMatchObject({
		message: 'The service has no task with this ID [item 1 of 2]',
		description: expect.stringContaining('Check Task ID') as string,
	});
	const node = { onError: 'continueRegularOutput' as const };
	const { output } = await engine.run(parameters, { items, node });
	expect(output).toMatchObject([
		{ json: { error: expect.stringContaining('no task with this ID') as string } },
		{ json: { ...items[1], status: 'completed' }, pairedItem: { item: 1 } },
	]);
});

it('a task that failed is the error of its item', async () => {
	const items = await startTasks();
	const { error } = await engine.run(runWait, { items });
	expect(error?.message).toMatch(/^The task failed: .* \[item 2 of 3\]$/);
	expect(error?.description).toMatch(new RegExp(`Task ID: ${items[1]?.taskId}$`));
});

it('a task that goes on is timedOut at the limit, and the next Wait goes on', async () => {
	const slow = (await startTasks()).slice(2);
	const short = { waitLimit: 0.01 };
	const { error } = await engine.run({ ...runWait, options: short }, { items: slow });
	expect(error?.message).toBe('The task had not ended when the wait was over');
	expect(error?.description).toContain('use Wait with this ID');
	const options = { ...short, failedTasks: 'output' };
	const timedOut = await engine.run({ ...runWait, options }, { items: slow });
	expect(timedOut.output).toMatchObject([{ json: { ...slow[0], status: 'timedOut' } }]);
	expect(timedOut.hints).toEqual([expect.stringContaining('Use Wait to go on')]);
	const { output } = await engine.run(runWait, { items: slow });
	expect(output).toMatchObject([{ json: { ...slow[0], status: 'completed' } }]);
});
