import type { ICredentialDataDecryptedObject, INode, INodeParameters } from 'n8n-workflow';
import { useService } from './engine';

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

	it('are each run, in order, and paired', async () => {
		const { output } = await run([image, image]);
		expect(output[0]).toMatchObject(
			engine.listTasks().map(({ taskId }, item) => ({ json: { taskId }, pairedItem: { item } })),
		);
		expect(output[0]).toHaveLength(2);
	});

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

	it('part at the error output, when On Error says so', async () => {
		const { output } = await run(pictures, 'continueErrorOutput');
		expect(output).toMatchObject([[pending(0), pending(2)], [failed]]);
	});

	it('name the tasks that were created before one stopped the run', async () => {
		const prompt = '={{ $itemIndex === 2 ? "#status=500" : "" }}';
		const { error } = await create({ prompt }, { items: [{}, {}, {}] });
		const [first, second] = engine.service.tasks.keys();
		expect(error?.message).toContain('[item 2]');
		expect(error?.description).toContain(
			`These tasks exist. Look at them with Get: ${first}, ${second}`,
		);
	});
});

describe('a refusal for the rate', () => {
	it('is waited out, as it certainly created nothing', async () => {
		engine.service.faultNext({ path: '/api/v1/jobs/createTask', status: 429, times: 1 });
		const { output, error } = await create();
		expect(error).toBeUndefined();
		expect(output[0]).toMatchObject([{ json: { taskId: engine.listTasks()[0]?.taskId } }]);
		expect(engine.service.requests.map(({ code }) => code)).toEqual([429, 200]);
	});

	it('for want of credits is not: it would be refused again', async () => {
		engine.service.faultNext({ status: 429, msg: 'Insufficient credits', times: 1 });
		const { error } = await create();
		const message = expect.stringContaining('The account has too few credits (429') as string;
		expect(error).toMatchObject({ httpCode: '429', message });
		expect(engine.service.requests).toHaveLength(1);
	});
});

describe('what the service answers', () => {
	const unknown = 'The task may exist and may have been paid for';
	const slow = { prompt: '#hang', options: { timeoutSeconds: 1 } };
	const unknownModel = { model: 'custom', customModel: 'no/model', customInput: '{"a": 1}' };

	it.each<[string, INodeParameters, string, string]>([
		['422', { options: { additionalInput: '{"colour": 1}' } }, 'input.colour', 'Correct it'],
		['500', { prompt: '#status=500' }, 'The service had an internal fault (500', unknown],
		['HTML and 403', { prompt: '#html403' }, 'away before reading it (403', 'allows requests'],
		['nothing in time', slow, 'gave no answer within 1 s', unknown],
		['an unknown model', unknownModel, 'did not accept a field (422', 'names the field'],
	])('%s is told, with what to do', async (_, more, message, next) => {
		const { error } = await create(more);
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(next);
		const creations = engine.service.requests.filter(({ method }) => method === 'POST');
		expect(creations).toHaveLength(1);
	});

	it('never shows a secret that the service repeats', async () => {
		engine.service.faultNext({ code: 422, msg: 'bad a-token and a-key' });
		const { error } = await create();
		expect(error?.message).toContain('bad *** and ***');
		expect(JSON.stringify(error)).not.toMatch(/a-token|a-key/);
	});

	const wrongToken = { accessToken: 'a-wrong-token' };
	const nowhere = { customEndpoints: true, createTaskPath: '/nowhere' };
	it.each<[string, ICredentialDataDecryptedObject, string, string]>([
		['a token refused in the body', wrongToken, 'not accept the access token (401', 'valid'],
		['a path that it does not have', nowhere, 'The service has nothing at that address', 'paths'],
	])('%s is told, with what to correct', async (_, credentials, message, next) => {
		const { error } = await create({}, { credentials });
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(next);
		expect(error?.description).not.toContain(unknown);
	});
});

describe('a callback URL', () => {
	const isTestUrl = expect.stringContaining("'Callback URL' is a Test URL") as string;
	it.each<[string, string, string[]]>([
		['is hinted at as a Test URL', 'https://n8n.example/webhook-test/abc/webhook', [isTestUrl]],
		['may be in the network of the service', 'http://localhost:5678/webhook/abc/webhook', []],
	])('%s', async (_, callbackUrl, expected) => {
		const { hints, output } = await create({ callbackUrl });
		expect(hints).toEqual(expected);
		expect(output[0]).toHaveLength(1);
	});

	it('stops the run when it is none', async () => {
		const { error } = await create({ callbackUrl: 'my-webhook' });
		expect(error?.message).toContain("'Callback URL' must be a URL");
		expect(engine.service.tasks.size).toBe(0);
	});
});
