import type { INodeParameters } from 'n8n-workflow';
import { startService, type Service } from '../../dev/service/index.cts';
import { run } from './engine';

let service: Service;
let credentials: { baseUrl: string; accessToken: string; webhookSecret: string };

beforeAll(async () => {
	service = await startService({ token: 'a-token' });
	credentials = { baseUrl: service.url, accessToken: 'a-token', webhookSecret: 'a-key' };
});

afterAll(async () => await service.close());

beforeEach(() => {
	service.tasks.clear();
	service.requests.length = 0;
});

const image = 'https://media.example/subject.png';

const edit = (more: INodeParameters = {}): INodeParameters => ({
	resource: 'task',
	operation: 'create',
	model: 'beta2/image-edit',
	image,
	...more,
});

const filled: Array<[string, INodeParameters]> = [
	[
		'alpha-3.0/motion-control',
		{ image, video: 'https://media.example/motion.mp4', prompt: 'Dance' },
	],
	['beta2/image-edit', { image, prompt: 'Night', seed: 7 }],
	['delta-1-1/reference-to-video', { referenceImages: [image], prompt: 'A knight' }],
	['delta/reference-to-video', { referenceImages: [image, image], prompt: 'A knight', seed: 7 }],
	[
		'gamma-v6/reference-to-video',
		{ imageReferences: { reference: [{ image, refName: 'hero' }] }, generateAudio: true },
	],
	['custom', { customModel: 'custom/any', customInput: '{"prompt": "Night"}' }],
];

describe('each model', () => {
	it.each(filled)('%s is accepted by the service, with its defaults', async (model, fields) => {
		const { output, error } = await run({ parameters: edit({ model, ...fields }), credentials });
		expect(error).toBeUndefined();
		const [task] = [...service.tasks.values()];
		expect(output).toEqual([
			[
				{
					json: { taskId: task?.taskId, model: task?.model, status: 'pending', resultUrls: [] },
					pairedItem: { item: 0 },
				},
			],
		]);
		expect(task?.callBackUrl).toBeUndefined();
	});
});

describe('the request', () => {
	it('has the defaults of fields that the user did not touch', async () => {
		await run({ parameters: edit(), credentials });
		expect([...service.tasks.values()][0]?.input).toEqual({
			image_url: image,
			prompt: '',
			image_size: '1:1',
			output_format: 'png',
		});
	});

	it('has the callback URL, and additional input over the fields', async () => {
		const callbackUrl = 'https://n8n.example/webhook/abc/webhook';
		const options = { additionalInput: '{"seed": 9, "prompt": "Dawn"}' };
		await run({ parameters: edit({ prompt: 'Night', callbackUrl, options }), credentials });
		const [task] = [...service.tasks.values()];
		expect(task?.callBackUrl).toBe(callbackUrl);
		expect(task?.input).toMatchObject({ seed: 9, prompt: 'Dawn' });
	});
});

