import { editImage, useService } from '../../engine';

const engine = useService({ taskSeconds: 0.1 });

it.each([true, false])('Get returns a task, with Simplify %p', async (simplify) => {
	await engine.run({ ...editImage, prompt: 'Make it night' });
	const taskId = String(engine.listTasks()[0]?.taskId);
	await engine.service.waitForTask(taskId);
	const parameters = { resource: 'task', operation: 'get', taskId: ` ${taskId} `, simplify };
	const { output } = await engine.run(parameters);
	const { param, ...json } = output[0]?.[0]?.json ?? {};
	const resultUrls = [expect.any(String)];
	expect(json).toMatchObject({
		taskId,
		model: 'beta2/image-edit',
		state: 'success',
		...(simplify
			? { status: 'completed', creditsConsumed: 12.5, result: { resultUrls }, resultUrls }
			: { createTime: expect.any(Number), resultJson: expect.stringContaining('resultUrls') }),
	});
	if (simplify)
		expect(Date.parse(String(json.completedAt))).toBeGreaterThan(
			Date.parse(String(json.createdAt)),
		);
	else expect(JSON.parse(String(param))).toMatchObject({ input: { prompt: 'Make it night' } });
});
