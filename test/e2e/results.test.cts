import { expect } from '@jest/globals';
import { buildResultBytes } from '../../dev/fixtures/results.cts';
import {
	chain,
	createAndWait,
	mediaGeneration,
	NODE,
	prompts,
	SEEN,
} from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import type { TaskFaults } from '../../dev/service/faults.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { readMedia } from '../media/corpus.cts';
import { folder, isOldest, readFiles, usePair } from './support.cts';

/** Of result files, in MB. */
const SIZE = 0.3;

interface ResultTask extends Task {
	downloadError?: string;
	/** With an item for each file; what follows the URL only from Get Files. */
	file?: { index: number; kind: string; url: string; name: string; seconds: number };
}

const SERVICE = {
	taskSeconds: 0.5,
	credits: 1e6,
	callbackRetrySeconds: [1, 2, 4],
	resultSeconds: null,
	downloadUrl: true,
};

/** With the n8n that all share, in filesystem mode. */
const pair = usePair({ service: SERVICE });

const wait = ({ options, ...parameters }: { options?: object; [name: string]: unknown } = {}) =>
	createAndWait({
		downloadResults: true,
		options: { tasksPer10Seconds: 0, concurrency: 20, ...options },
		...parameters,
	});

const download = (parameters: object = {}, more?: object) =>
	mediaGeneration(
		{ resource: 'task', operation: 'download', taskId: '={{ $json.taskId }}', ...parameters },
		more,
	);

/** Turns on n8n's own guard against requests into its network, with a way to the emulator. */
const GUARD = { N8N_SSRF_PROTECTION_ENABLED: 'true', N8N_SSRF_ALLOWED_IP_RANGES: '127.0.0.1/32' };
/** An address that the guard blocks. */
const INSIDE = 'http://10.11.12.13';

/** Reads the number of its item from a task's prompt. */
const readNumber = ({ input }: { input: Record<string, unknown> }) =>
	Number(String(input.prompt).split(' ')[1]);

const fetchBytes = async (url?: string) =>
	Buffer.from(await (await fetch(String(url))).arrayBuffer());

function getOutput(execution: Execution) {
	const output = execution.getOutput(NODE);
	const tasks = execution.getItems<ResultTask>(NODE);
	return tasks.map((json, index) => ({ binary: {}, ...output[index], json }));
}

/** Expects the items of a node to have the files of their own tasks, byte for byte. */
async function expectFiles(
	execution: Execution,
	counts: number[],
	{ on = pair, field = 'data' } = {},
) {
	expect(execution.getError()).toBeUndefined();
	const output = getOutput(execution);
	expect(output).toHaveLength(counts.length);
	for (const [item, { json, binary, pairedItem }] of output.entries()) {
		const { taskId, status, downloadError } = json;
		const prompt = on.service.tasks.get(taskId)?.input.prompt;
		expect([prompt, status, downloadError]).toEqual([`prompt ${item}`, 'completed', undefined]);
		expect(pairedItem).toMatchObject({ item });
		expect(Object.keys(binary)).toEqual([field, `${field}_1`, `${field}_2`].slice(0, counts[item]));
		for (const [number, file] of Object.values(binary).entries()) {
			const fileName = `prompt-${item}${number ? `-${number + 1}` : ''}.mp4`;
			expect(file).toMatchObject({ mimeType: 'video/mp4', fileName });
			const bytes = await on.n8n.readBinary(file);
			expect(bytes.equals(buildResultBytes(taskId, number, SIZE))).toBe(true);
		}
	}
}

// In n8n's queue mode, whose mode is `database`, test/queue does the same.
describe.each(['filesystem', 'default'])('with binary data in %s mode', (mode) => {
	const isGuarded = mode === 'default' && !isOldest;
	const env = {
		N8N_RESTRICT_FILE_ACCESS_TO: folder,
		N8N_DEFAULT_BINARY_DATA_MODE: mode,
		...(isGuarded && GUARD),
	};
	const own = mode === 'filesystem' ? pair : usePair({ service: SERVICE, n8n: { env } });

	it('files go from disk to the service and back, byte for byte', async () => {
		const sent = { photo: 'side-341.png', clip: 'faststart.mp4' };
		const parameters = { model: 'alpha-3.0/motion-control', image: 'photo', video: 'clip' };
		const execution = await own.runNodes(
			...readFiles(sent),
			mediaGeneration(
				{ resource: 'task', operation: 'createAndWait', downloadResults: false, ...parameters },
				{ name: 'Create' },
			),
			download({ files: ['result', 'firstFrame'], options: { outputItems: 'perFile' } }),
		);
		expect(execution.getError()).toBeUndefined();
		const uploads = [...own.service.uploads.values()];
		expect(uploads).toMatchObject([
			{ fileName: expect.stringMatching(/^side-341-[\da-f-]{36}\.png$/), mimeType: 'image/png' },
			{ fileName: expect.stringMatching(/^faststart-[\da-f-]{36}\.mp4$/), mimeType: 'video/mp4' },
		]);
		for (const [index, name] of Object.values(sent).entries()) {
			const bytes = await fetchBytes(uploads[index]?.downloadUrl);
			expect(bytes.equals(readMedia(name))).toBe(true);
		}
		const [task] = own.listTasks();
		expect(task?.input).toMatchObject({
			input_urls: [uploads[0]?.downloadUrl],
			video_urls: [uploads[1]?.downloadUrl],
		});
		const output = getOutput(execution);
		expect(output).toMatchObject(
			[
				{ kind: 'firstFrame', mimeType: 'image/png' },
				{ kind: 'result', mimeType: 'video/mp4' },
			].map((file) => ({
				json: { taskId: task?.taskId, status: 'completed', file },
				pairedItem: { item: 0 },
			})),
		);
		for (const { json, binary } of output) {
			const [file] = Object.values(binary);
			const bytes = file && (await own.n8n.readBinary(file));
			expect(bytes?.equals(await fetchBytes(json.file?.url))).toBe(true);
			expect(json.file).toMatchObject({ size: bytes?.length, name: file?.fileName });
		}
		expect(own.service.leaks).toEqual([]);
	});

	it.each([
		['callback', 6, 'data'],
		['polling', 2, 'film'],
	])('by %s, %d tasks bring their files in the field "%s"', async (waitFor, count, field) => {
		const counts = Array.from({ length: count }, (_, index) => 1 + (index % 3));
		own.service.set({
			faultsFor: (order) => ({
				files: counts[readNumber(order)],
				fileSize: SIZE,
				slow: 1.5 + (readNumber(order) % 3) / 2,
			}),
		});
		const execution = await own.runNodes(
			prompts(count),
			wait({ waitFor, options: { outputBinaryField: field, maxSizeMegabytes: 0 } }),
		);
		await expectFiles(execution, counts, { on: own, field });
		expect(own.service.deliveries).toHaveLength(counts.reduce((sum, files) => sum + files, 0));
		expect(own.service.leaks).toEqual([]);
	});

	if (isGuarded)
		it("says what n8n's own guard blocks, and that nothing was sent", async () => {
			const nodes = [prompts(1), wait({ waitFor: 'polling' })];
			const credential = await own.createCredential({ baseUrl: INSIDE });
			const error = (await own.run(chain('Guarded', nodes), { credential })).readError();
			expect(error).toMatch(/SSRF protection blocks that address.*Nothing was sent/s);
			expect(error).not.toContain('may have been paid for');

			const { resultsUrl } = own.service;
			own.service.set({
				rewrite: (body) => JSON.stringify(body).replaceAll(resultsUrl, INSIDE),
			});
			const [item] = getOutput(await own.runNodes(...nodes));
			expect(item?.binary).toEqual({});
			expect(item?.json).toMatchObject({
				taskId: own.listIds()[0],
				status: 'completed',
				downloadError: expect.stringMatching(/10\.11\.12\.13.*SSRF protection blocks/),
			});
		});
});

