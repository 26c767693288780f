import { sleep } from 'n8n-workflow';
import { ServiceError } from '../../../nodes/MediaGeneration/api/failure';
import { REQUEST as ORIGINAL } from '../../../nodes/MediaGeneration/api/task';
import { measureCpu } from '../cpuTime.cts';
import { endpoints } from './endpointRows';
import { credentials, ok, openService, REQUEST, SETTINGS, stream, type Answer } from './service';

const RECORD = { state: 'success', new: 1 };
const NAMED = { taskId: 'task' };
const NAMED_RECORD = { ...NAMED, ...RECORD };
const fileUrl = 'https://a.example/a.png';

/** Sends a byte at a time until the request is aborted. */
async function* dribble(getSignal: () => AbortSignal | undefined) {
	for (;;) {
		await sleep(20);
		getSignal()?.throwIfAborted();
		yield Buffer.from(' ');
	}
}

describe('each request', () => {
	it.each(Object.entries(endpoints))(
		'to %s follows no redirect',
		async (name, { ask, path, body, data }) => {
			const { service, requests } = openService([200, ok(data)], { accessToken: name });
			await ask(service);
			expect(requests).toMatchObject([
				{
					method: body ? 'POST' : 'GET',
					url: credentials.baseUrl + path,
					body,
					disableFollowRedirect: true,
					ignoreHttpStatusErrors: true,
					returnFullResponse: true,
					encoding: 'stream',
					timeout: name === 'createTaskPath' ? 180_000 : 7_000,
					headers: {
						Accept: 'application/json',
						'Content-Type': expect.stringMatching(/^(application.json|multipart.form-data; .*)$/),
						'User-Agent': expect.stringContaining('Mozilla'),
					},
				},
			]);
		},
	);

	it('ends with the execution, save a creation, whose ID would be lost', async () => {
		const { service, signals, stop } = openService([200, ok(NAMED_RECORD)]);
		await service.createTask(REQUEST, SETTINGS);
		await service.getTask('task', SETTINGS);
		expect(signals).toMatchObject([{ aborted: false }, { aborted: false }]);
		stop.abort();
		expect(signals).toMatchObject([{ aborted: false }, { aborted: true }]);
	});
});

