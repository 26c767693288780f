import { expect } from '@jest/globals';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import { chain, editSample, items, mediaGeneration } from '../../dev/fixtures/workflows.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { readMedia } from '../media/corpus.cts';

/** The item of a downloaded file. */
interface DownloadedTask extends Task {
	file: { kind: string; url: string; name: string; mimeType: string; size: number };
}

/** The mode of the n8n that the test files share. */
const SHARED_MODE = 'filesystem';
const NODE = 'Media Generation';
/** Where n8n may read and write files. */
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-files-'));

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const computeHash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Builds a node that reads a file of the corpus into a binary field. */
function readFile(field: string, name: string): WorkflowNode {
	const file = path.join(folder, name);
	fs.writeFileSync(file, readMedia(name));
	return {
		name: `Read ${field}`,
		type: 'n8n-nodes-base.readWriteFile',
		typeVersion: 1.1,
		parameters: {
			operation: 'read',
			fileSelector: file,
			options: { dataPropertyName: field },
		},
	};
}

/** Builds nodes that read files of the corpus into the binary fields of one item. */
function readFiles(files: Record<string, string>): WorkflowNode[] {
	const reads = Object.entries(files).map(([field, name]) => readFile(field, name));
	const binaries = reads.map(({ name }) => `$('${name}').first().binary`);
	return [
		...reads,
		{
			name: 'One item',
			type: 'n8n-nodes-base.code',
			typeVersion: 2,
			parameters: {
				jsCode: `return [{ json: {}, binary: Object.assign({}, ${binaries.join(', ')}) }];`,
			},
		},
	];
}

const motion = (more: Record<string, unknown> = {}) => ({
	resource: 'task',
	operation: 'createAndWait',
	model: 'alpha-3.0/motion-control',
	image: 'photo',
	video: 'clip',
	prompt: 'Dance',
	...more,
});

/** Of the emulator. */
const service = { taskSeconds: 0.5, credits: 1e6 };

let pair: Pair;

async function run(nodes: WorkflowNode[], changes?: object) {
	const credential = changes && (await pair.createCredential(changes));
	return await pair.run(chain('Files', nodes), { credential });
}

const listUploads = () => [...pair.service.uploads.values()];

describe.each([SHARED_MODE, 'database', 'default'])('with binary data in %s mode', (mode) => {
	beforeAll(async () => {
		const env = { N8N_RESTRICT_FILE_ACCESS_TO: folder, N8N_DEFAULT_BINARY_DATA_MODE: mode };
		pair = await startPair({ service, n8n: mode === SHARED_MODE ? 'shared' : { env } });
	});
	afterAll(async () => await pair?.stop());

	it('files go from disk to the service and back to disk, byte for byte', async () => {
		const execution = await run([
			...readFiles({ photo: 'side-341.png', clip: 'faststart.mp4' }),
			mediaGeneration(motion(), { name: 'Create' }),
			mediaGeneration({
				resource: 'task',
				operation: 'download',
				taskId: '={{ $json.taskId }}',
				files: ['result', 'firstFrame'],
			}),
			{
				name: 'Write',
				type: 'n8n-nodes-base.readWriteFile',
				typeVersion: 1.1,
				parameters: {
					operation: 'write',
					fileName: `=${folder}/{{ $binary.data.fileName }}`,
					dataPropertyName: 'data',
				},
			},
		]);
		expect(execution.getError()).toBeUndefined();
		const [photo, clip] = listUploads();
		expect(photo).toMatchObject({
			fileName: expect.stringMatching(/^side-341-[\da-f-]{36}\.png$/),
			mimeType: 'image/png',
			sha256: computeHash(readMedia('side-341.png')),
		});
		expect(clip).toMatchObject({
			fileName: expect.stringMatching(/^faststart-[\da-f-]{36}\.mp4$/),
			mimeType: 'video/mp4',
			sha256: computeHash(readMedia('faststart.mp4')),
		});
		const [task] = pair.listTasks();
		expect(task?.input).toMatchObject({
			input_urls: [photo?.downloadUrl],
			video_urls: [clip?.downloadUrl],
		});
		const tasks = execution.getItems<DownloadedTask>(NODE);
		expect(tasks).toHaveLength(2);
		for (const [index, { binary, pairedItem }] of execution.getOutput(NODE).entries()) {
			const { file, ...output } = tasks[index] ?? {};
			expect(output).toMatchObject({ taskId: task?.taskId, status: 'completed' });
			expect(pairedItem).toMatchObject({ item: 0 });
			const original = Buffer.from(await (await fetch(String(file?.url))).arrayBuffer());
			const name = String(binary?.data?.fileName);
			const written = fs.readFileSync(path.join(folder, name));
			expect(computeHash(written)).toBe(computeHash(original));
			expect(file).toMatchObject({ size: original.length, name });
		}
		expect(tasks.map(({ file }) => [file.kind, file.mimeType])).toEqual([
			['firstFrame', 'image/png'],
			['result', 'video/mp4'],
		]);
		expect(pair.service.leaks).toEqual([]);
	});
});

