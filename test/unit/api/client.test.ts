import { sleep, type IExecuteFunctions, type IHttpRequestOptions } from 'n8n-workflow';
import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { ServiceError } from '../../../nodes/MediaGeneration/api/failure';
import type { Credentials } from '../../../nodes/MediaGeneration/api/endpoints';
import { describeLeftOut, REQUEST as KEPT } from '../../../nodes/MediaGeneration/api/task';
import { measureCpu } from '../cpuTime.cts';
import { fake } from '../n8n';

// Turns of look-ups take time, and have a test of their own.
jest.mock('../../../nodes/MediaGeneration/lib/rateLimiter', () => ({
	RateLimiters: class {
		of = () => ({ join: () => async (request: () => Promise<unknown>) => await request() });
	},
}));

/** A body that is a generator is streamed by it. */
type Answer = [statusCode: number, body: unknown, inFull?: 'inFull'] | Error;

async function* stream(...texts: Array<string | Error>) {
	for (const text of texts) {
		if (text instanceof Error) throw text;
		yield Buffer.from(text);
	}
}

const SETTINGS = { timeoutSeconds: 7 };
const REQUEST = { model: 'beta2/image-edit', input: { prompt: 'Night' } };
const RECORD = { state: 'success', new: 1 };
const NAMED = { taskId: 'task' };
const NAMED_RECORD = { ...NAMED, ...RECORD };
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
	const stopped = new AbortController();
	const context = fake<IExecuteFunctions>({
		getExecutionCancelSignal: () => stopped.signal,
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
				const [statusCode, body, inFull] = answer;
				const isStream = typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
				const text = typeof body === 'string' ? body : JSON.stringify(body);
				return { statusCode, body: isStream || inFull ? body : stream(text) };
			},
		},
	});
	return {
		service: new TaskService(context, used),
		requests,
		signals,
		stop: () => stopped.abort(),
	};
}

/** Sends a byte at a time until the request is aborted. */
async function* dribble(getSignal: () => AbortSignal | undefined) {
	for (;;) {
		await sleep(20);
		getSignal()?.throwIfAborted();
		yield Buffer.from(' ');
	}
}

const ok = (data: unknown) => ({ code: 200, data });

type Method = Exclude<keyof TaskService, 'credentials' | 'upload'>;

describe('each request', () => {
	const file = { fileUrl, uploadPath: 'n8n', fileName: 'a.png' };
	const spaced = { ...RECORD, taskId: 'a b' };
	const details = '/api/v1/jobs/recordInfo?taskId=a%20b';
	it.each<[Method, unknown[], unknown, string, object | undefined, timeout?: number]>([
		['createTask', [REQUEST], NAMED, '/api/v1/jobs/createTask', REQUEST, 180_000],
		['getTask', ['a b'], spaced, details, undefined],
		['getCredits', [], 12.5, '/api/v1/chat/credit', undefined],
		['uploadFromUrl', ['a.png', fileUrl], { fileUrl }, '/api/file-url-upload', file],
		['getModelSchema', ['a/b'], {}, '/api/v1/models/a/b/schema', undefined],
		['getDownloadUrl', [fileUrl], fileUrl, '/api/v1/common/download-url', { url: fileUrl }],
	])('of %s follows no redirect', async (name, values, data, path, body, timeout = 7_000) => {
		const { service, requests } = serviceThat([200, ok(data)]);
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
				encoding: 'stream',
				timeout,
				headers: {
					Accept: 'application/json',
					'Content-Type': 'application/json',
					'User-Agent': expect.stringContaining('Mozilla'),
				},
			},
		]);
	});

	it('ends with the execution, save a creation, whose ID would be lost', async () => {
		const { service, signals, stop } = serviceThat([200, ok(NAMED_RECORD)]);
		await service.createTask(REQUEST, SETTINGS);
		await service.getTask('task', SETTINGS);
		expect(signals).toMatchObject([{ aborted: false }, { aborted: false }]);
		stop();
		expect(signals).toMatchObject([{ aborted: false }, { aborted: true }]);
	});
});

