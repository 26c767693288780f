import { createHmac } from 'node:crypto';
import { Readable } from 'node:stream';
import type { IDataObject } from 'n8n-workflow';
import { resumeExecution } from '../../nodes/MediaGeneration/operations/task/resume';
import { detailsOf, sendCallback, type Callback } from './webhook.ts';

let batches = 0;

interface Parked {
	/** Items without a task that waits. */
	others?: IDataObject[];
	/** For downloads. */
	settings?: object;
	until?: number;
}

/** An execution that waits for so many tasks, beside other items, on a service whose answers the test gives. */
function parkExecution(
	count: number,
	{ others = [], settings, until = Date.now() + 60_000 }: Parked = {},
) {
	const batch = batches++;
	const taskIds = Array.from({ length: count }, (_, index) => `batch-${batch}-task-${index}`);
	const items = [...taskIds.map((taskId) => ({ taskId, status: 'timedOut' })), ...others].map(
		(json: IDataObject, item) => ({ json, pairedItem: { item } }),
	);
	const ended = new Set<string>();
	const asked: string[] = [];
	const files: string[] = [];
	/** Lets a file arrive; by default at once. */
	let deliver: () => Promise<void> = async () => {};
	/** Answers a request for a task's details; by default at once. */
	let answerDetails: (taskId: string) => Promise<void> = async () => {};

	async function readDetails(taskId: string) {
		asked.push(taskId);
		const state = ended.has(taskId) ? 'success' : 'generating';
		await answerDetails(taskId);
		const resultJson = { resultUrls: [`https://cdn.example/${taskId}`] };
		return detailsOf(taskId, state, settings && { resultJson });
	}

	const send = async (taskId: string, secret?: string, more: Partial<Callback> = {}) =>
		await sendCallback(resumeExecution, {
			taskId,
			secret,
			readDetails,
			more: {
				getNode: () => ({ id: `node-${batch}`, name: 'Media Generation', type: 'mediaGeneration' }),
				evaluateExpression: () => ({ items, parked: { until, settings } }),
			},
			helpers: {
				async httpRequest({ url }: { url: string }) {
					files.push(url.replace(/.*\//, ''));
					await deliver();
					return { statusCode: 200, headers: {}, body: Readable.from([Buffer.from('file')]) };
				},
				async prepareBinaryData(stream: Readable, fileName: string) {
					return { fileName, data: String(Buffer.concat(await stream.toArray())) };
				},
			},
			...more,
		});

	return {
		taskIds,
		ended,
		asked,
		files,
		send,
		setDelivery: (delivery: typeof deliver) => (deliver = delivery),
		setDetails: (answer: typeof answerDetails) => (answerDetails = answer),
	};
}

describe('a callback for a parked execution', () => {
	it('resumes it when all tasks have ended, in the order of the items', async () => {
		const { taskIds, ended, send } = parkExecution(3);
		for (const taskId of taskIds) ended.add(taskId);
		const { output, store } = await send(String(taskIds[1]));
		expect(output).toMatchObject(
			taskIds.map((taskId, item) => ({
				json: { taskId, status: 'completed' },
				pairedItem: { item },
			})),
		);
		expect(store()).toEqual({ accepted: true, resumed: true });
	});

	it('resumes it with items that failed, and tasks that ended before, as they were', async () => {
		const failed = { error: "'Image' is required" };
		const before = { taskId: 'ended-before', status: 'failed', failCode: '501' };
		const { taskIds, ended, asked, send } = parkExecution(1, { others: [failed, before] });
		const [taskId = ''] = taskIds;
		ended.add(taskId);
		const { output } = await send(taskId);
		expect(output?.slice(1).map(({ json }) => json)).toEqual([failed, before]);
		expect(asked).toEqual([taskId]);
	});

	it.each([2, 3, 4, 7])(
		'is accepted while the last of %d tasks goes on, and nothing is resumed',
		async (count) => {
			const { taskIds, ended, send } = parkExecution(count);
			for (const taskId of taskIds.slice(0, -1)) ended.add(taskId);
			expect(await send(String(taskIds[0]))).toMatchObject({
				status: 200,
				answer: { accepted: true, resumed: false },
				output: undefined,
			});
		},
	);

	it.each([
		['its own task goes on', 0, 503, 'taskNotEnded'],
		['its task is of another execution', 'another', 404, 'taskNotInExecution'],
	])('is refused when %s', async (_, task, status, reason) => {
		const { taskIds, send } = parkExecution(2);
		const taskId = typeof task === 'number' ? String(taskIds[task]) : task;
		expect(await send(taskId)).toMatchObject({ status, answer: { accepted: false, reason } });
	});

	it('is refused without the right signature, before anything is asked', async () => {
		const { taskIds, ended, asked, send } = parkExecution(1);
		ended.add(String(taskIds[0]));
		expect(await send(String(taskIds[0]), 'wrong')).toMatchObject({
			status: 401,
			answer: { accepted: false, reason: 'signatureWrong' },
			output: undefined,
		});
		expect(asked).toEqual([]);
	});

	it('is taken without a signature where the credential has no key: its details decide', async () => {
		const { taskIds, ended, send } = parkExecution(1);
		const [taskId = ''] = taskIds;
		const unsigned = { headers: {}, webhookSecret: ' ' };
		expect(await send(taskId, '', unsigned)).toMatchObject({ status: 503, output: undefined });
		ended.add(taskId);
		expect((await send(taskId, '', unsigned)).output).toHaveLength(1);
	});

	it("is to be sent again when details can't be had, and then resumes", async () => {
		const { taskIds, ended, send, setDetails } = parkExecution(2);
		for (const taskId of taskIds) ended.add(taskId);
		setDetails(async (taskId) => {
			if (taskId === taskIds[0]) throw new Error('no answer');
		});
		expect(await send(String(taskIds[1]))).toMatchObject({
			status: 503,
			answer: { reason: 'detailsUnavailable' },
		});
		setDetails(async () => {});
		expect((await send(String(taskIds[1]))).output).toHaveLength(2);
	});
});

describe('copies of the last callback', () => {
	const parkEnded = () => {
		const parked = parkExecution(2);
		for (const taskId of parked.taskIds) parked.ended.add(taskId);
		return { ...parked, last: String(parked.taskIds[1]) };
	};

	it('resume nothing while n8n stores the first, nor after it', async () => {
		const { send, last } = parkEnded();
		const first = await send(last);
		expect(first.output).toHaveLength(2);
		expect((await send(last)).answer).toEqual({ accepted: true, resumed: false });
		first.store();
		expect((await send(last)).answer).toEqual({ accepted: true, resumed: false });
	});

	it('resume it when n8n could not store the first', async () => {
		const { send, last } = parkEnded();
		(await send(last)).fail();
		expect((await send(last)).output).toHaveLength(2);
	});

	it('resume nothing when the first sender hangs up, but do so when n8n has not stored it after a minute', async () => {
		const { send, last } = parkEnded();
		(await send(last)).hangUp();
		expect((await send(last)).output).toBeUndefined();
		const now = Date.now();
		jest.spyOn(Date, 'now').mockReturnValue(now + 61_000);
		expect((await send(last)).output).toHaveLength(2);
		jest.restoreAllMocks();
	});
});

describe('callbacks that come together', () => {
	it('are answered while one of them asks for the others, which then finds what they brought', async () => {
		const { taskIds, ended, send, setDetails } = parkExecution(2);
		const [one = '', other = ''] = taskIds;
		ended.add(one);
		let release = () => {};
		const isAsked = new Promise<void>((asked) =>
			setDetails(async (taskId) => {
				if (taskId !== other) return;
				asked();
				await new Promise<void>((resolve) => (release = resolve));
			}),
		);
		const first = send(one);
		await Promise.race([isAsked, first]);
		ended.add(other);
		setDetails(async () => {});
		expect((await send(other)).answer).toEqual({ accepted: true, resumed: false });
		release();
		expect((await first).output).toHaveLength(2);
	});

	it('ask for each task of a hundred at most twice, in whatever order they end', async () => {
		const { taskIds, ended, asked, send } = parkExecution(100);
		const order = [...taskIds].sort(
			(one, other) =>
				createHmac('sha256', 'order').update(one).digest().readInt32BE() -
				createHmac('sha256', 'order').update(other).digest().readInt32BE(),
		);
		const outputs: unknown[] = [];
		for (const taskId of order) {
			ended.add(taskId);
			outputs.push((await send(taskId)).output);
		}
		expect(outputs.filter(Boolean)).toHaveLength(1);
		expect(outputs.at(-1)).toHaveLength(100);
		expect(asked.length).toBeLessThanOrEqual(200);
	});

	it('asks for at most 32 tasks at once, and for few while the first goes on', async () => {
		const { taskIds, ended, send, setDetails, asked } = parkExecution(200);
		let open = 0;
		let most = 0;
		setDetails(async () => {
			most = Math.max(most, ++open);
			await Promise.resolve();
			open--;
		});
		ended.add(String(taskIds[199]));
		await send(String(taskIds[199]));
		expect(asked).toHaveLength(2);
		for (const taskId of taskIds) ended.add(taskId);
		expect((await send(String(taskIds[0]))).output).toHaveLength(200);
		expect(most).toBe(32);
	});
});

describe('a callback for a parked execution that downloads', () => {
	const settings = { field: 'data', maxBytes: null, timeoutSeconds: 60 };

	function parkDownloading(count: number, until?: number) {
		const parked = parkExecution(count, { settings, until });
		let release = () => {};
		const isReleased = new Promise<void>((resolve) => (release = resolve));
		parked.setDelivery(async () => await isReleased);
		const [first = '', last = first] = parked.taskIds;
		return { ...parked, first, last, release };
	}

	const withFile = (taskId: string) => ({
		json: { taskId, status: 'completed' },
		binary: { data: { fileName: `${taskId}-result-1.bin`, data: 'file' } },
	});

	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	it('begins with the files of its task, and resumes with all of them, each asked for once', async () => {
		const { ended, send, first, last, files, release } = parkDownloading(2);
		ended.add(first);
		expect((await send(first)).answer).toEqual({ accepted: true, resumed: false });
		await jest.advanceTimersByTimeAsync(0);
		expect(files).toEqual([first]);
		ended.add(last);
		release();
		const { output, store } = await send(last);
		expect(output).toMatchObject([withFile(first), withFile(last)]);
		expect(files).toEqual([first, last]);
		expect(store()).toEqual({ accepted: true, resumed: true });
	});

	it('is answered 503 when the files take longer than its sender waits, and resumes all the same, once', async () => {
		const { ended, send, last, files, release } = parkDownloading(1);
		ended.add(last);
		const underWay = { accepted: false, reason: 'resultsUnderWay' };
		const first = send(last);
		await jest.advanceTimersByTimeAsync(5_000);
		expect(await send(last)).toMatchObject({ status: 503, answer: underWay, output: undefined });
		release();
		const { status, answer, output } = await first;
		expect(status).toBe(503);
		expect(answer).toMatchObject(underWay);
		expect(output).toMatchObject([withFile(last)]);
		expect((await send(last)).output).toBeUndefined();
		expect(files).toEqual([last]);
	});

	it('keeps no files of a batch that went on: when n8n did not store that, they are fetched again', async () => {
		const { ended, send, last, files, release } = parkDownloading(1, Date.now() + 120_000);
		ended.add(last);
		const first = send(last);
		await jest.advanceTimersByTimeAsync(5_000);
		release();
		await first;
		await jest.advanceTimersByTimeAsync(61_000);
		expect((await send(last)).output).toMatchObject([withFile(last)]);
		expect(files).toEqual([last, last]);
	});

	it('resumes with the links shortly before the wait limit', async () => {
		const { ended, send, last } = parkDownloading(1, Date.now() + 30_000);
		ended.add(last);
		const sent = send(last);
		await jest.advanceTimersByTimeAsync(28_000);
		const { output = [] } = await sent;
		expect(output).toMatchObject([
			{
				json: {
					taskId: last,
					status: 'completed',
					resultUrls: [`https://cdn.example/${last}`],
					downloadError: expect.stringMatching(/^The wait limit passed before/) as string,
				},
			},
		]);
		expect(output[0]).not.toHaveProperty('binary');
	});
});