describe('files', () => {
	beforeAll(async () => {
		pair = await startPair({ service, n8n: 'shared' });
	});
	afterAll(async () => await pair?.stop());
	beforeEach(() => {
		pair.service.uploads.clear();
		pair.service.tasks.clear();
		pair.service.requests.length = 0;
		pair.service.set({ ...service, resultSeconds: null, downloadUrl: true });
	});

	describe('that media fields name', () => {
		it('are uploaded once each, beside URLs, in lists and in reference items', async () => {
			const url = `${pair.service.resultsUrl}/sample.png`;
			const files = readFiles({ one: 'plain.png', two: 'baseline.jpg' });
			const create = { resource: 'task', operation: 'create' };
			await run([
				...files,
				mediaGeneration({
					...create,
					model: 'delta/reference-to-video',
					referenceImages: ['one', url, 'two', 'one'],
				}),
			]);
			expect(listUploads()).toHaveLength(2);
			const [one, two] = listUploads().map(({ downloadUrl }) => downloadUrl);
			expect(pair.listTasks()[0]?.input.reference_image).toEqual([one, url, two, one]);
			await run([
				...files,
				mediaGeneration({
					...create,
					model: 'gamma-v6/reference-to-video',
					imageReferences: { reference: [{ image: 'two', refName: 'hero' }, { image: url }] },
				}),
			]);
			expect(pair.listTasks().at(-1)?.input.image_references).toEqual([
				expect.objectContaining({ image_url: listUploads().at(-1)?.downloadUrl, ref_name: 'hero' }),
				expect.objectContaining({ image_url: url }),
			]);
		});

		it("that don't exist are an error that lists the fields that do", async () => {
			const execution = await run([
				...readFiles({ photo: 'side-341.png', film: 'faststart.mp4' }),
				mediaGeneration(motion()),
			]);
			const error = execution.getError(NODE);
			expect(error?.message).toContain('\'Video\' is "clip", which is neither a URL');
			expect(error?.description).toContain('The item has these binary fields: photo, film');
			expect(pair.service.requests).toEqual([]);
		});
	});

	describe('are checked before they are paid for', () => {
		it.each([
			['side-340.png', 'faststart.mp4', 'Image', 'both sides must be greater than 340 px'],
			['image.gif', 'faststart.mp4', 'Image', 'is a GIF image, but only JPEG or PNG is accepted'],
			['beyond-5-to-2.jpg', 'faststart.mp4', 'Image', 'has an aspect ratio of'],
			['side-341.png', 'lasts-2.mp4', 'Video', 'lasts 2 s, but must last 3 to 30 s'],
			['side-341.png', 'lasts-31.mp4', 'Video', 'lasts 31 s, but must last 3 to 30 s'],
			['side-341.png', 'video.webm', 'Video', 'is a WebM video, but only MP4 or QuickTime'],
			['side-341.png', 'small.mp4', 'Video', 'both sides must be greater than 340 px'],
			['page.html', 'faststart.mp4', 'Image', 'is a web page, but only JPEG or PNG'],
		])('%s and %s: %s %s', async (photo, clip, field, problem) => {
			const execution = await run([...readFiles({ photo, clip }), mediaGeneration(motion())]);
			const error = execution.getError(NODE);
			expect(error?.message).toContain(`'${field}' can't be used: the file in`);
			expect(error?.message).toContain(problem);
			expect(error?.description).toContain('Nothing was created');
			expect(pair.service.requests).toEqual([]);
		});

		it('by content, not by name, and unreadable files are sent with a warning', async () => {
			const execution = await run([
				...readFiles({ photo: 'png-named.jpg', clip: 'truncated-before-moov.mp4' }),
				mediaGeneration(motion({ operation: 'create' })),
			]);
			expect(execution.getError()).toBeUndefined();
			expect(listUploads()[0]).toMatchObject({
				mimeType: 'image/png',
				fileName: expect.stringMatching(/\.png$/),
			});
			expect(execution.getRuns(NODE)[0]?.hints).toEqual([
				expect.objectContaining({
					type: 'warning',
					message: expect.stringMatching(/'Video' \[item 0\]: .*duration, which could not be read/),
				}),
			]);
		});

		it('at URLs too if the user asks for it, unless the host does not answer', async () => {
			const sample = `${pair.service.resultsUrl}/sample.mp4`;
			const create = async (image: string) =>
				await run([
					items([{}]),
					mediaGeneration(
						motion({ operation: 'create', image, video: sample, options: { checkUrls: true } }),
					),
				]);
			const checked = await create(sample);
			expect(checked.getError(NODE)?.message).toContain(
				"'Image' can't be used: the file at the URL is an MP4 video, but only JPEG or PNG",
			);
			expect(pair.service.tasks.size).toBe(0);
			const silent = await create('http://127.0.0.1:9/a.png');
			expect(silent.getItems(NODE)).toMatchObject([{ status: 'pending' }]);
		});
	});

	describe('Upload', () => {
		const upload = (parameters: Record<string, unknown> = {}) =>
			mediaGeneration({ resource: 'file', operation: 'upload', ...parameters });

		it('returns a URL, under a new name each time', async () => {
			const nodes = [readFile('data', 'baseline.jpg'), upload()];
			const [first] = (await run(nodes)).getItems(NODE);
			const [second] = (await run(nodes)).getItems(NODE);
			expect(first).toMatchObject({
				url: listUploads()[0]?.downloadUrl,
				fileName: expect.stringMatching(/^baseline-[\da-f-]{36}\.jpg$/),
				mimeType: 'image/jpeg',
				fileSize: readMedia('baseline.jpg').length,
			});
			expect(second?.fileName).not.toBe(first?.fileName);
			expect(listUploads()).toHaveLength(2);
		});

		it('has the service fetch a URL', async () => {
			const fileUrl = `${pair.service.resultsUrl}/sample.png`;
			const execution = await run([items([{}]), upload({ source: 'url', fileUrl })]);
			expect(execution.getItems(NODE)).toMatchObject([
				{
					url: expect.stringContaining('/uploads/'),
					fileName: expect.stringMatching(/^sample-.*\.png$/),
				},
			]);
		});

		it('sends the file and the token to the upload base URL of the credential', async () => {
			const changes = { baseUrl: 'http://127.0.0.1:9', uploadBaseUrl: pair.service.url };
			const execution = await run([readFile('data', 'plain.png'), upload()], changes);
			expect(execution.getItems(NODE)).toMatchObject([{ url: expect.any(String) }]);
		});

		it("lists the item's binary fields if the named one doesn't exist", async () => {
			const nodes = [readFile('data', 'plain.png'), upload({ binaryPropertyName: 'photo' })];
			const error = (await run(nodes)).getError(NODE);
			expect(error?.description).toContain('these binary fields: data');
		});
	});

	describe('Download', () => {
		const edit = (parameters: Record<string, unknown> = {}, name = NODE) =>
			mediaGeneration(editSample(pair.service.resultsUrl, parameters), { name });
		const download = (parameters: Record<string, unknown> = {}, more: object = {}) =>
			mediaGeneration(
				{
					resource: 'task',
					operation: 'download',
					taskId: '={{ $json.taskId }}',
					files: ['result'],
					...parameters,
				},
				more,
			);

		/** Creates a task, and returns its ID. */
		async function create(parameters?: Record<string, unknown>) {
			const [task] = (await run([edit(parameters)])).getItems<Task>(NODE);
			return String(task?.taskId);
		}

		it('asks the service for the links of the task, once', async () => {
			// A callback before the execution is parked is a request more.
			pair.service.set({ taskSeconds: 2 });
			const execution = await run([edit({}, 'Create'), download()]);
			expect(execution.getOutput(NODE)).toMatchObject([
				{
					json: { status: 'completed', file: { kind: 'result', mimeType: 'image/png' } },
					binary: { data: { mimeType: 'image/png', fileType: 'image', fileExtension: 'png' } },
				},
			]);
			expect(pair.service.requests.map(({ path: to }) => to)).toEqual([
				'/api/v1/jobs/createTask',
				'/api/v1/jobs/recordInfo',
				'/api/v1/jobs/recordInfo',
			]);
		});

		it('accepts a task ID alone', async () => {
			const taskId = await create();
			const execution = await run([items([{}]), download({ taskId })]);
			expect(execution.getOutput(NODE)[0]?.binary?.data?.fileName).toBe(`${taskId}-result-1.png`);
		});

		it('asks once for a new link when one has expired', async () => {
			pair.service.set({ resultSeconds: 1 });
			const wait = {
				name: 'Pause',
				type: 'n8n-nodes-base.wait',
				typeVersion: 1.1,
				parameters: { amount: 2 },
			};
			const execution = await run([edit({}, 'Create'), wait, download()]);
			expect(execution.getError()).toBeUndefined();
			expect(execution.getOutput(NODE)[0]?.binary?.data?.mimeType).toBe('image/png');
		});

		it('says so when the new link is refused too', async () => {
			pair.service.set({ resultSeconds: 1e-6, downloadUrl: false });
			const error = (await run([edit({}, 'Create'), download()])).getError(NODE);
			expect(error?.message).toMatch(/The link to result 1 of task .* has expired or is refused/);
			expect(error?.description).toContain('Download them sooner');
		});

		it.each([
			['#neverEnds', 'its status is pending'],
			['#fail', 'its status is failed (fail): '],
		])('names the status of a task that has no files: %s', async (prompt, status) => {
			const taskId = await create({ operation: 'create', prompt });
			if (prompt === '#fail') await pair.service.waitForTask(taskId);
			const error = (await run([items([{}]), download({ taskId })])).getError(NODE);
			expect(error?.message).toContain(`Task ${taskId} has no files: ${status}`);
		});

		it('keeps to the maximum size', async () => {
			const options = { maxSizeMegabytes: 0.001 };
			const error = (await run([edit({}, 'Create'), download({ options })])).getError(NODE);
			expect(error?.message).toContain("'Maximum File Size' in Options allows 0.001 MB");
		});

		it('outputs the bad items where On Error says, beside the files of the good ones', async () => {
			const taskId = await create();
			const execution = await run([
				items([{ taskId }, { taskId: 'unknown' }]),
				download({}, { onError: 'continueErrorOutput' }),
			]);
			expect(execution.getOutput(NODE)).toMatchObject([
				{ json: { taskId }, pairedItem: { item: 0 } },
			]);
			expect(execution.getItems(NODE, { branch: 1 })).toMatchObject([
				{ error: expect.stringContaining('recordInfo is null') },
			]);
		});

		it('sends no token to the hosts of results', () => {
			expect(pair.service.leaks).toEqual([]);
		});
	});
});