describe('an item for each file', () => {
	// n8n repeats a node whose first item is an error, and the limit ends the wait.
	it.each(['callback', 'polling'])(
		'by %s, each file is an item of its own, also after a repeat and at the limit, and awake paired with its input',
		async (waitFor) => {
			const texts = ['#status=422', '#files=2', '#fail', '#neverEnds', '#files=3 #links=dead'];
			const [refused, two, failed, endless, dead] = texts;
			const repeats = {
				...{ retryOnFail: true, maxTries: 2, waitBetweenTries: 100 },
				onError: 'continueRegularOutput',
			};
			const node = wait({ waitFor, waitLimit: 0.1, options: { outputItems: 'perFile' } });
			const execution = await pair.runNodes(prompts(texts), { ...node, ...repeats }, SEEN);
			// n8n pairs what comes out of a sleep by position.
			if (waitFor === 'polling')
				expect(execution.getItems('Seen').map(({ prompt }) => prompt)).toEqual([
					refused,
					two,
					two,
					failed,
					endless,
					dead,
					dead,
					dead,
				]);
			const output = getOutput(execution).map(({ json, binary }) => ({
				prompt: pair.service.tasks.get(json.taskId)?.input.prompt,
				status: json.status,
				index: json.file?.index,
				files: Object.keys(binary),
				isOwn: json.file && json.file.url === json.resultUrls?.[json.file.index],
				isMissing: json.downloadError !== undefined,
			}));
			const none = { files: [], isMissing: false };
			const file = { status: 'completed', isOwn: true, files: ['data'], isMissing: false };
			expect(output).toEqual([
				{ ...none },
				...[0, 1].map((index) => ({ prompt: two, index, ...file })),
				{ prompt: failed, status: 'failed', ...none },
				{ prompt: endless, status: 'timedOut', ...none },
				...[0, 1, 2].map((index) => ({ prompt: dead, index, ...file, files: [], isMissing: true })),
			]);
			const [, second] = getOutput(execution);
			const bytes = second?.binary.data && (await pair.n8n.readBinary(second.binary.data));
			expect(bytes?.equals(await fetchBytes(second?.json.file?.url))).toBe(true);
			expect(pair.service.tasks.size).toBe(4);
		},
	);
});

describe('a waiting node that downloads', () => {
	it.each(['callback', 'polling'])(
		'by %s, costs no task when a file cannot be had, or a link leads nowhere',
		async (waitFor) => {
			const cases: Array<[faults: TaskFaults, files: number, error?: RegExp]> = [
				[{}, 1],
				[{ fileRefused: true }, 0, /has expired or is refused, also after the service was asked/],
				[{ fileSize: 1 }, 0, /'Maximum File Size' in Options allows 0\.5 MB/],
				[{ links: 'dead' }, 0, /./],
				// The last callback, by which the execution goes on.
				[{ links: 'blank', slow: 3 }, 0],
			];
			pair.service.set({
				faultsFor: (order) => ({ fileSize: SIZE, slow: 2, ...cases[readNumber(order)]?.[0] }),
			});
			const options = { maxSizeMegabytes: 0.5 };
			const execution = await pair.runNodes(prompts(cases.length), wait({ waitFor, options }));
			expect(execution.getError()).toBeUndefined();
			const output = getOutput(execution).map(({ json, binary }) => [
				json.status,
				Object.keys(binary).length,
				json.downloadError,
			]);
			expect(output).toEqual(
				cases.map(([, files, error]) => [
					'completed',
					files,
					error && expect.stringMatching(error),
				]),
			);
		},
	);
});
