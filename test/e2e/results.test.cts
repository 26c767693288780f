import { setTimeout as pause } from 'node:timers/promises';
import { createEndedTask } from '../../dev/fixtures/callbacks.cts';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import { buildResultBytes } from '../../dev/fixtures/results.cts';
import {
	chain,
	createAndWait,
	items,
	mediaGeneration,
	prompts,
} from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';

const NODE = 'Media Generation';
const SHARED_MODE = 'filesystem';
/** Of result files, in MB. */
const SIZE = 0.3;

let pair: Pair;

const wait = ({ options, ...parameters }: { options?: object; [name: string]: unknown } = {}) =>
	createAndWait({
		downloadResults: true,
		options: { tasksPer10Seconds: 0, concurrency: 20, ...options },
		...parameters,
	});

const run = async (nodes: WorkflowNode[]) => await pair.run(chain('Results', nodes));

/** Runs until the execution is parked, and returns its ID and that of its only task. */
async function park(faults: object, parameters?: Record<string, unknown>) {
	pair.service.set({ faultsFor: () => ({ noCallback: true, fileSize: SIZE, ...faults }) });
	const { id } = await pair.importWorkflow(chain('Parked', [prompts(1), wait(parameters)]));
	const executionId = await pair.n8n.run(id);
	await pair.n8n.waitForExecution(executionId, { until: ['waiting'] });
	const taskId = String(pair.listTasks().at(-1)?.taskId);
	await pair.service.waitForTask(taskId);
	return { executionId, taskId };
}

/** Reads the number of its item from a task's prompt. */
const readNumber = ({ input }: { input: Record<string, unknown> }) =>
	Number(String(input.prompt).split(' ')[1]);

const getOutput = (execution: Execution) =>
	execution.getOutput(NODE).map((item) => ({
		...item,
		json: item.json as unknown as Task & { downloadError?: string },
	}));

function getOnly(execution: Execution) {
	const [item] = getOutput(execution);
	if (!item) throw new Error(`No item: ${execution.getError()?.message}`);
	return item;
}

/** Expects the items of a node to have the files of their own tasks, byte for byte, the first under this name. */
async function expectFiles(execution: Execution, counts: number[], field = 'data') {
	expect(execution.getError()).toBeUndefined();
	const output = getOutput(execution);
	expect(output.map(({ json }) => json.status)).toEqual(counts.map(() => 'completed'));
	expect(output.map(({ json }) => pair.service.tasks.get(json.taskId)?.input.prompt)).toEqual(
		counts.map((_, index) => `prompt ${index}`),
	);
	for (const [index, { json, binary = {}, pairedItem }] of output.entries()) {
		expect(pairedItem).toMatchObject({ item: index });
		expect(json.downloadError).toBeUndefined();
		expect(Object.keys(binary)).toEqual(
			Array.from({ length: counts[index] ?? 0 }, (_, number) =>
				number ? `${field}_${number}` : field,
			),
		);
		for (const [number, file] of Object.values(binary).entries()) {
			expect(file).toMatchObject({
				mimeType: 'video/mp4',
				fileName: `${json.taskId}-result-${number + 1}.mp4`,
			});
			const bytes = await pair.n8n.readBinary(file);
			expect(bytes.equals(buildResultBytes(json.taskId, number, SIZE))).toBe(true);
		}
	}
}

function reset() {
	pair.service.tasks.clear();
	pair.service.requests.length = 0;
	pair.service.deliveries.length = 0;
	pair.service.set({
		taskSeconds: 0.5,
		faultsFor: () => ({}),
		resultSeconds: null,
		callbackRetrySeconds: [1, 2, 4],
	});
}

describe.each([SHARED_MODE, 'database', 'default'])('with binary data in %s mode', (mode) => {
	beforeAll(async () => {
		const env = { N8N_DEFAULT_BINARY_DATA_MODE: mode };
		pair = await startPair({
			service: { credits: 1e6 },
			n8n: mode === SHARED_MODE ? 'shared' : { env },
		});
	});
	afterAll(async () => await pair?.stop());
	beforeEach(reset);

	it.each([
		['callback', 1],
		['callback', 20],
		['polling', 2],
	])('by %s, %d tasks bring their files with them', async (waitFor, count) => {
		const counts = Array.from({ length: count }, (_, index) => 1 + (index % 3));
		pair.service.set({
			faultsFor: (order) => ({
				files: counts[readNumber(order)],
				fileSize: SIZE,
				slow: 2 + (readNumber(order) % 4),
			}),
		});
		const execution = await run([prompts(count), wait({ waitFor })]);
		await expectFiles(execution, counts);
		expect(pair.service.deliveries).toHaveLength(counts.reduce((sum, files) => sum + files, 0));
		expect(pair.service.leaks).toEqual([]);
	});
});

