import { expect } from '@jest/globals';
import { listRows } from '../../dev/fixtures/night.cts';
import { buildResultBytes } from '../../dev/fixtures/results.cts';
import {
	chain,
	generate,
	mediaGeneration,
	NODE,
	prompts,
	SEEN,
} from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { readMedia } from '../media/corpus.cts';
import { folder, isOldest, readFiles, usePair } from './support.cts';

/** Of result files, in MB. */
const SIZE = 0.3;

interface ResultTask extends Task {
	downloadError?: string;
	/** With an item for each file. */
	file?: { index: number; url: string };
}

const SERVICE = { taskSeconds: 0.5, credits: 1e6, callbackRetrySeconds: [1, 2, 4] };

/** With the n8n of the worker, in filesystem mode. */
const pair = usePair({ service: SERVICE });

/** Turns on n8n's own guard against requests into its network, with a way to the emulator. */
const GUARD = { N8N_SSRF_PROTECTION_ENABLED: 'true', N8N_SSRF_ALLOWED_IP_RANGES: '127.0.0.1/32' };

const fetchBytes = async (url?: string) =>
	Buffer.from(await (await fetch(String(url))).arrayBuffer());

function getOutput(execution: Execution) {
	const output = execution.getOutput(NODE);
	const tasks = execution.getItems<ResultTask>(NODE);
	return tasks.map((json, index) => ({ binary: {}, ...output[index], json }));
}

const MODES = listRows(['filesystem', 'default'], 'filesystem');

// In n8n's queue mode, whose mode is `database`, test/queue does the same.
describe.each(MODES)('with binary data in %s mode', (mode) => {
	const isGuarded = mode === 'default' && !isOldest;
	const env = {
		N8N_RESTRICT_FILE_ACCESS_TO: folder,
		N8N_DEFAULT_BINARY_DATA_MODE: mode,
		...(isGuarded && GUARD),
	};
	const own = mode === 'filesystem' ? pair : usePair({ service: SERVICE, env });

	it('files go from disk to the service and back, byte for byte, also over a sleep', async () => {
		const sent = { photo: 'side-341.png', clip: 'faststart.mp4' };
		const model = { model: 'alpha-3.0/motion-control', image: 'photo', video: 'clip' };
		const prompt = `film #files=3 #fileSize=${SIZE}`;
		const download = { outputBinaryField: 'film', maxSizeMegabytes: 0 };
		const node = { ...model, prompt, options: { howToWait: 'callback', ...download } };
		const execution = await own.runNodes(...readFiles(sent), mediaGeneration(node));
		const uploads = [...own.service.uploads.values()];
		expect(uploads).toMatchObject([
			{ fileName: expect.stringMatching(/^side-341-[\da-f-]{36}\.png$/), mimeType: 'image/png' },
			{ fileName: expect.stringMatching(/^faststart-[\da-f-]{36}\.mp4$/), mimeType: 'video/mp4' },
		]);
		const urls = uploads.map(({ downloadUrl }) => downloadUrl);
		for (const [index, name] of Object.values(sent).entries())
			expect((await fetchBytes(urls[index])).equals(readMedia(name))).toBe(true);
		const { taskId, input } = own.findTask(prompt);
		expect(input).toMatchObject({ input_urls: [urls[0]], video_urls: [urls[1]] });
		const [item] = getOutput(execution);
		const { json, binary = {} } = item ?? {};
		expect(json).toMatchObject({ taskId, status: 'completed' });
		expect(Object.keys(binary)).toEqual(['film', 'film_1', 'film_2']);
		for (const [number, file] of Object.values(binary).entries()) {
			const fileName = expect.stringMatching(/^film-.*mp4$/);
			expect(file).toMatchObject({ mimeType: 'video/mp4', fileName });
			const bytes = await own.n8n.readBinary(file);
			expect(bytes.equals(buildResultBytes(taskId, number, SIZE))).toBe(true);
		}
		expect(own.service.deliveries).toHaveLength(3);
		expect(own.service.leaks).toEqual([]);
	});

	if (isGuarded)
		it("says what n8n's own guard blocks, and that nothing was sent", async () => {
			const credential = await own.createCredential({ baseUrl: 'http://10.11.12.13' });
			const workflow = chain('Guarded', [prompts(['one']), generate()]);
			const error = (await own.run(workflow, { credential })).readError();
			expect(error).toMatch(/SSRF protection blocks that address.*Nothing was sent/s);
			expect(error).not.toContain('may have been paid for');
		});
});

// n8n repeats a node whose first item is an error, and the limit ends the wait.
it.each(['callback', 'polling'])(
	'by %s, each file is an item of its own, also after a repeat and at the limit, costs no task when it is missing, and is paired with its input',
	async (howToWait) => {
		const texts = ['#status=422', '#files=2', '#fail', '#neverEnds', '#files=3 #links=dead'];
		const [refused, two, failed, endless, dead] = texts;
		const repeats = { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 };
		const goesOn = { ...repeats, onError: 'continueRegularOutput' };
		const files = { downloadResults: true, outputItems: 'perFile' };
		const options = { howToWait, waitLimit: 0.1, failedTasks: 'output', ...files };
		const node = generate({ options }, goesOn);
		const execution = await pair.runNodes(prompts(texts), node, SEEN);
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
		// What was refused was sent again by the repeat.
		expect(pair.countCreations()).toBe(6);
	},
);

describe('a host of files', () => {
	/** Generates a task of each prompt, and tells what became of its files. */
	async function runGenerate(texts: string[], more: object = {}) {
		const files = { downloadResults: true, outputItems: 'perFile', ...more };
		const options = { howToWait: 'polling', timeoutSeconds: 2, ...files };
		const execution = await pair.runNodes(prompts(texts), generate({ options }));
		return getOutput(execution).map(({ json: { status, file, downloadError = '' }, binary }) => ({
			status,
			hasLink: file?.url !== undefined,
			why: /: (.*?)\. /.exec(downloadError)?.[1]?.replace(/127[.\d:]+/, 'HOST'),
			hasFile: 'data' in binary,
		}));
	}
	const got = { status: 'completed', hasLink: true, hasFile: true };
	const missing = (why: string) => ({ ...got, hasFile: false, why });

	it('that sends nothing is left, and one that is just slow is not', async () => {
		const slow = '#fileSize=2 #fileSlow=8';
		expect(await runGenerate(['#fileStalls', slow])).toEqual([
			missing('its host HOST sent nothing for 2 s'),
			got,
		]);
		expect(pair.service.deliveries).toHaveLength(2);
	});

	it('sends no more for a task than five times what a file may have', async () => {
		const output = await runGenerate(['#files=20 #fileSize=0.1'], { maxSizeMegabytes: 0.1 });
		const why =
			"the files of this task together are too large: 'Maximum File Size' in Options allows 0.5 MB";
		const files = output.filter(({ hasFile }) => hasFile);
		expect(files).toEqual(files.map(() => got));
		expect(files.length).toBeGreaterThan(0);
		expect(files.length).toBeLessThanOrEqual(5);
		expect(output.filter(({ hasFile }) => !hasFile)).toEqual(
			Array.from({ length: 20 - files.length }, () => missing(why)),
		);
		expect(pair.service.deliveries.length).toBeLessThan(20);
	});
});
