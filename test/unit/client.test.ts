import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import {
	ServiceError,
	TaskService,
	UnknownOutcomeError,
} from '../../nodes/MediaGeneration/api/client';
import type { Credentials } from '../../nodes/MediaGeneration/api/endpoints';
import type { MultipartBody } from '../../nodes/MediaGeneration/api/multipart';

type Answer = [statusCode: number, body: unknown] | Error;

const SETTINGS = { timeoutSeconds: 7 };
const REQUEST = { model: 'beta2/image-edit', input: { prompt: 'Night' } };
const RECORD = { taskId: 'task', state: 'success', new: 1 };
const credentials = {
	baseUrl: 'https://api.example.com',
	accessToken: 'the-token',
	webhookSecret: 'the-key',
	previousWebhookSecret: 'the-old-key',
};

/** A service that gives this answer, and the requests that it received. */
function serviceThat(answer: Answer, changes: Partial<Credentials> = {}) {
	const used = { ...credentials, ...changes };
	const requests: IHttpRequestOptions[] = [];
	const signals: Array<AbortSignal | undefined> = [];
	const stopped = new AbortController().signal;
	const context = {
		getExecutionCancelSignal: () => stopped,
		helpers: {
			async httpRequestWithAuthentication(
				this: IExecuteFunctions,
				type: string,
				options: IHttpRequestOptions,
				{ credentialsDecrypted }: { credentialsDecrypted: object },
			) {
				expect([type, credentialsDecrypted]).toMatchObject(['mediaGenerationApi', { data: used }]);
				requests.push(options);
				signals.push(this.getExecutionCancelSignal());
				if (answer instanceof Error) throw answer;
				const [statusCode, body] = answer;
				return { statusCode, body: typeof body === 'string' ? body : JSON.stringify(body) };
			},
		},
	} as unknown as IExecuteFunctions;
	return { service: new TaskService(context, used), requests, signals, stopped };
}

const create = async (answer: Answer) =>
	await serviceThat(answer)
		.service.createTask(REQUEST, SETTINGS)
		.catch((error: ServiceError) => error);

const networkError = (code: string) => Object.assign(new Error(code), { code });

describe('each request', () => {
	it.each<[string, (service: TaskService) => Promise<unknown>, unknown, object]>([
		[
			'createTask',
			async (service) => await service.createTask(REQUEST, SETTINGS),
			{ taskId: 'task' },
			{ method: 'POST', url: 'https://api.example.com/api/v1/jobs/createTask', body: REQUEST },
		],
		[
			'getTask',
			async (service) => await service.getTask('a b', SETTINGS),
			RECORD,
			{
				method: 'GET',
				url: 'https://api.example.com/api/v1/jobs/recordInfo?taskId=a%20b',
				body: undefined,
			},
		],
		[
			'getCredits',
			async (service) => await service.getCredits(SETTINGS),
			12.5,
			{ method: 'GET', url: 'https://api.example.com/api/v1/chat/credit' },
		],
		[
			'uploadFromUrl',
			async (service) => await service.uploadFromUrl('a.png', 'https://a.example/a.png', SETTINGS),
			{ fileUrl: 'https://a.example/a.png' },
			{
				method: 'POST',
				url: 'https://api.example.com/api/file-url-upload',
				body: { fileUrl: 'https://a.example/a.png', uploadPath: 'n8n', fileName: 'a.png' },
			},
		],
	])(
		'%s follows no redirect, so that the token stays with the service',
		async (_, call, data, options) => {
			const { service, requests } = serviceThat([200, { code: 200, data }]);
			await call(service);
			expect(requests).toMatchObject([
				{
					...options,
					disableFollowRedirect: true,
					ignoreHttpStatusErrors: true,
					returnFullResponse: true,
					encoding: 'text',
					timeout: 7_000,
					headers: { Accept: 'application/json', 'User-Agent': expect.stringContaining('Mozilla') },
				},
			]);
		},
	);

	it('has the type of its body, and none without a body', async () => {
		const { service, requests } = serviceThat([200, { code: 200, data: { fileUrl: 'u' } }]);
		await service.uploadFromUrl('a.png', 'https://a.example/a.png', SETTINGS);
		await service.upload('a.png', { size: 0, mimeType: 'image/png', chunks: [] }, SETTINGS);
		await service.getCredits(SETTINGS).catch(() => {});
		expect(requests.map(({ headers }) => headers?.['Content-Type'])).toEqual([
			'application/json',
			expect.stringMatching(/^multipart\/form-data; boundary=/),
			undefined,
		]);
		const form = requests[1]?.body as unknown as MultipartBody;
		const chunks = form.stream() as unknown as AsyncGenerator<Buffer>;
		const { value: head } = (await chunks.next()) as { value: Buffer };
		expect(head.toString()).toMatch(
			/name="uploadPath"\r\n\r\nn8n\r\n[^]*name="fileName"\r\n\r\na\.png/,
		);
	});

	it('ends with the execution, save a creation, whose ID would be lost', async () => {
		const { service, signals, stopped } = serviceThat([200, { code: 200, data: RECORD }]);
		await service.createTask(REQUEST, SETTINGS);
		await service.getTask('task', SETTINGS);
		expect(signals).toEqual([undefined, stopped]);
	});
});

