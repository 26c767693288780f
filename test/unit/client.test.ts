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
const NAMED = { taskId: 'task' };
const LONG_ID = '12345678901234567890';
const fileUrl = 'https://a.example/a.png';
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

type Method = Exclude<keyof TaskService, 'credentials' | 'upload'>;

describe('each request', () => {
	const file = { fileUrl, uploadPath: 'n8n', fileName: 'a.png' };
	it.each<[Method, unknown[], unknown, string, object | undefined]>([
		['createTask', [REQUEST], NAMED, '/api/v1/jobs/createTask', REQUEST],
		['getTask', ['a b'], RECORD, '/api/v1/jobs/recordInfo?taskId=a%20b', undefined],
		['getTaskRecord', ['a b'], RECORD, '/api/v1/jobs/recordInfo?taskId=a%20b', undefined],
		['getCredits', [], 12.5, '/api/v1/chat/credit', undefined],
		['uploadFromUrl', ['a.png', fileUrl], { fileUrl }, '/api/file-url-upload', file],
		['listModels', [], [], '/api/v1/models', undefined],
		['getModelSchema', ['a/b'], {}, '/api/v1/models/a/b/schema', undefined],
		['getDownloadUrl', [fileUrl], 'link', '/api/v1/common/download-url', { url: fileUrl }],
	])('of %s follows no redirect', async (name, values, data, path, body) => {
		const { service, requests } = serviceThat([200, { code: 200, data }]);
		const call = service[name] as (...values: unknown[]) => Promise<unknown>;
		await call.apply(service, [...values, SETTINGS]);
		expect(requests).toMatchObject([
			{
				method: body ? 'POST' : 'GET',
				url: credentials.baseUrl + path,
				body,
				disableFollowRedirect: true,
				ignoreHttpStatusErrors: true,
				returnFullResponse: true,
				encoding: 'text',
				timeout: 7_000,
				headers: { Accept: 'application/json', 'User-Agent': expect.stringContaining('Mozilla') },
			},
		]);
	});

	it('has the type of its body, and none without a body', async () => {
		const { service, requests } = serviceThat([200, { code: 200, data: { fileUrl: 'u' } }]);
		await service.uploadFromUrl('a.png', fileUrl, SETTINGS);
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
		['text', [200, { code: 200, data: NAMED }], 'task'],
		['a number', [201, { code: 200, data: { taskId: 7 } }], '7'],
		['a long number', [200, `{"code":200,"data":{"taskId":${LONG_ID}}}`], LONG_ID],
		['one before others', [200, `{"code":200,"data":{"taskId" : ${LONG_ID} , "a":1}}`], LONG_ID],
		['text beside a failure code', [200, { code: 505, data: NAMED }], 'task'],
	])('returns an ID that is %s', async (_, answer, taskId) => {
		expect(await create(answer)).toBe(taskId);
	});

	it.each<[string, Answer, number | undefined, string]>([
		['HTTP 422', [422, { code: 422, msg: 'duration' }], 422, 'accept a field (422: duration)'],
		['HTTP 429', [429, { code: 429, msg: 'slow down' }], 429, 'too many requests (429: slow down)'],
		['HTTP 401 without JSON', [401, 'no'], 401, 'does not accept the access token (401)'],
		['code 402', [200, { code: 402, message: 'poor' }], 402, 'too few credits (402: poor)'],
		['a refused connection', networkError('ECONNREFUSED'), undefined, "can't be reached"],
	])('surely created nothing after %s: only 429 is sent again', async (_, answer, code, words) => {
		const error = await create(answer);
		expect(error).toBeInstanceOf(ServiceError);
		expect(error).not.toBeInstanceOf(UnknownOutcomeError);
		const message = expect.stringContaining(words);
		expect(error).toMatchObject({ code, message, isRateLimited: code === 429 });
	});

	const isLost = 'look at the recent tasks of your account';
	const isNamed = 'the service named it task\\.';
	it.each<[string, Answer, number | undefined, string, string]>([
		['HTTP 500', [500, ''], 500, '(500)', isLost],
		['code 500 behind HTTP 200', [200, { code: 500, msg: 'oops' }], 500, '(500: oops)', isLost],
		['code 200 behind HTTP 500', [500, { code: 200 }], 500, '(500)', isLost],
		['a success without an ID', [299, { code: 200, data: {} }], undefined, 'no task ID', isLost],
		['the first of the redirects', [300, ''], 300, 'is not followed', isLost],
		['the last of the redirects', [399, ''], 399, 'is not followed', isLost],
		['a page', [200, '<html>'], undefined, 'not the expected JSON', isLost],
		['an empty answer', [200, ' '], undefined, 'it is empty', isLost],
		['a connection that broke off', networkError('ECONNRESET'), undefined, 'broke off', isLost],
		['a timeout', networkError('ETIMEDOUT'), undefined, 'within 7 s', isLost],
		['a redirect with an ID', [300, { code: 300, data: NAMED }], 300, 'is not followed', isNamed],
		['HTTP 422 with an ID', [422, { code: 422, data: NAMED }], 422, '(422)', isNamed],
		['HTTP 500 with an ID', [500, { code: 500, data: NAMED }], 500, '(500)', isNamed],
	])('may have created a task after %s', async (_, answer, code, words, next) => {
		const error = await create(answer);
		expect(error).toBeInstanceOf(UnknownOutcomeError);
		const message = expect.stringContaining(words);
		const description = expect.stringMatching(`may have been paid for: ${next}`);
		expect(error).toMatchObject({ code, message, description, isRateLimited: false });
		expect(error).toHaveProperty('outcome.taskId', next === isNamed ? 'task' : undefined);
	});
});

describe('what is read', () => {
	it('is a task, or its record as the service sends it', async () => {
		const { service } = serviceThat([200, { code: 200, data: RECORD }]);
		const task = { taskId: 'task', status: 'completed', state: 'success', resultUrls: [] };
		expect(await service.getTask('task', SETTINGS)).toEqual(task);
		expect(await service.getTaskRecord('task', SETTINGS)).toEqual(RECORD);
	});

	it.each<[string, Answer, number | undefined, RegExp]>([
		['HTTP 404', [404, { code: 404, msg: 'no' }], 404, /\(404: no\)/],
		['HTTP 404 without JSON', [404, ''], 404, /\(404\)/],
		['no state', [200, { code: 200, data: NAMED }], undefined, /incomplete: .* no task record/],
		['a timeout', networkError('ETIMEDOUT'), undefined, /raise 'Timeout'/],
		['a lost connection', networkError('ECONNRESET'), undefined, /Check 'Base URL'/],
	])('is an error after %s', async (_, answer, code, words) => {
		const error = await serviceThat(answer)
			.service.getTask('t', SETTINGS)
			.catch((thrown) => thrown);
		expect(error).toBeInstanceOf(ServiceError);
		expect(error.code).toBe(code);
		expect(`${error.message} ${error.description}`).toMatch(words);
	});

	it('shows no secret of the credential that the service repeats', async () => {
		const refuse = async (msg: string, changes?: Partial<Credentials>) =>
			await serviceThat([401, { code: 401, msg }], changes).service.getCredits(SETTINGS);
		const all = 'the-token the-key the-old-key the-token';
		await expect(refuse(all)).rejects.toThrow('(401: *** *** *** ***)');
		const changes = { webhookSecret: '', previousWebhookSecret: undefined };
		await expect(refuse('undefined', changes)).rejects.toThrow('(401: undefined)');
	});
});
