import { editImage, useService } from '../engine';

const engine = useService();

it('has the callback URL, and additional input over the fields and their defaults', async () => {
	const callbackUrl = 'https://n8n.example/webhook/abc/webhook';
	const options = { extraFields: '{"seed": 9, "prompt": "Dawn"}' };
	const { output } = await engine.run({ ...editImage, callbackUrl, options });
	const [task] = engine.listTasks();
	expect(task?.callBackUrl).toBe(callbackUrl);
	expect(task?.input).toEqual({
		image_url: editImage.image,
		image_size: '1:1',
		output_format: 'png',
		seed: 9,
		prompt: 'Dawn',
	});
	const json = { taskId: task?.taskId, model: task?.model, status: 'pending', resultUrls: [] };
	expect(output).toStrictEqual([{ json, pairedItem: { item: 0 } }]);
});

it('a refusal for the rate is waited out, as it certainly created nothing', async () => {
	engine.service.faultNext({ path: '/api/v1/jobs/createTask', status: 429 });
	const { output } = await engine.run(editImage);
	expect(output).toMatchObject([{ json: { taskId: engine.listTasks()[0]?.taskId } }]);
	expect(engine.service.requests).toHaveLength(2);
});

it('a file is not uploaded for an item that is not sent', async () => {
	engine.service.faultNext({ path: '/api/v1/jobs/createTask', status: 402 });
	const binary = { photo: { data: 'iVBORw0KGgo=', mimeType: 'image/png' } };
	const { output } = await engine.run(
		{ ...editImage, image: 'photo', options: { concurrency: 1 } },
		{ items: [{}, {}, {}], binary, node: { onError: 'continueRegularOutput' } },
	);
	expect(output).toHaveLength(3);
	expect(engine.service.uploads.size).toBe(1);
});
