const { createHash } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { CREDENTIAL_TYPE, buildCredentialData, startPair } = require('../../dev/fixtures/pair.cts');
const { chain, items, mediaGeneration } = require('../../dev/fixtures/workflows.cts');

const NODE = 'Media Generation';
const MEDIA = path.join(__dirname, '..', 'media');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-files-'));

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const sha256 = (/** @type {Uint8Array} */ bytes) =>
	createHash('sha256').update(bytes).digest('hex');

/** Puts a file of the corpus where n8n may read it. */
const given = (/** @type {string} */ name) => {
	const target = path.join(folder, name);
	fs.copyFileSync(path.join(MEDIA, name), target);
	return target;
};

const read = (/** @type {string} */ name, /** @type {string} */ file, field = name) => ({
	name: `Read ${field}`,
	type: 'n8n-nodes-base.readWriteFile',
	typeVersion: 1.1,
	parameters: {
		operation: 'read',
		fileSelector: given(file),
		options: { dataPropertyName: field },
	},
});

/** Merges the binary fields of several reads into one item. */
const fieldsOf = (/** @type {Record<string, string>} */ files) => {
	const reads = Object.entries(files).map(([field, file]) => read(field, file));
	return [
		...reads,
		{
			name: 'One item',
			type: 'n8n-nodes-base.code',
			typeVersion: 2,
			parameters: {
				jsCode: `return [{ json: {}, binary: Object.assign({}, ${reads
					.map(({ name }) => `$('${name}').first().binary`)
					.join(', ')}) }];`,
			},
		},
	];
};

const motion = (more = {}) => ({
	resource: 'task',
	operation: 'createAndWait',
	model: 'alpha-3.0/motion-control',
	image: 'photo',
	video: 'clip',
	prompt: 'Dance',
	...more,
});

/** @type {Awaited<ReturnType<typeof startPair>>} */
let pair;

/**
 * @param {any[]} nodes
 * @param {{ credential?: object }} [options]
 */
async function run(nodes, { credential } = {}) {
	const used = credential
		? await pair.n8n.createCredential({
				name: 'Changed',
				type: CREDENTIAL_TYPE,
				data: buildCredentialData(pair.service, credential),
			})
		: pair.credential;
	const { id } = await pair.n8n.importWorkflow(chain('Files', nodes), {
		credentials: { [CREDENTIAL_TYPE]: used },
	});
	return await pair.n8n.waitForExecution(await pair.n8n.run(id));
}

const uploads = () => [...pair.service.uploads.values()];

const start = async (/** @type {Record<string, string>} */ env = {}) => {
	pair = await startPair({
		service: { taskSeconds: 0.5, credits: 1e6 },
		n8n: { env: { N8N_RESTRICT_FILE_ACCESS_TO: folder, ...env } },
	});
};