describe('several items', () => {
	const items = [{ picture: image }, { picture: 'none' }, { picture: image }];
	const parameters = edit({ image: '={{ $json.picture }}' });

	it('are each run, in order, and paired', async () => {
		const { output } = await run({
			parameters,
			items: [{ picture: image }, { picture: image }],
			credentials,
		});
		expect(output[0]?.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
		expect(output[0]?.map(({ json }) => json.taskId)).toEqual([...service.tasks.keys()]);
	});

	it("create nothing when one of them can't be sent", async () => {
		const { error } = await run({ parameters, items, credentials });
		expect(error).toMatchObject({
			message:
				'\'Image\' is "none", which is neither a URL that begins with http:// or https:// nor a binary field of the item [item 1]',
			context: { itemIndex: 1 },
		});
		expect(service.tasks.size).toBe(0);
	});

	it("go on without the one that can't be sent, when On Error says so", async () => {
		const { output, error } = await run({
			parameters,
			items,
			credentials,
			onError: 'continueRegularOutput',
		});
		expect(error).toBeUndefined();
		expect(output[0]).toMatchObject([
			{ json: { status: 'pending' }, pairedItem: { item: 0 } },
			{ json: { error: expect.stringContaining('\'Image\' is "none"') }, pairedItem: { item: 1 } },
			{ json: { status: 'pending' }, pairedItem: { item: 2 } },
		]);
		expect(service.tasks.size).toBe(2);
	});

	it('part at the error output, when On Error says so', async () => {
		const { output } = await run({
			parameters,
			items,
			credentials,
			onError: 'continueErrorOutput',
		});
		expect(output[0]).toHaveLength(2);
		expect(output[1]).toMatchObject([
			{ json: { error: expect.stringContaining('\'Image\' is "none"') }, pairedItem: { item: 1 } },
		]);
	});

	it('name the tasks that were created before one stopped the run', async () => {
		const prompt = '={{ $itemIndex === 2 ? "#status=500" : "" }}';
		const { error } = await run({ parameters: edit({ prompt }), items: [{}, {}, {}], credentials });
		const [first, second] = [...service.tasks.keys()];
		expect(error?.message).toContain('[item 2]');
		expect(error?.description).toContain(
			`These tasks were created before and continue. Look at them with Get: ${first}, ${second}`,
		);
	});
});

describe('a refusal for the rate', () => {
	it('is waited out, as it surely created nothing', async () => {
		service.faultNext({ path: '/api/v1/jobs/createTask', status: 429, times: 1 });
		const { output, error } = await run({ parameters: edit(), credentials });
		expect(error).toBeUndefined();
		expect(output[0]).toMatchObject([{ json: { taskId: [...service.tasks.keys()][0] } }]);
		expect(service.requests.map(({ code }) => code)).toEqual([429, 200]);
	});

	it('for want of credits is not: it would be refused again', async () => {
		service.faultNext({ status: 429, msg: 'Insufficient credits', times: 1 });
		const { error } = await run({ parameters: edit(), credentials });
		expect(error?.message).toContain('The account has too few credits (429');
		expect(service.requests).toHaveLength(1);
	});
});

describe('what the service answers', () => {
	const unknown = 'The task may exist and may have been paid for';

	it.each<[string, INodeParameters, string, string]>([
		['402', { prompt: '#status=402' }, 'The account has too few credits (402', 'Top up'],
		[
			'422',
			{ imageSize: '', options: { additionalInput: '{"colour": "red"}' } },
			'input.colour',
			'Correct it',
		],
		['455', { prompt: '#status=455' }, 'The service is under maintenance (455', 'later'],
		['500', { prompt: '#status=500' }, 'The service had an internal fault (500', unknown],
		['505', { prompt: '#status=505' }, 'The service has this feature switched off (505', unknown],
		['no JSON', { prompt: '#garbage' }, 'it is not the expected JSON', unknown],
		['no task id', { prompt: '#noTaskId' }, 'the service gave no task ID', unknown],
		[
			'HTML and 403',
			{ prompt: '#html403' },
			'turned the request away before reading it (403',
			'allows requests',
		],
		[
			'nothing in time',
			{ prompt: '#hang', options: { timeoutSeconds: 1 } },
			'gave no answer within 1 s',
			unknown,
		],
		[
			'an unknown model',
			{ model: 'custom', customModel: 'no/model', customInput: '{"a": 1}' },
			'did not accept a field (422',
			'names the field',
		],
	])('%s is told, with what to do', async (_, more, message, next) => {
		const { error } = await run({ parameters: edit(more), credentials });
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(next);
		expect(service.requests).toHaveLength(1);
	});

	it('401 in an HTTP 200 is told as a wrong token, which is not repeated', async () => {
		const { error } = await run({
			parameters: edit(),
			credentials: { ...credentials, accessToken: 'a-wrong-token' },
		});
		expect(error).toMatchObject({
			message: expect.stringContaining('The service does not accept the access token (401'),
			description: expect.stringContaining("paste a valid 'Access Token'"),
			httpCode: '401',
		});
	});

	it('never shows a secret that the service repeats', async () => {
		service.faultNext({ code: 422, msg: 'bad a-token and a-key' });
		const { error } = await run({ parameters: edit(), credentials });
		expect(error?.message).toContain('bad *** and ***');
		expect(JSON.stringify(error)).not.toMatch(/a-token|a-key/);
	});

	it('a service that is not there is told so, with its address', async () => {
		const { error } = await run({
			parameters: edit(),
			credentials: { ...credentials, baseUrl: 'http://127.0.0.1:9' },
		});
		expect(error?.message).toContain(
			"The service at http://127.0.0.1:9 can't be reached: nothing answers at that address",
		);
		expect(error?.description).toContain("Check 'Base URL' in the credential");
		expect(error?.description).not.toContain(unknown);
	});

	it('an address that the service does not have is told so', async () => {
		const { error } = await run({
			parameters: edit(),
			credentials: { ...credentials, baseUrl: `${service.url}/nowhere` },
		});
		expect(error?.message).toContain('The service has nothing at that address');
	});
});

it('stops on a credential without a base URL', async () => {
	const { error } = await run({ parameters: edit(), credentials: { ...credentials, baseUrl: '' } });
	expect(error?.message).toContain("'Base URL' in the credential must begin with https://");
});

describe('a callback URL at which nothing may arrive', () => {
	it('is hinted at when it is a test URL', async () => {
		const callbackUrl = 'https://n8n.example/webhook-test/abc/webhook';
		const { hints, output } = await run({ parameters: edit({ callbackUrl }), credentials });
		expect(hints).toEqual([expect.stringContaining("'Callback URL' is a Test URL")]);
		expect(output[0]).toHaveLength(1);
	});

	it('is not hinted at when it is inside the network that the service is in as well', async () => {
		const callbackUrl = 'http://localhost:5678/webhook/abc/webhook';
		expect((await run({ parameters: edit({ callbackUrl }), credentials })).hints).toEqual([]);
	});
});

it('stops on a callback URL that is none', async () => {
	const { error } = await run({ parameters: edit({ callbackUrl: 'my-webhook' }), credentials });
	expect(error?.message).toContain("'Callback URL' must be a URL");
	expect(service.tasks.size).toBe(0);
});
