import { useService } from '../../engine';

const engine = useService({ taskSeconds: 0.1 });

const createEndedTask = async (prompt = '') => {
	const image = 'https://media.example/photo.png';
	const model = 'beta2/image-edit';
	await engine.run({ resource: 'task', operation: 'create', model, image, prompt });
	const taskId = String(engine.listTasks()[0]?.taskId);
	await engine.service.waitForTask(taskId);
	return taskId;
};

const get = async (taskId: string, { simplify = true } = {}) => {
	const parameters = { resource: 'task', operation: 'get', taskId, simplify };
	const { output, error } = await engine.run(parameters);
	return { json: output[0]?.[0]?.json ?? {}, error };
};

it('Get returns a completed task with its result', async () => {
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
	expect(Date.parse(String(json.completedAt))).toBeGreaterThan(Date.parse(String(json.createdAt)));
});

it('Get returns an item for each file, where that is chosen', async () => {
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

it('Get returns the record as the service has it, with Simplify turned off', async () => {
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

it('Get asks for a task id', async () => {
	const { error } = await get('={{ "" }}');
	expect(error?.message).toBe("'Task ID' is required [item 0]");
});
