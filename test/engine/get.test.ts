import { useService } from './engine';

const engine = useService({ taskSeconds: 0.1 });

const createTask = async (prompt = '') => {
	const image = 'https://media.example/photo.png';
	const model = 'beta2/image-edit';
	await engine.run({ resource: 'task', operation: 'create', model, image, prompt });
	return String(engine.listTasks()[0]?.taskId);
};

const createEndedTask = async (prompt?: string) => {
	const taskId = await createTask(prompt);
	await engine.service.waitForTask(taskId);
	return taskId;
};

const get = async (taskId: string, { simplify = true } = {}) => {
	const parameters = { resource: 'task', operation: 'get', taskId, simplify };
	const { output, error } = await engine.run(parameters);
	return { json: output[0]?.[0]?.json ?? {}, error };
};

describe('task: get', () => {
	it('returns a completed task with its result', async () => {
		const taskId = await createEndedTask();
		const { json } = await get(` ${taskId} `);
		expect(json).toMatchObject({
			taskId,
			model: 'beta2/image-edit',
			status: 'completed',
			state: 'success',
			creditsConsumed: 12.5,
			result: { resultUrls: json.resultUrls },
		});
		expect(Date.parse(String(json.completedAt))).toBeGreaterThan(
			Date.parse(String(json.createdAt)),
		);
	});

	it('returns a failed task with the reason, and no error: the task is what was asked for', async () => {
		const { json, error } = await get(await createEndedTask('#fail'));
		expect(error).toBeUndefined();
		expect(json).toMatchObject({
			status: 'failed',
			state: 'fail',
			failCode: '501',
			failMessage: expect.stringMatching(/./),
		});
	});

	it('returns a task that has not ended as pending', async () => {
		const { json } = await get(await createTask('#neverEnds'));
		expect(json).toMatchObject({ status: 'pending', resultUrls: [] });
	});

	it('returns an item for each file, where that is chosen', async () => {
		const taskId = await createEndedTask('#files=2');
		const parameters = { resource: 'task', operation: 'get', taskId };
		const perFile = await engine.run({ ...parameters, options: { outputItems: 'perFile' } });
		const resultUrls = (perFile.output[0]?.[0]?.json.resultUrls ?? []) as string[];
		expect(resultUrls).toHaveLength(2);
		expect(perFile.output[0]).toMatchObject(
			resultUrls.map((url, index) => ({
				json: { taskId, status: 'completed', file: { index, kind: 'result', url } },
				pairedItem: { item: 0 },
			})),
		);
	});

	it('returns the record as the service has it, with Simplify turned off', async () => {
		const taskId = await createEndedTask('Make it night');
		const { param, resultJson, ...record } = (await get(taskId, { simplify: false })).json;
		expect(record).toMatchObject({
			taskId,
			model: 'beta2/image-edit',
			state: 'success',
			createTime: expect.any(Number),
		});
		expect(JSON.parse(String(param))).toMatchObject({ input: { prompt: 'Make it night' } });
		expect(JSON.parse(String(resultJson))).toEqual({ resultUrls: [expect.any(String)] });
	});

	it.each([true, false])('names an unknown task (simplify: %s)', async (simplify) => {
		const { error } = await get('no-such-task', { simplify });
		expect(error?.message).toContain('recordInfo is null');
	});

	it('asks for a task id', async () => {
		const { error } = await get('={{ "" }}');
		expect(error?.message).toBe("'Task ID' is required [item 0]");
	});
});

describe('account: getCredits', () => {
	it('returns the credits, fractional', async () => {
		engine.service.set({ credits: 87.5 });
		const { output } = await engine.run({ resource: 'account', operation: 'getCredits' });
		expect(output).toEqual([[{ json: { credits: 87.5 }, pairedItem: { item: 0 } }]]);
	});
});