describe('a waiting node that downloads', () => {
	beforeAll(async () => {
		pair = await startPair({ service: { credits: 1e6 }, n8n: 'shared' });
	});
	afterAll(async () => await pair?.stop());
	beforeEach(reset);

	it('puts files into the field that is named, as large as the limit allows', async () => {
		pair.service.set({ faultsFor: () => ({ files: 2, fileSize: SIZE }) });
		const options = { outputBinaryField: 'film', maxSizeMegabytes: 0 };
		await expectFiles(await run([prompts(1), wait({ options })]), [2], 'film');
		const small = { maxSizeMegabytes: 0.2 };
		pair.service.tasks.clear();
		const { json, binary } = getOnly(await run([prompts(1), wait({ options: small })]));
		expect(binary).toBeUndefined();
		expect(json.downloadError).toMatch(/'Maximum File Size' in Options allows 0\.2 MB/);
	});

	it.each(['callback', 'polling'])(
		'by %s, costs no task when a file cannot be had',
		async (waitFor) => {
			const faults = [
				{ fileBreaks: true },
				{ fileRefused: true },
				{ fileStalls: true },
				{ fileRedirects: true },
				{ fail: true },
			];
			pair.service.set({
				faultsFor: (order) => ({ fileSize: SIZE, slow: 2, ...faults[readNumber(order)] }),
			});
			const execution = await run([
				prompts(faults.length),
				wait({ waitFor, options: { timeoutSeconds: 2 } }),
			]);
			expect(execution.getError()).toBeUndefined();
			const items = execution.getOutput(NODE);
			expect(items.map(({ json }) => json.status)).toEqual([
				...Array<string>(4).fill('completed'),
				'failed',
			]);
			expect(items.map(({ json }) => json.downloadError)).toEqual([
				expect.stringMatching(/broke off before the file was complete\. Run the node again later/),
				expect.stringMatching(/has expired or is refused, also after the service was asked/),
				expect.stringMatching(/sent nothing for 2 s before the file was complete/),
				undefined,
				undefined,
			]);
			expect(items.map(({ binary }) => Object.keys(binary ?? {}))).toEqual([
				[],
				[],
				[],
				['data'],
				[],
			]);
			for (const { json } of items.slice(0, 4))
				expect((json as unknown as Task).resultUrls).toHaveLength(1);
		},
	);

	it('answers the sender in time, downloads nothing twice for copies, and goes on with the file', async () => {
		const { executionId, taskId } = await park({ fileSlow: 9 });
		const begun = Date.now();
		const answers = await Promise.all([
			pair.service.callback(taskId),
			pause(6_500).then(async () => await pair.service.callback(taskId)),
		]);
		expect(Date.now() - begun).toBeLessThan(15_000);
		for (const { status, body } of answers) {
			expect(status).toBe(503);
			expect(JSON.parse(body)).toMatchObject({ accepted: false, reason: 'resultsUnderWay' });
		}
		await expectFiles(await pair.n8n.waitForExecution(executionId), [1]);
		expect(pair.service.deliveries).toHaveLength(1);
	});

	it('goes on with the file when the sender has hung up', async () => {
		const { executionId, taskId } = await park({ fileSlow: 3 });
		const sender = new AbortController();
		const sent = pair.service.callback(taskId, { signal: sender.signal });
		await poll(async () => pair.service.deliveries.length > 0, {
			timeout: 20_000,
			what: 'a download',
		});
		sender.abort();
		await expect(sent).rejects.toThrow();
		await expectFiles(await pair.n8n.waitForExecution(executionId), [1]);
		expect(pair.service.deliveries).toHaveLength(1);
	});

	it('fetches the files of a task while others go on', async () => {
		pair.service.set({
			faultsFor: (order) => ({ fileSize: SIZE, slow: readNumber(order) ? 16 : 2 }),
		});
		const { id } = await pair.importWorkflow(chain('Two', [prompts(2), wait()]));
		const executionId = await pair.n8n.run(id);
		await poll(async () => pair.service.deliveries.length === 1, {
			timeout: 20_000,
			what: 'a file',
		});
		expect(pair.listTasks().filter(({ state }) => state === 'success')).toHaveLength(1);
		await expectFiles(await pair.n8n.waitForExecution(executionId), [1, 1]);
		expect(pair.service.deliveries).toHaveLength(2);
	});

	it('goes on with the links when the wait limit passes before the file is there', async () => {
		const { executionId, taskId } = await park({ fileSlow: 60 }, { waitLimit: 0.4 });
		expect((await pair.service.callback(taskId)).status).toBe(503);
		const { json, binary } = getOnly(await pair.n8n.waitForExecution(executionId));
		expect(binary).toBeUndefined();
		expect(json).toMatchObject({
			taskId,
			status: 'completed',
			resultUrls: [expect.stringContaining(taskId)],
			downloadError: expect.stringMatching(/^The wait limit passed before/) as string,
		});
	}, 180_000);

	it.each([
		['of the link itself', {}, 'download-url', undefined],
		['of the task, where it has no other', { downloadUrl: false }, 'recordInfo', 'has expired'],
	])(
		'asks the service for a fresh link that has expired: %s',
		async (_, settings, path, message) => {
			pair.service.set({ resultSeconds: 0.001, lookupSeconds: 0, ...settings });
			const taskId = await createEndedTask(pair.service);
			await pause(10);
			pair.service.requests.length = 0;
			pair.service.set({ resultSeconds: 0.001 });
			const download = mediaGeneration({ resource: 'task', operation: 'download', taskId });
			const execution = await run([download]);
			expect(pair.service.requests.map((request) => request.path)).toContainEqual(
				expect.stringContaining(path),
			);
			if (message) expect(execution.getError()?.message).toContain(message);
			else expect(execution.getOutput(NODE)[0]?.binary).toHaveProperty('data');
		},
	);

	it.each([
		['zeta-song-v5', { prompt: 'x', instrumental: true }, 2, 'audio/mpeg'],
		['epsilon-voice/text-to-speech', { text: 'Hello' }, 1, 'audio/mpeg'],
		['zeta-canvas-4.0', { prompt: 'x' }, 1, 'image/png'],
	])('brings the files of %s', async (customModel, input, count, mimeType) => {
		const execution = await run([
			prompts(1),
			wait({ customModel, customInput: JSON.stringify(input), inputMode: 'json' }),
		]);
		const { json, binary = {} } = getOnly(execution);
		expect(json.resultUrls).toHaveLength(count);
		expect(Object.values(binary).map((file) => file.mimeType)).toEqual(Array(count).fill(mimeType));
		expect(json.downloadError).toBeUndefined();
	});

	it('has the result of a model that writes text', async () => {
		const customInput = JSON.stringify({ prompt: 'x' });
		const execution = await run([
			prompts(1),
			wait({ customModel: 'tau-prompt/enhance', customInput, inputMode: 'json' }),
		]);
		const { json, binary } = getOnly(execution);
		expect(json).toMatchObject({
			status: 'completed',
			resultUrls: [],
			result: { resultObject: { text: expect.any(String) as string } },
		});
		expect(binary).toBeUndefined();
	});
});