describe.each(['filesystem', 'database', 'default'])('with binary data in %s mode', (mode) => {
	beforeAll(async () => await start({ N8N_DEFAULT_BINARY_DATA_MODE: mode }));
	afterAll(async () => await pair?.stop());

	it('files go from disk to the service and back to disk, byte for byte', async () => {
		const execution = await run([
			...fieldsOf({ photo: 'side-341.png', clip: 'faststart.mp4' }),
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
		const [photo, clip] = uploads();
		expect(photo).toMatchObject({
			fileName: expect.stringMatching(/^side-341-[\da-f-]{36}\.png$/),
			mimeType: 'image/png',
			sha256: sha256(fs.readFileSync(given('side-341.png'))),
		});
		expect(clip).toMatchObject({
			fileName: expect.stringMatching(/^faststart-[\da-f-]{36}\.mp4$/),
			mimeType: 'video/mp4',
			sha256: sha256(fs.readFileSync(given('faststart.mp4'))),
		});
		const [task] = [...pair.service.tasks.values()];
		expect(task?.input).toMatchObject({
			input_urls: [photo?.downloadUrl],
			video_urls: [clip?.downloadUrl],
		});
		const files = execution.getOutput(NODE);
		expect(files).toHaveLength(2);
		for (const { json, binary, pairedItem } of files) {
			expect(json).toMatchObject({ taskId: task?.taskId, status: 'completed' });
			expect(pairedItem).toMatchObject({ item: 0 });
			const original = Buffer.from(await (await fetch(json.file.url)).arrayBuffer());
			const written = fs.readFileSync(path.join(folder, binary.data.fileName));
			expect(sha256(written)).toBe(sha256(original));
			expect(json.file).toMatchObject({ size: original.length, name: binary.data.fileName });
		}
		expect(files.map(({ json }) => [json.file.kind, json.file.mimeType])).toEqual([
			['firstFrame', 'image/png'],
			['result', 'video/mp4'],
		]);
		expect(pair.service.leaks).toEqual([]);
	});
});

describe('files', () => {
	beforeAll(async () => await start());
	afterAll(async () => await pair?.stop());
	beforeEach(() => {
		pair.service.uploads.clear();
		pair.service.tasks.clear();
		pair.service.requests.length = 0;
		pair.service.set({ resultSeconds: null });
	});

	describe('that media fields name', () => {
		it('are uploaded once each, beside URLs, in lists and in reference items', async () => {
			const url = `${pair.service.resultsUrl}/sample.png`;
			const files = fieldsOf({ one: 'plain.png', two: 'baseline.jpg' });
			const create = { resource: 'task', operation: 'create' };
			await run([
				...files,
				mediaGeneration({
					...create,
					model: 'delta/reference-to-video',
					referenceImages: ['one', url, 'two', 'one'],
				}),
			]);
			expect(uploads()).toHaveLength(2);
			const [one, two] = uploads().map(({ downloadUrl }) => downloadUrl);
			const [list] = [...pair.service.tasks.values()];
			expect(list?.input.reference_image).toEqual([one, url, two, one]);
			await run([
				...files,
				mediaGeneration({
					...create,
					model: 'gamma-v6/reference-to-video',
					imageReferences: { reference: [{ image: 'two', refName: 'hero' }, { image: url }] },
				}),
			]);
			const references = [...pair.service.tasks.values()].at(-1)?.input.image_references;
			expect(references).toEqual([
				expect.objectContaining({ image_url: uploads().at(-1)?.downloadUrl, ref_name: 'hero' }),
				expect.objectContaining({ image_url: url }),
			]);
		});

		it('and that the item does not have are answered with those that it has', async () => {
			const execution = await run([
				...fieldsOf({ photo: 'side-341.png', film: 'faststart.mp4' }),
				mediaGeneration(motion()),
			]);
			const error = execution.getError(NODE);
			expect(error.message).toContain('Video is "clip", which is neither a URL');
			expect(error.description).toContain('The item has these binary fields: photo, film');
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
			const execution = await run([...fieldsOf({ photo, clip }), mediaGeneration(motion())]);
			const { message, description } = execution.getError(NODE);
			expect(message).toContain(`${field} can't be used: the file in`);
			expect(message).toContain(problem);
			expect(description).toContain('Nothing was created');
			expect(pair.service.requests).toEqual([]);
		});

		it('by content, not by name; and what can not be read is passed on with a warning', async () => {
			const execution = await run([
				...fieldsOf({ photo: 'png-named.jpg', clip: 'truncated-before-moov.mp4' }),
				mediaGeneration(motion({ operation: 'create' })),
			]);
			expect(execution.getError()).toBeUndefined();
			expect(uploads()[0]).toMatchObject({
				mimeType: 'image/png',
				fileName: expect.stringMatching(/\.png$/),
			});
			const [{ hints }] = execution.getRuns(NODE);
			expect(hints).toEqual([
				expect.objectContaining({
					type: 'warning',
					message: expect.stringMatching(/Video \[item 0\]: .*duration.* could not be read/),
				}),
			]);
		});

		it('at URLs too where the user asks for it, unless the host does not say', async () => {
			const { resultsUrl } = pair.service;
			const wrong = motion({
				operation: 'create',
				image: `${resultsUrl}/sample.mp4`,
				video: `${resultsUrl}/sample.mp4`,
			});
			const checked = await run([
				items([{}]),
				mediaGeneration({ ...wrong, options: { checkUrls: true } }),
			]);
			expect(checked.getError(NODE).message).toContain(
				"Image can't be used: the file at the URL is an MP4 video, but only JPEG or PNG",
			);
			expect(pair.service.tasks.size).toBe(0);
			const silent = await run([
				items([{}]),
				mediaGeneration({
					...wrong,
					image: 'http://127.0.0.1:9/a.png',
					options: { checkUrls: true },
				}),
			]);
			expect(silent.getItems(NODE)).toMatchObject([{ status: 'pending' }]);
		});
	});

	describe('file: upload', () => {
		it('gives out a URL, under a name of its own each time', async () => {
			const nodes = [
				read('data', 'baseline.jpg'),
				mediaGeneration({ resource: 'file', operation: 'upload' }),
			];
			const [first] = (await run(nodes)).getItems(NODE);
			const [second] = (await run(nodes)).getItems(NODE);
			expect(first).toMatchObject({
				url: uploads()[0]?.downloadUrl,
				fileName: expect.stringMatching(/^baseline-[\da-f-]{36}\.jpg$/),
				mimeType: 'image/jpeg',
				fileSize: fs.statSync(given('baseline.jpg')).size,
			});
			expect(second.fileName).not.toBe(first.fileName);
			expect(uploads()).toHaveLength(2);
		});

		it('has the service fetch a URL', async () => {
			const fileUrl = `${pair.service.resultsUrl}/sample.png`;
			const execution = await run([
				items([{}]),
				mediaGeneration({ resource: 'file', operation: 'upload', source: 'url', fileUrl }),
			]);
			expect(execution.getItems(NODE)).toMatchObject([
				{
					url: expect.stringContaining('/uploads/'),
					fileName: expect.stringMatching(/^sample-.*\.png$/),
				},
			]);
		});

		it('goes to the upload base URL of the credential, with the token', async () => {
			const execution = await run(
				[read('data', 'plain.png'), mediaGeneration({ resource: 'file', operation: 'upload' })],
				{ credential: { baseUrl: 'http://127.0.0.1:9', uploadBaseUrl: pair.service.url } },
			);
			expect(execution.getItems(NODE)).toMatchObject([{ url: expect.any(String) }]);
		});

		it('says that the item has no such file', async () => {
			const execution = await run([
				read('data', 'plain.png'),
				mediaGeneration({ resource: 'file', operation: 'upload', binaryPropertyName: 'photo' }),
			]);
			expect(execution.getError(NODE).description).toContain('these binary fields: data');
		});
	});

	describe('task: download', () => {
		const edit = (more = {}) => ({
			resource: 'task',
			operation: 'createAndWait',
			model: 'beta2/image-edit',
			image: `${pair.service.resultsUrl}/sample.png`,
			...more,
		});
		const download = (more = {}) =>
			mediaGeneration({
				resource: 'task',
				operation: 'download',
				taskId: '={{ $json.taskId }}',
				files: ['result'],
				...more,
			});

		it('takes the task of the node before, without asking for it again', async () => {
			const execution = await run([mediaGeneration(edit(), { name: 'Create' }), download()]);
			expect(execution.getOutput(NODE)).toMatchObject([
				{
					json: { status: 'completed', file: { kind: 'result', mimeType: 'image/png' } },
					binary: { data: { mimeType: 'image/png', fileType: 'image', fileExtension: 'png' } },
				},
			]);
			expect(pair.service.requests.map(({ path: to }) => to)).toEqual([
				'/api/v1/jobs/createTask',
				'/api/v1/jobs/recordInfo',
			]);
		});

		it('takes a task id alone', async () => {
			const created = await run([mediaGeneration(edit())]);
			const { taskId } = created.getItems(NODE)[0];
			const execution = await run([items([{}]), download({ taskId })]);
			expect(execution.getOutput(NODE)[0]?.binary.data.fileName).toBe(`${taskId}-result-1.png`);
		});

		it('asks once for a fresh link when one has expired', async () => {
			pair.service.set({ resultSeconds: 1 });
			const execution = await run([
				mediaGeneration(edit(), { name: 'Create' }),
				{
					name: 'Pause',
					type: 'n8n-nodes-base.wait',
					typeVersion: 1.1,
					parameters: { amount: 2 },
				},
				download(),
			]);
			expect(execution.getError()).toBeUndefined();
			expect(execution.getOutput(NODE)[0]?.binary.data.mimeType).toBe('image/png');
		});

		it('says so when the fresh one is refused too', async () => {
			pair.service.set({ resultSeconds: 1e-6 });
			const execution = await run([mediaGeneration(edit(), { name: 'Create' }), download()]);
			const { message, description } = execution.getError(NODE);
			expect(message).toMatch(/The link to result 1 of task .* has expired or is refused/);
			expect(description).toContain('Download them sooner');
		});

		it.each([
			['#neverEnds', 'its status is pending'],
			['#fail', 'its status is failed (fail): '],
		])('says how a task stands that has no files: %s', async (prompt, status) => {
			const created = await run([mediaGeneration(edit({ operation: 'create', prompt }))]);
			const { taskId } = created.getItems(NODE)[0];
			if (prompt === '#fail') await pair.service.waitForTask(taskId);
			const execution = await run([items([{}]), download({ taskId })]);
			expect(execution.getError(NODE).message).toContain(`Task ${taskId} has no files: ${status}`);
		});

		it('keeps to the maximum size', async () => {
			const execution = await run([
				mediaGeneration(edit(), { name: 'Create' }),
				download({ options: { maxSizeMegabytes: 0.001 } }),
			]);
			expect(execution.getError(NODE).message).toContain(
				'Maximum File Size in Options allows 0.001 MB',
			);
		});

		it('gives out the bad items by On Error, beside the files of the good ones', async () => {
			const created = await run([mediaGeneration(edit())]);
			const { taskId } = created.getItems(NODE)[0];
			const execution = await run([
				items([{ taskId }, { taskId: 'unknown' }]),
				{ ...download(), onError: 'continueErrorOutput' },
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
