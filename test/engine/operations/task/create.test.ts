import type { INode, INodeParameters } from 'n8n-workflow';
import { useService } from '../../engine';

const engine = useService();

const image = 'https://media.example/subject.png';

const create = async (
	more: INodeParameters = {},
	options?: Parameters<(typeof engine)['run']>[1],
) =>
	await engine.run(
		{ resource: 'task', operation: 'create', model: 'beta2/image-edit', image, ...more },
		options,
	);

it('has the callback URL, and additional input over the fields and their defaults', async () => {
	const callbackUrl = 'https://n8n.example/webhook/abc/webhook';
	const options = { additionalInput: '{"seed": 9, "prompt": "Dawn"}' };
	const { output } = await create({ prompt: 'Night', callbackUrl, options });
	const [task] = engine.listTasks();
	expect(task?.callBackUrl).toBe(callbackUrl);
	const defaults = { image_size: '1:1', output_format: 'png' };
	expect(task?.input).toEqual({ image_url: image, ...defaults, seed: 9, prompt: 'Dawn' });
	const json = { taskId: task?.taskId, model: task?.model, status: 'pending', resultUrls: [] };
	expect(output).toStrictEqual([[{ json, pairedItem: { item: 0 } }]]);
});

describe('several items', () => {
	const run = async (pictures: string[], onError?: INode['onError']) =>
		await create(
			{ image: '={{ $json.picture }}' },
			{ items: pictures.map((picture) => ({ picture })), node: { onError } },
		);
	const pictures = [image, 'none', image];
	const pending = (item: number) => ({ json: { status: 'pending' }, pairedItem: { item } });
	const failed = {
		json: { error: expect.stringContaining('\'Image\' is "none"') as string },
		pairedItem: { item: 1 },
	};

	it("create nothing when one of them can't be sent", async () => {
		const { error } = await run(pictures);
		expect(error).toMatchObject({
			message:
				'\'Image\' is "none", which is neither a URL that begins with http:// or https:// nor a binary field of the item [item 1]',
			context: { itemIndex: 1 },
		});
		expect(engine.service.tasks.size).toBe(0);
	});

	it("go on without the one that can't be sent, when On Error says so", async () => {
		const { output, error } = await run(pictures, 'continueRegularOutput');
		expect(error).toBeUndefined();
		expect(output[0]).toMatchObject([pending(0), failed, pending(2)]);
		expect(engine.service.tasks.size).toBe(2);
	});
});

it('a refusal for the rate is waited out, as it certainly created nothing', async () => {
	engine.service.faultNext({ path: '/api/v1/jobs/createTask', status: 429 });
	const { output, error } = await create();
	expect(error).toBeUndefined();
	expect(output[0]).toMatchObject([{ json: { taskId: engine.listTasks()[0]?.taskId } }]);
	expect(engine.service.requests.map(({ status }) => status)).toEqual([429, 200]);
});