describe('Download', () => {
	beforeAll(async () => {
		pair = await startPair({ service: { credits: 1e6 }, n8n: 'shared' });
	});
	afterAll(async () => await pair?.stop());
	beforeEach(reset);

	it('has a few files under way over all items, and says how long each took', async () => {
		pair.service.set({ faultsFor: () => ({ files: 3, fileSize: SIZE, fileSlow: 0.3 }) });
		const ids = await Promise.all(Array.from({ length: 6 }, () => createEndedTask(pair.service)));
		const execution = await run([
			items(ids.map((taskId) => ({ taskId }))),
			mediaGeneration({ resource: 'task', operation: 'download' }),
		]);
		expect(execution.getError()).toBeUndefined();
		const output = execution.getOutput(NODE);
		const names = output.map(({ json }) => (json.file as { name: string }).name);
		expect(new Set(names).size).toBe(18);
		expect(output.map(({ json }) => json.taskId)).toEqual(ids.flatMap((id) => [id, id, id]));
		for (const { json } of output)
			expect((json.file as { seconds: number }).seconds).toBeGreaterThan(0.2);
		const { deliveries } = pair.service;
		const atOnce = deliveries.map(
			({ begun }) =>
				deliveries.filter((other) => other.begun <= begun && Number(other.ended) > begun).length,
		);
		expect(Math.max(...atOnce)).toBeGreaterThan(2);
		expect(Math.max(...atOnce)).toBeLessThanOrEqual(5);
	});
});

describe('n8n that is killed while it downloads', () => {
	beforeAll(async () => {
		pair = await startPair({ service: { credits: 1e6 } });
	});
	afterAll(async () => await pair?.stop());
	beforeEach(reset);

	it('goes on with the files by the next callback', async () => {
		const { executionId, taskId } = await park({ fileSlow: 20 });
		const sent = pair.service.callback(taskId).catch(() => undefined);
		await poll(async () => pair.service.deliveries.length > 0, {
			timeout: 20_000,
			what: 'a download',
		});
		await pair.n8n.kill();
		await sent;
		for (const task of pair.service.tasks.values()) task.faults.fileSlow = undefined;
		await pair.n8n.restart();
		expect((await pair.service.callback(taskId)).status).toBe(200);
		await expectFiles(await pair.n8n.waitForExecution(executionId), [1]);
	}, 180_000);
});