describe('an answer', () => {
	it('is read as a task, or as its record unchanged', async () => {
		const { service } = openService([200, ok(RECORD)]);
		const task = { taskId: 'task', status: 'completed', state: 'success', resultUrls: [] };
		expect(await service.getTask('task', SETTINGS)).toStrictEqual(task);
		expect(await service.getTaskRecord('task', SETTINGS)).toEqual(NAMED_RECORD);
	});

	const get = async (data: unknown, code = 200, taskId = 'task') => {
		const { service } = openService([200, { code, msg: 'It failed', data }]);
		return await service.getTask(taskId, SETTINGS).catch((error: ServiceError) => error);
	};

	it.each([7, null])('is of the task where the ID in its record is %j', async (taskId) => {
		const task = await get({ ...RECORD, taskId }, 200, '7');
		expect(task).toMatchObject({ taskId: '7', status: 'completed' });
	});

	it.each([
		['other', 'lost', 'is of another task'],
		[{ a: 1 }, 'unreadable', 'Its field data.taskId is missing or has another form'],
	])('is an error where the ID in its record is %j', async (taskId, kind, words) => {
		const message = expect.stringContaining(words) as string;
		expect(await get({ ...RECORD, taskId })).toMatchObject({ kind, message });
	});

	it('is read as a failed task where code 501 comes without a record', async () => {
		const why = { failCode: '501', failMessage: 'It failed' };
		const failed = { taskId: 'task', status: 'failed', state: 'fail', resultUrls: [], ...why };
		expect(await get(null, 501)).toStrictEqual(failed);
	});

	it.each([
		[501, 'success', 'completed'],
		[422, 'fail', 'failed'],
		[429, 'generating', 'pending'],
	])(
		'is judged by its record where that comes with code %d in state %s',
		async (code, state, status) => {
			expect(await get({ taskId: 'task', state }, code)).toMatchObject({ state, status });
		},
	);

	it.each([500, 404])('is judged by its record behind HTTP %d too', async (httpStatus) => {
		for (const code of [httpStatus, 200]) {
			const { service } = openService([httpStatus, { code, data: NAMED_RECORD }]);
			expect(await service.getTask('task', SETTINGS)).toMatchObject({ status: 'completed' });
		}
	});

	it('says why a task failed in the words of the envelope, where its record has none', async () => {
		const fail = { ...NAMED, state: 'fail', failCode: '', failMsg: null };
		const why = { failCode: '531', failMessage: 'It failed' };
		expect(await get(fail, 531)).toMatchObject(why);
		const own = { failCode: '7', failMsg: 'Own' };
		expect(await get({ ...fail, ...own }, 531)).toMatchObject({ failMessage: 'Own' });
		expect(await get(fail)).not.toHaveProperty('failMessage');
	});

	it.each([
		[500, RECORD],
		[422, { ...NAMED_RECORD, taskId: 'other' }],
	])('is an error with code %d and the data %j', async (code, data) => {
		const error = await get(data, code);
		expect(error).toBeInstanceOf(ServiceError);
		expect(error).toMatchObject({ facts: { code } });
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

	it.each([3, 15.9])(
		'of %d MB is read, and the files in its record are left out',
		async (megabytes) => {
			const open = () => openService([200, stream(...buildDetails(megabytes))]).service;
			const task = await open().getTask('task', SETTINGS);
			expect(task).toMatchObject({ taskId: 'task', status: 'completed' });
			expect(task[ORIGINAL]).toEqual({ prompt: 'Night', callbackUrl: 'https://n8n.example/a?***' });
			const record = await open().getTaskRecord('task', SETTINGS);
			expect(record).toMatchObject({ ...NAMED_RECORD, param: expect.stringMatching(/base64,…/) });
			expect(JSON.stringify(record).length).toBeLessThan(1_000);
		},
	);

	it.each<[string, (file: string) => unknown]>([
		['a data URL', (file) => `data:image/png;base64,${file}`],
		['one in JSON', (file) => JSON.stringify({ url: `data:video/mp4;base64,${file}` })],
		['bare', (file) => [{ b64_json: file }]],
	])('says that the result was a file in a record of 3 MB: %s', async (_, write) => {
		const read = async (resultJson: unknown) => {
			const chunks = buildDetails(3, {}, { resultJson });
			const { service } = openService([200, stream(...chunks)]);
			return (await service.getTask('task', SETTINGS)).downloadError;
		};
		const file = 'Ab3/'.repeat(5_000);
		expect(await read(write(file))).toContain('its result as a file within its answer');
		for (const other of ['… and so on', '{"text":"A fox …"}', [fileUrl, write(file)]])
			expect(await read(other)).toBeUndefined();
	});

	it('that is larger still, or large without its files, is an error', async () => {
		const read = async (chunks: string[]) =>
			await openService([200, stream(...chunks)]).service.getTask('task', SETTINGS);
		await expect(read(buildDetails(17))).rejects.toThrow('is larger than 16 MB');
		const parts = Array.from({ length: MEGABYTE }, () => 0);
		await expect(read(buildDetails(1, {}, { parts }))).rejects.toThrow(
			'has more than 2 MB beside the files in it',
		);
	});

	it('is read at once, though it has 60,000 small objects', async () => {
		const words = Array.from({ length: 60_000 }, (_, id) => ({ id, t: 'a' }));
		for (const resultJson of [words, JSON.stringify(words)]) {
			const { service } = openService([200, ok({ ...NAMED_RECORD, resultJson })]);
			const time = await measureCpu(async () => {
				const { result } = await service.getTask('task', SETTINGS);
				expect(result).toHaveLength(words.length);
			});
			// It takes less than a tenth of this where nothing else runs, and took 1.5 s.
			expect(time).toBeLessThan(1_000);
		}
	});

	it('that is large waits while two others are read, and a small one does not', async () => {
		const begun: number[] = [];
		const ends: Array<() => void> = [];
		const reads = [0, 1, 2].map(async (place) => {
			async function* answer() {
				const [first = '', second = '', third = '', ...others] = buildDetails(5);
				yield* stream(first, second, third);
				begun.push(place);
				await new Promise<void>((resolve) => void (ends[place] = resolve));
				yield* stream(...others);
			}
			await openService([200, answer()]).service.getTask('task', SETTINGS);
		});
		await sleep(20);
		expect(begun).toEqual([0, 1]);
		expect(await get(NAMED_RECORD)).toMatchObject({ status: 'completed' });
		for (const end of [1, 0, 2]) {
			ends[end]?.();
			await sleep(20);
		}
		expect(begun).toEqual([0, 1, 2]);
		await Promise.all(reads);
	});

	it.each([
		['a schema', stream, MEGABYTE / 4, 'is larger than 0.25 MB'],
		['the list, which n8n gives in full, as in evaluations', String, 2 * MEGABYTE, 'is larger'],
	])('that is larger than allowed is an error: %s', async (what, send, most, message) => {
		const list = JSON.stringify(ok({ models: [] }));
		const read = async (length: number) => {
			const { service } = openService([200, send(list.padEnd(length))], {
				accessToken: `${what} ${length}`,
			});
			return await (what === 'a schema'
				? service.request('modelSchemaPath', SETTINGS, { value: 'a' })
				: service.request('modelsPath', SETTINGS));
		};
		await read(most);
		await expect(read(most + 1)).rejects.toThrow(message);
	});

	it('is given up when it takes longer than the timeout', async () => {
		const { service, signals } = openService([200, dribble(() => signals[0])]);
		const read = service.request('creditsPath', { timeoutSeconds: 0.2 });
		await expect(read).rejects.toThrow('gave no answer within 0.2 s');
	});

	it.each<[string, Answer, 'service' | 'other' | undefined, number | undefined, RegExp]>([
		['an envelope', [200, { code: 404 }], 'service', 404, /no task with this ID Check Task ID\.$/],
		['null', [200, ok(null)], 'service', undefined, /^The service has no task with/],
		['no state', [200, ok({})], 'service', undefined, /no task record.*data.state is missing/],
		['code 200 behind HTTP 404', [404, ok(7)], 'other', 404, /\(404\)/],
		['another form', [400, { detail: 'too long' }], 'other', 400, /\(400: {"detail":"too long"}\)/],
	])('is an error that tells who answered: %s', async (_, answer, answeredBy, code, words) => {
		const { service } = openService(answer);
		const error = await service.getTask('t', SETTINGS).catch((thrown: ServiceError) => thrown);
		expect(error).toBeInstanceOf(ServiceError);
		expect(error).toMatchObject({ facts: { answeredBy, ...(code && { code }) } });
		const { message, description } = error as ServiceError;
		expect(`${message} ${description}`).toMatch(words);
	});

	it('names what to fill in after 404 to an upload', async () => {
		const { service } = openService([404, { code: 404 }]);
		const upload = service.upload('a.png', fileUrl, SETTINGS);
		const description = expect.stringContaining("Check 'Upload Base URL'") as string;
		await expect(upload).rejects.toMatchObject({ description });
	});

	it('shows no secret of the credential, the callback URL and the resume URL', async () => {
		const callBackUrl = 'https://ann:pass-word@n8n.example/hook?key=relay-key';
		const own = 'https://ann:long-password@n8n.example/wait?signature=resume-token';
		const msg = `the-token the-key the-old-key pass-word in ${callBackUrl} or ${own}`;
		const { service } = openService(
			[200, { code: 422, msg }],
			{},
			{
				runExecutionData: { resumeToken: 'resume-token' },
				additionalData: { webhookWaitingBaseUrl: 'https://ann:long-password@n8n.example/wait' },
			},
		);
		const resume = 'https://ann:***@n8n.example/wait?signature=***)';
		const credits = service.request('creditsPath', SETTINGS);
		await expect(credits).rejects.toThrow('(422: *** *** *** pass-word in');
		const rejected = service.createTask({ ...REQUEST, callBackUrl }, SETTINGS);
		await expect(rejected).rejects.toThrow(
			`(422: *** *** *** *** in https://ann:***@n8n.example/hook*** or ${resume}`,
		);
	});
});