describe('createTask', () => {
	it.each<[string, Answer, string]>([
		['text', [200, { code: 200, data: { taskId: 'task' } }], 'task'],
		['a number', [201, { code: 200, data: { taskId: 7 } }], '7'],
		[
			'a long number',
			[200, '{"code":200,"data":{"taskId":12345678901234567890}}'],
			'12345678901234567890',
		],
		[
			'a long number before others',
			[200, '{"code":200,"data":{"taskId" : 12345678901234567890 , "a":1}}'],
			'12345678901234567890',
		],
		['text beside a failure code', [200, { code: 505, data: { taskId: 'task' } }], 'task'],
	])('returns an ID that is %s', async (_, answer, taskId) => {
		expect(await create(answer)).toBe(taskId);
	});

	it.each<[string, Answer, number | undefined, string]>([
		[
			'HTTP 422',
			[422, { code: 422, msg: 'duration' }],
			422,
			'did not accept a field (422: duration)',
		],
		['HTTP 400', [400, { code: 400, msg: 'bad' }], 400, 'could not read the request (400: bad)'],
		['HTTP 401 without JSON', [401, 'no'], 401, 'does not accept the access token (401)'],
		[
			'code 402 behind HTTP 200',
			[200, { code: 402, message: 'poor' }],
			402,
			'too few credits (402: poor)',
		],
		['a refused connection', networkError('ECONNREFUSED'), undefined, "can't be reached"],
	])('surely created nothing after %s', async (_, answer, code, message) => {
		const error = await create(answer);
		expect(error).toBeInstanceOf(ServiceError);
		expect(error).not.toBeInstanceOf(UnknownOutcomeError);
		expect(error).toMatchObject({
			code,
			message: expect.stringContaining(message),
			isRateLimited: false,
		});
	});

	it('may be sent again after a refusal for its rate only', async () => {
		expect(await create([429, { code: 429, msg: 'slow down' }])).toMatchObject({
			code: 429,
			isRateLimited: true,
		});
	});

	it.each<[string, Answer, object]>([
		['HTTP 500', [500, ''], { code: 500 }],
		['code 500 behind HTTP 200', [200, { code: 500, msg: 'oops' }], { code: 500 }],
		['code 200 behind HTTP 500', [500, { code: 200 }], { code: 500 }],
		['HTTP 299 without an ID', [299, { code: 200, data: {} }], { code: undefined }],
		['a redirect', [302, ''], { code: 302 }],
		[
			'the first of the redirects',
			[300, ''],
			{ code: 300, message: expect.stringContaining('is not followed') },
		],
		[
			'a redirect that names a task',
			[300, { code: 200, data: { taskId: 'task' } }],
			{ code: 300, outcome: { taskId: 'task' } },
		],
		[
			'the last of the redirects',
			[399, ''],
			{ code: 399, message: expect.stringContaining('is not followed') },
		],
		['a success without an ID', [200, { code: 200, data: {} }], { code: undefined }],
		['a page', [200, '<html>'], { message: expect.stringContaining('not the expected JSON') }],
		['an empty answer', [200, ' '], { message: expect.stringContaining('it is empty') }],
		[
			'a refusal that names a task',
			[422, { code: 422, data: { taskId: 'task' } }],
			{ outcome: { taskId: 'task' } },
		],
		[
			'a fault that names a task',
			[500, { code: 500, data: { taskId: 'task' } }],
			{ outcome: { taskId: 'task' } },
		],
		[
			'a connection that broke off',
			networkError('ECONNRESET'),
			{ message: expect.stringContaining('broke off') },
		],
		['a timeout', networkError('ETIMEDOUT'), { message: expect.stringContaining('within 7 s') }],
	])('may have created a task after %s', async (_, answer, expected) => {
		const error = await create(answer);
		expect(error).toBeInstanceOf(UnknownOutcomeError);
		expect(error).toMatchObject({
			isRateLimited: false,
			description: expect.stringContaining('may have been paid for'),
			...expected,
		});
	});

	it('says where to look for a task that may exist', async () => {
		const named = await create([500, { code: 500, data: { taskId: 'task-7' } }]);
		expect(named).toMatchObject({ description: expect.stringContaining('named it task-7') });
		expect(await create([500, ''])).toMatchObject({
			description: expect.stringContaining('recent tasks of your account'),
		});
	});
});

describe('what is read', () => {
	it('is a task, or its record as the service sends it', async () => {
		const { service } = serviceThat([200, { code: 200, data: RECORD }]);
		expect(await service.getTask('task', SETTINGS)).toEqual({
			taskId: 'task',
			status: 'completed',
			state: 'success',
			resultUrls: [],
		});
		expect(await service.getTaskRecord('task', SETTINGS)).toEqual(RECORD);
	});

	it.each<[string, Answer, object]>([
		[
			'HTTP 404',
			[404, { code: 404, msg: 'no' }],
			{ code: 404, message: expect.stringContaining('(404: no)') },
		],
		['HTTP 404 without JSON', [404, ''], { code: 404, message: expect.stringContaining('(404)') }],
		[
			'a record without a state',
			[200, { code: 200, data: { taskId: 't' } }],
			{ message: expect.stringContaining('incomplete: the service gave no task record') },
		],
		[
			'a timeout',
			networkError('ETIMEDOUT'),
			{ description: expect.stringContaining("raise 'Timeout'") },
		],
		[
			'a lost connection',
			networkError('ECONNRESET'),
			{ description: expect.stringContaining("Check 'Base URL'") },
		],
	])('is an error after %s', async (_, answer, expected) => {
		await expect(serviceThat(answer).service.getTask('t', SETTINGS)).rejects.toMatchObject(
			expected,
		);
	});

	it('shows no secret of the credential that the service repeats', async () => {
		const msg = 'the-token the-key the-old-key the-token';
		await expect(
			serviceThat([401, { code: 401, msg }]).service.getCredits(SETTINGS),
		).rejects.toThrow('(401: *** *** *** ***)');
		const changes = { webhookSecret: '', previousWebhookSecret: undefined };
		await expect(
			serviceThat([401, { code: 401, msg: 'undefined' }], changes).service.getCredits(SETTINGS),
		).rejects.toThrow('(401: undefined)');
	});
});