describe('what is read', () => {
	it('is a task, or its record as the service sends it', async () => {
		const { service } = serviceThat([200, ok(RECORD)]);
		const task = { taskId: 'task', status: 'completed', state: 'success', resultUrls: [] };
		expect(await service.getTask('task', SETTINGS)).toStrictEqual(task);
		expect(await service.getTaskRecord('task', SETTINGS)).toEqual(NAMED_RECORD);
	});

	const get = async (data: unknown, code = 200, taskId = 'task') => {
		const { service } = serviceThat([200, { code, msg: 'It failed', data }]);
		return await service.getTask(taskId, SETTINGS).catch((error: ServiceError) => error);
	};

	it.each([7, null, ''])(
		'is the task that was asked for, where the ID of the record is %j',
		async (taskId) => {
			const task = await get({ ...RECORD, taskId }, 200, '7');
			expect(task).toMatchObject({ taskId: '7', status: 'completed' });
		},
	);

	it.each([
		['other', 'is of another task'],
		[7, 'is of another task'],
		[{ a: 1 }, 'Its field data.taskId is missing or has another form'],
	])('is not the record of the task %j', async (taskId, message) => {
		const { service } = serviceThat([200, ok({ ...RECORD, taskId })]);
		await expect(service.getTaskRecord('task', SETTINGS)).rejects.toThrow(message);
		const error = await get({ ...RECORD, taskId });
		expect(error).toMatchObject({ kind: typeof taskId === 'object' ? 'unreadable' : 'lost' });
	});

	it('is a failed task where code 501 comes without a record', async () => {
		const why = { failCode: '501', failMessage: 'It failed' };
		const failed = { taskId: 'task', status: 'failed', state: 'fail', resultUrls: [], ...why };
		expect(await get(null, 501)).toStrictEqual(failed);
	});

	it.each([
		[501, 'generating', 'pending'],
		[501, 'success', 'completed'],
		[408, 'fail', 'failed'],
		[422, 'fail', 'failed'],
		[429, 'generating', 'pending'],
	])('is by the record where that comes with code %d in state %s', async (code, state, status) => {
		expect(await get({ taskId: 'task', state }, code)).toMatchObject({ state, status });
	});

	it.each([500, 404])('is by the record behind HTTP %d too', async (status) => {
		for (const code of [status, 200]) {
			const { service } = serviceThat([status, { code, data: NAMED_RECORD }]);
			expect(await service.getTask('task', SETTINGS)).toMatchObject({ status: 'completed' });
			expect(await service.getTaskRecord('task', SETTINGS)).toEqual(NAMED_RECORD);
		}
	});

	it('says why a task failed in the words of the envelope, where its record has none', async () => {
		const fail = { ...NAMED, state: 'fail', failCode: '', failMsg: null };
		const why = { failCode: '531', failMessage: 'It failed' };
		expect(await get(fail, 531)).toMatchObject(why);
		const own = { failCode: '7', failMsg: 'Own' };
		expect(await get({ ...fail, ...own }, 531)).toMatchObject({
			failCode: '7',
			failMessage: 'Own',
		});
		expect(await get(fail)).not.toHaveProperty('failMessage');
	});

	it.each([
		[500, RECORD],
		[500, { ...NAMED_RECORD, taskId: 'other' }],
		[422, { ...NAMED_RECORD, taskId: 'other' }],
	])('is an error after code %d with the data %j', async (code, data) => {
		const error = await get(data, code);
		expect(error).toBeInstanceOf(ServiceError);
		expect(error).toMatchObject({ facts: { code } });
	});

	it('is bounded for a schema', async () => {
		const schema = serviceThat([200, stream('x'.repeat(256 * 1024), 'x')]).service;
		await expect(schema.getModelSchema('a', SETTINGS)).rejects.toThrow('is larger than 0.25 MB');
	});

	const MEGABYTE = 1024 * 1024;
	/** Details whose input has a file as a data URL, and is repeated, in chunks of one megabyte. */
	const buildDetails = (megabytes: number, input: object = {}, more: object = {}) => {
		const image = `data:image/png;base64,${'Ab3/'.repeat((megabytes * MEGABYTE) / 8)}`;
		const all = JSON.stringify({ prompt: 'Night', image, ...input });
		const param = JSON.stringify({ input: all, callBackUrl: 'https://n8n.example/a?b' });
		const text = JSON.stringify(ok({ ...NAMED_RECORD, param, paramJson: param, ...more }));
		return text.match(/[^]{1,1048576}/g) ?? [];
	};

	it.each([3, 15.9])('is a record of %d MB, in which files are left out', async (megabytes) => {
		const chunks = buildDetails(megabytes);
		const { service } = serviceThat([200, stream(...chunks)]);
		const task = await service.getTask('task', SETTINGS);
		expect(task).toMatchObject({ taskId: 'task', status: 'completed' });
		expect(task[KEPT]).toEqual({ prompt: 'Night', callbackUrl: 'https://n8n.example/a?***' });
		const raw = serviceThat([200, stream(...chunks)]).service;
		const record = await raw.getTaskRecord('task', SETTINGS);
		expect(record).toMatchObject(NAMED_RECORD);
		const image = 'data:image/png;base64,…';
		expect(record).toHaveProperty(
			'param',
			expect.stringContaining(JSON.stringify(image).slice(1, -1)),
		);
		expect(JSON.stringify(record).length).toBeLessThan(1_000);
	});

	it.each<[string, (file: string) => unknown]>([
		['a data URL', (file) => `data:image/png;base64,${file}`],
		['one in JSON', (file) => JSON.stringify({ url: `data:video/mp4;base64,${file}` })],
		['bare', (file) => [{ b64_json: file }]],
	])('says that the result was a file in a record of 3 MB: %s', async (_, write) => {
		const read = async (resultJson: unknown) => {
			const chunks = buildDetails(3, {}, { resultJson });
			const { service } = serviceThat([200, stream(...chunks)]);
			return describeLeftOut(await service.getTask('task', SETTINGS));
		};
		const file = 'Ab3/'.repeat(5_000);
		expect(await read(write(file))).toContain('its result as a file within its answer');
		const link = 'https://cdn.example/a.png';
		for (const other of [
			'',
			'… and so on',
			'data: one, two …',
			'{"text":"A fox …"}',
			[link, write(file)],
		])
			expect(await read(other)).toBeUndefined();
	});

	it('is not a record that is larger still, also without its files', async () => {
		const read = async (chunks: string[]) =>
			await serviceThat([200, stream(...chunks)]).service.getTask('task', SETTINGS);
		await expect(read(buildDetails(17))).rejects.toThrow('is larger than 16 MB');
		const parts = Array.from({ length: MEGABYTE }, () => 0);
		await expect(read(buildDetails(1, {}, { parts }))).rejects.toThrow(
			'has more than 2 MB beside the files in it',
		);
	});

	it('is read at once, though it has 60,000 small objects', async () => {
		const words = Array.from({ length: 60_000 }, (_, id) => ({ id, t: 'a' }));
		const read = async (resultJson: unknown) => {
			const { service } = serviceThat([200, ok({ ...NAMED_RECORD, resultJson })]);
			return await measureCpu(async () => {
				const { result } = await service.getTask('task', SETTINGS);
				expect(result).toHaveLength(words.length);
			});
		};
		const times = [await read(words), await read(JSON.stringify(words))];
		// It takes less than a tenth of this where nothing else runs, and took 1.5 s.
		expect(Math.max(...times)).toBeLessThan(1_000);
	});

	it('is large for two tasks at a time, in the order in which they came', async () => {
		const begun: number[] = [];
		const ends: Array<() => void> = [];
		const read = async (place: number) => {
			async function* answer() {
				const [first = '', second = '', third = '', ...others] = buildDetails(5);
				yield* stream(first, second, third);
				begun.push(place);
				await new Promise<void>((resolve) => void (ends[place] = resolve));
				yield* stream(...others);
			}
			await serviceThat([200, answer()]).service.getTask('task', SETTINGS);
		};
		const reads = [0, 1, 2, 3].map(read);
		await sleep(20);
		expect(begun).toEqual([0, 1]);
		// One that is small does not wait.
		expect(await get(NAMED_RECORD)).toMatchObject({ status: 'completed' });
		for (const end of [1, 0, 2, 3]) {
			ends[end]?.();
			await sleep(20);
		}
		expect(begun).toEqual([0, 1, 2, 3]);
		await Promise.all(reads);
	});

	it('is read where n8n gives it in full, as in evaluations', async () => {
		const list = JSON.stringify(ok({ models: [] }));
		const read = async (body: unknown) =>
			await serviceThat([200, body, 'inFull']).service.listModels(SETTINGS);
		for (const body of [list, JSON.parse(list), list.padEnd(2 * 1024 * 1024)])
			expect(await read(body)).toEqual([]);
		await expect(read(null)).rejects.toThrow("isn't JSON from the task service");
		const long = list.padEnd(2 * 1024 * 1024 + 1);
		for (const body of [long, stream(list, long.slice(list.length))])
			await expect(read(body)).rejects.toThrow('is larger than 2 MB');
	});

	it('is given up when an answer takes longer than the timeout', async () => {
		const { service, signals } = serviceThat([200, dribble(() => signals[0])]);
		const read = service.getCredits({ timeoutSeconds: 0.2 });
		await expect(read).rejects.toThrow('gave no answer within 0.2 s');
	});

	it.each<[string, Answer, 'service' | 'other' | undefined, number | undefined, RegExp]>([
		['an envelope', [200, { code: 404 }], 'service', 404, /no task with this ID Check Task ID\.$/],
		[
			'null',
			[200, { code: 200, data: null }],
			'service',
			undefined,
			/^The service has no task with/,
		],
		['a text', [200, { code: 200, data: '' }], 'service', undefined, /field data is missing or/],
		['no state', [200, ok({})], 'service', undefined, /no task record.*data.state is missing/],
		['code 200 behind HTTP 404', [404, { code: 200, msg: 'ok' }], 'other', 404, /\(404: ok\)/],
		[
			'JSON of another form',
			[400, { detail: [{ loc: ['seed'], msg: 'too long' }] }],
			'other',
			400,
			/\(400: {"detail":\[{"loc":\["seed"\],"msg":"too long"}\]}\) Correct what/,
		],
	])('is an error that tells who answered: %s', async (_, answer, answeredBy, code, words) => {
		const { service } = serviceThat(answer);
		const error = await service.getTask('t', SETTINGS).catch((thrown: ServiceError) => thrown);
		expect(error).toBeInstanceOf(ServiceError);
		expect(error).toMatchObject({ facts: { answeredBy, ...(code && { code }) } });
		const { message, description } = error as ServiceError;
		expect(`${message} ${description}`).toMatch(words);
	});

	it.each([{ code: 404, msg: 'no' }, '<html>'])(
		'names the paths and no ID after 404 for a creation: %j',
		async (body) => {
			const { message, description } = (await serviceThat([404, body])
				.service.createTask(REQUEST, SETTINGS)
				.catch((error: ServiceError) => error)) as ServiceError;
			expect(message).toMatch(/^The service has nothing at that address \(404/);
			expect(description).toBe(
				"No task was created. Check 'Base URL' and the endpoint paths in the credential.",
			);
		},
	);

	it.each<[Partial<Credentials>, RegExp]>([
		[{}, /put its address into 'Upload Base URL'/],
		[{ uploadBaseUrl: 'https://up.example.com' }, /'Base URL' and the endpoint paths/],
	])('names, after 404 for an upload with %j, what to fill in', async (changes, description) => {
		const { service } = serviceThat([404, { code: 404 }], changes);
		const upload = service.uploadFromUrl('a.png', fileUrl, SETTINGS);
		await expect(upload).rejects.toMatchObject({
			description: expect.stringMatching(description) as string,
		});
	});

	it('shows no secret of the credential or the callback URL that the service repeats', async () => {
		const callBackUrl = 'https://ann:pass-word@n8n.example/hook?key=relay-key';
		const msg = `the-token the-key the-old-key pass-word in ${callBackUrl}`;
		const { service } = serviceThat([200, { code: 422, msg }]);
		await expect(service.getCredits(SETTINGS)).rejects.toThrow('(422: *** *** *** pass-word in');
		const shown = '(422: *** *** *** *** in https://ann:***@n8n.example/hook***)';
		const refused = service.createTask({ ...REQUEST, callBackUrl }, SETTINGS);
		await expect(refused).rejects.toThrow(shown);
	});
});
