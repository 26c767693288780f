import { createHash } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { resumeExecution } from '../../nodes/MediaGeneration/operations/wait/resume';
import { buildFileHelpers } from './operations/results/files.cts';
import { buildDetails, sendCallback, type Callback } from './webhook.ts';

let batches = 0;

const resumeUrl = 'https://n8n.example/webhook-waiting/1';

/** The position of the first item among those that came in. */
const FIRST = 10;

interface Parked {
	/** All tasks have ended. */
	ended?: boolean;
	isTool?: boolean;
	/** Items without a task that waits. */
	others?: IDataObject[];
	/** For downloads. */
	downloads?: object;
	until?: number;
}

/** An execution that waits for this number of tasks, beside other items, on a service whose answers the test gives. */
function parkExecution(
	count: number,
	{ ended, isTool, others = [], downloads, until = Date.now() + 60_000 }: Parked = {},
) {
	const batch = batches++;
	const type = isTool ? 'mediaGenerationTool' : 'mediaGeneration';
	const taskIds = Array.from({ length: count }, (_, index) => `batch-${batch}-task-${index}`);
	const items = [...taskIds.map((taskId) => ({ taskId, status: 'timedOut' })), ...others].map(
		(json: IDataObject, index) => ({ json, pairedItem: { item: FIRST + index } }),
	);
	const states = new Map(taskIds.map((taskId) => [taskId, ended ? 'success' : 'generating']));
	const asked: string[] = [];
	let run = 0;
	/** Let a task's details, a file, and what n8n has stored arrive; by default at once. */
	const arrivals = {
		details: async (taskId: string) => void taskId,
		file: async () => {},
		stored: () => {},
	};
	const host = buildFileHelpers(async () => {
		await arrivals.file();
		return { chunks: [Buffer.from('file')] };
	});

	async function readDetails(taskId: string) {
		asked.push(taskId);
		const state = String(states.get(taskId));
		await arrivals.details(taskId);
		const resultJson = { resultUrls: [`https://cdn.example/${taskId}`] };
		return buildDetails(taskId, state, downloads && { resultJson });
	}

	const send = async (taskId: string, secret?: string, more: Partial<Callback> = {}) =>
		await sendCallback(resumeExecution, {
			taskId,
			secret,
			readDetails,
			more: {
				getNode: () => ({ id: `node-${batch}`, name: 'Media Generation', type }),
				evaluateExpression() {
					arrivals.stored();
					const settings = { timeoutSeconds: 60, downloads };
					return { items, parked: { run, until, resumeUrl }, settings };
				},
				getExecutionId: () => `execution-${batch}`,
				getQueryData: () => ({ signature: 'resume-token' }),
			},
			helpers: host.helpers,
			...more,
		});

	return {
		taskIds,
		asked,
		/** Lists the files that were asked for, by their task. */
		listFiles: () => host.asked.map(({ url }) => url.replace(/.*\//, '')),
		first: String(taskIds[0]),
		last: String(taskIds.at(-1)),
		/** Ends these tasks. */
		end: (...ended: string[]) => ended.forEach((taskId) => states.set(taskId, 'success')),
		/** Another process continues the execution, and it comes to this node again. */
		waitAgain: () => run++,
		send,
		arrivals,
	};
}

/** Answers a callback that resumes nothing. */
const isTaken = { accepted: true, resumed: false };

describe('a callback for a parked execution', () => {
	it('resumes it when all tasks have ended, in the order of the items', async () => {
		const { taskIds, send } = parkExecution(3, { ended: true });
		const { output, store } = await send(String(taskIds[1]));
		expect(output).toMatchObject(
			taskIds.map((taskId, index) => ({
				json: { taskId, status: 'completed' },
				pairedItem: { item: FIRST + index },
			})),
		);
		// n8n pairs the items by what this gives it as an index.
		expect(output?.map((_, index) => index)).toEqual([FIRST, FIRST + 1, FIRST + 2]);
		expect(store()).toEqual({ accepted: true, resumed: true });
	});

	const failed = { error: "'Image' is required" };

	it('resumes it with items that failed, and tasks that ended before, as they were', async () => {
		const before = { taskId: 'ended-before', status: 'failed', failCode: '501' };
		const others = [failed, before, { taskId: 'without-status' }];
		const { first, asked, send } = parkExecution(1, { ended: true, others });
		const { output } = await send(first);
		expect(output?.slice(1).map(({ json }) => json)).toEqual(others);
		expect(asked).toEqual([first]);
	});

	it('resumes a tool with what its agent is told, and with items that failed as they were', async () => {
		const { first, send } = parkExecution(1, { ended: true, isTool: true, others: [failed] });
		const { output } = await send(first);
		expect(output).toEqual([
			{ json: { taskId: first, status: 'completed' }, pairedItem: { item: FIRST } },
			{ json: failed, pairedItem: { item: FIRST + 1 } },
		]);
	});

	it.each([2, 3, 4, 7])('resumes nothing while the last of %d tasks goes on', async (count) => {
		const { taskIds, first, end, send } = parkExecution(count);
		end(...taskIds.slice(0, -1));
		expect(await send(first)).toMatchObject({ status: 200, answer: isTaken, output: undefined });
	});

	it.each<[string, { task?: string; secret?: string }, number, string]>([
		['its own task goes on', {}, 503, 'taskNotEnded'],
		['its task is of another execution', { task: 'another' }, 404, 'taskNotInExecution'],
		['its signature is wrong', { secret: 'wrong' }, 401, 'signatureWrong'],
	])('is refused when %s', async (_, { task, secret }, status, reason) => {
		const { first, asked, send } = parkExecution(2);
		const refusal = { status, answer: { accepted: false, reason }, output: undefined };
		expect(await send(task ?? first, secret)).toMatchObject(refusal);
		expect(asked).toEqual(status === 503 ? [first] : []);
	});

	it('is taken without a signature where the credential has no key: its details decide', async () => {
		const { first, end, send } = parkExecution(1);
		const unsigned = { headers: {}, webhookSecret: ' ' };
		expect(await send(first, '', unsigned)).toMatchObject({ status: 503, output: undefined });
		end(first);
		expect((await send(first, '', unsigned)).output).toHaveLength(1);
	});

	it("is to be sent again when its details can't be had, and then resumes", async () => {
		const { first, last, send, arrivals } = parkExecution(2, { ended: true });
		arrivals.details = async (taskId) => {
			if (taskId === first) throw new Error('no answer');
		};
		const answer = { reason: 'detailsUnavailable' };
		expect(await send(first)).toMatchObject({ status: 503, answer });
		expect((await send(last)).answer).toEqual(isTaken);
		arrivals.details = async () => {};
		expect((await send(first)).output).toHaveLength(2);
	});

	it("resumes by the next callback when n8n's store could not be read at the last", async () => {
		const { first, last, end, send, arrivals } = parkExecution(2);
		end(first);
		expect((await send(first)).answer).toEqual(isTaken);
		end(last);
		arrivals.stored = () => {
			throw new Error('no database');
		};
		expect(await send(last)).toMatchObject({ status: 503, output: undefined });
		arrivals.stored = () => {};
		expect((await send(last)).output).toHaveLength(2);
	});

	it("has looks follow soon again when its details can't be had", async () => {
		const timers = jest.spyOn(AbortSignal, 'timeout');
		const countSoon = () => timers.mock.calls.filter(([pause]) => pause === 30_000).length;
		const { first, send, arrivals } = parkExecution(1);
		await send(first);
		await send(first);
		expect(countSoon()).toBe(1);
		arrivals.details = async () => await Promise.reject(new Error('no answer'));
		await send(first);
		expect(countSoon()).toBe(2);
		timers.mockRestore();
	});

	it('resumes nothing when the execution waits again, which this process did not know', async () => {
		const { first, last, end, send, waitAgain } = parkExecution(2);
		end(first);
		expect((await send(first)).answer).toEqual(isTaken);
		waitAgain();
		end(last);
		expect(await send(last)).toMatchObject({
			status: 404,
			answer: { accepted: false, reason: 'taskNotInExecution' },
			output: undefined,
		});
	});
});

describe('copies of the last callback', () => {
	it('resume nothing while n8n stores the first, nor after it', async () => {
		const { send, last } = parkExecution(2, { ended: true });
		const first = await send(last);
		expect(first.output).toHaveLength(2);
		expect((await send(last)).answer).toEqual(isTaken);
		first.store();
		expect((await send(last)).answer).toEqual(isTaken);
	});

	it('resume nothing when the first sender hangs up, but do so when n8n has not stored it after a minute', async () => {
		const { send, last } = parkExecution(2, { ended: true });
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
		const { first: one, last: other, end, send, arrivals } = parkExecution(2);
		end(one);
		let release = () => {};
		const isAsked = new Promise<void>((asked) => {
			arrivals.details = async (taskId) => {
				if (taskId !== other) return;
				asked();
				await new Promise<void>((resolve) => (release = resolve));
			};
		});
		const first = send(one);
		await Promise.race([isAsked, first]);
		end(other);
		arrivals.details = async () => {};
		expect((await send(other)).answer).toEqual(isTaken);
		release();
		expect((await first).output).toHaveLength(2);
	});

	it('ask for each task of a hundred at most twice, in whatever order they end', async () => {
		const { taskIds, end, asked, send } = parkExecution(100);
		const shuffle = (taskId: string) => createHash('sha256').update(taskId).digest('hex');
		const order = [...taskIds].sort((one, other) => shuffle(one).localeCompare(shuffle(other)));
		const outputs: unknown[] = [];
		for (const taskId of order) {
			end(taskId);
			outputs.push((await send(taskId)).output);
		}
		expect(outputs.filter(Boolean)).toHaveLength(1);
		expect(outputs.at(-1)).toHaveLength(100);
		expect(asked.length).toBeLessThanOrEqual(200);
	});

	it('asks for at most 32 tasks at once, and for few while the first goes on', async () => {
		const { taskIds, first, last, end, send, arrivals, asked } = parkExecution(200);
		let open = 0;
		let most = 0;
		arrivals.details = async () => {
			most = Math.max(most, ++open);
			await Promise.resolve();
			open--;
		};
		end(last);
		await send(last);
		expect(asked).toHaveLength(2);
		end(...taskIds);
		expect((await send(first)).output).toHaveLength(200);
		expect(most).toBe(32);
	});
});

describe('a callback for a parked execution that downloads', () => {
	const downloads = { field: 'data', maxBytes: null };

	function parkDownloading(count: number, more: Parked = {}) {
		const parked = parkExecution(count, { downloads, ...more });
		let release = () => {};
		const isReleased = new Promise<void>((resolve) => (release = resolve));
		parked.arrivals.file = async () => await isReleased;
		return { ...parked, release };
	}

	const withFile = (taskId: string) => ({
		json: { taskId, status: 'completed' },
		binary: { data: { fileName: `${taskId}.bin`, data: 'file' } },
	});

	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	it('begins with the files of its task, and resumes with all of them, each asked for once', async () => {
		const { end, send, first, last, listFiles, release } = parkDownloading(2);
		end(first);
		expect((await send(first)).answer).toEqual(isTaken);
		await jest.advanceTimersByTimeAsync(0);
		expect(listFiles()).toEqual([first]);
		end(last);
		release();
		const { output, store } = await send(last);
		expect(output).toMatchObject([withFile(first), withFile(last)]);
		expect(listFiles()).toEqual([first, last]);
		expect(store()).toEqual({ accepted: true, resumed: true });
	});

	it('is answered 503 when the files take longer than its sender waits, and resumes all the same, once', async () => {
		const { send, last, listFiles, release } = parkDownloading(1, { ended: true });
		const underWay = { accepted: false, reason: 'resultsUnderWay' };
		const first = send(last);
		await jest.advanceTimersByTimeAsync(4_999);
		expect(await send(last)).toMatchObject({ status: 503, answer: underWay, output: undefined });
		await jest.advanceTimersByTimeAsync(1);
		release();
		const { status, answer, output } = await first;
		expect(status).toBe(503);
		expect(answer).toMatchObject(underWay);
		expect(output).toMatchObject([withFile(last)]);
		expect((await send(last)).output).toBeUndefined();
		expect(listFiles()).toEqual([last]);
	});

	it('keeps no files of a batch that went on: when n8n did not store that, they are fetched again', async () => {
		const parked = { ended: true, until: Date.now() + 120_000 };
		const { send, last, listFiles, release } = parkDownloading(1, parked);
		const first = send(last);
		await jest.advanceTimersByTimeAsync(5_000);
		release();
		await first;
		await jest.advanceTimersByTimeAsync(61_000);
		expect((await send(last)).output).toMatchObject([withFile(last)]);
		expect(listFiles()).toEqual([last, last]);
	});

	it('resumes with the links before n8n ends the wait, half a minute after the limit', async () => {
		const { send, last } = parkDownloading(1, { ended: true, until: Date.now() + 30_000 });
		const sent = send(last);
		await jest.advanceTimersByTimeAsync(57_000);
		let isOver = false;
		void sent.then(() => (isOver = true));
		await jest.advanceTimersByTimeAsync(0);
		expect(isOver).toBe(false);
		await jest.advanceTimersByTimeAsync(1_000);
		const { output } = await sent;
		const resultUrls = [`https://cdn.example/${last}`];
		const downloadError = expect.stringMatching(/^The wait limit passed before/) as string;
		const json = { taskId: last, status: 'completed', resultUrls, downloadError };
		expect(output).toMatchObject([{ json }]);
		expect(output?.[0]).not.toHaveProperty('binary');
	});
});
