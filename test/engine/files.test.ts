import type { INodeParameters } from 'n8n-workflow';
import { readMedia } from '../media/corpus.cts';
import { editImage, useService } from './engine';

const engine = useService({ taskSeconds: 0.05, resultSeconds: null });

/** A PNG, whose name and type say something else. */
const photo = {
	data: readMedia('plain.png').toString('base64'),
	fileName: 'photo.bin',
	mimeType: 'text/plain',
};

/** A file of no format that we know. */
const blank = { data: 'AAE=', mimeType: 'video/mp4' };

/** Runs the node on an item that has the files. */
const run = async (parameters: INodeParameters) =>
	await engine.run(parameters, { binary: { photo, blank } });

describe('file: upload', () => {
	const upload = async (more: INodeParameters) =>
		await run({ resource: 'file', operation: 'upload', ...more });

	it('uploads a binary field, as what it is by its content', async () => {
		const { output } = await upload({ source: 'binary', binaryPropertyName: 'photo' });
		const fileName = expect.stringMatching(/^photo-[\da-f-]{36}\.png$/) as string;
		expect(output).toMatchObject([{ json: { fileName, mimeType: 'image/png' } }]);
		const bytes = await (await fetch(String(output[0]?.json.url))).arrayBuffer();
		expect(Buffer.from(bytes).toString('base64')).toBe(photo.data);
	});

	it.each([
		[{ source: 'url', fileUrl: 'ftp://a.example/a' }, "'File URL' must be a URL", 'Correct'],
		[
			{ source: 'binary', binaryPropertyName: 'data' },
			'\'File\' is "data", but there is no file',
			': photo, blank.',
		],
		[
			{ binaryPropertyName: "={{ ({ mimeType: 'image/png', fileName: 'other.png' }) }}" },
			"'File' is \"{",
			': photo, blank.',
		],
	])('sends nothing for %j', async (parameters, message, next) => {
		const { error } = await upload(parameters);
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(next);
		expect(engine.service.requests).toEqual([]);
	});
});

describe('a task', () => {
	const create = async (more: INodeParameters) =>
		await run({ resource: 'task', operation: 'start', ...more });

	it('has each file of its fields uploaded once', async () => {
		const referenceImages = ['photo', 'https://media.example/a.png', 'photo'];
		await create({ model: 'delta/reference-to-video', referenceImages });
		const [upload, ...others] = engine.service.uploads.values();
		expect(others).toEqual([]);
		const url = upload?.downloadUrl;
		const reference_image = [url, 'https://media.example/a.png', url];
		expect(engine.listTasks()[0]?.input).toMatchObject({ reference_image });
	});

	const motion = { model: 'alpha-3.0/motion-control', image: 'https://media.example/a.png' };

	it('is not paid for when a file is outside of the limits', async () => {
		const { error } = await create({ ...motion, video: 'photo' });
		expect(error?.message).toContain("'Video' can't be used: the file in \"photo\" is a PNG image");
		expect(engine.service.requests).toEqual([]);
	});

	it('is created when a file can not be checked', async () => {
		await create({ ...motion, video: 'blank' });
		expect(engine.listTasks()).toHaveLength(1);
	});

	it('has no file uploaded for an item that is not sent', async () => {
		engine.service.faultNext({ path: '/api/v1/jobs/createTask', status: 402 });
		const edit = { ...editImage, image: 'photo', options: { concurrency: 1 } };
		const node = { onError: 'continueRegularOutput' } as const;
		const { output } = await engine.run(edit, { items: [{}, {}, {}], binary: { photo }, node });
		expect(output).toHaveLength(3);
		expect(engine.service.uploads.size).toBe(1);
	});
});

describe('task: getFiles', () => {
	/** Creates a task with this prompt, and downloads the files of these kinds. */
	async function download(prompt: string, files: string[], more: INodeParameters = {}) {
		const create = { resource: 'task', operation: 'start', model: 'delta/reference-to-video' };
		await run({ ...create, referenceImages: ['photo'], prompt });
		const taskId = String(engine.listTasks()[0]?.taskId);
		await engine.service.waitForTask(taskId);
		const options = { outputItems: 'perFile', ...more };
		const parameters = { taskId, files, binaryPropertyName: 'film', options };
		return { ...(await run({ resource: 'task', operation: 'getFiles', ...parameters })), taskId };
	}

	it('outputs an item for each of the chosen files', async () => {
		const { output, taskId } = await download('', ['preview', 'result']);
		const expected = [
			['result', '.mp4'],
			['preview', '-preview.png'],
			['preview', '-preview-2.png'],
		].map(([kind, ending], index) => {
			const name = `${taskId}${ending}`;
			const json = { taskId, status: 'completed', file: { index, kind, name } };
			return { json, binary: { film: { fileName: name } }, pairedItem: { item: 0 } };
		});
		expect(output).toMatchObject(expected);
	});

	it('says why there is no file, and what to do', async () => {
		const { error } = await download('#fileRefused', ['result']);
		expect(error?.message).toContain('has expired or is refused');
		expect(error?.description).toContain('Download them right behind Generate');
	});

	it.each([
		['#fileStalls', 'sent nothing for 2 s', "raise 'Request Timeout (Seconds)' in Options"],
		['#fileSize=0.2', 'it is too large', 'Raise the'],
	])('says what a host of files did that %s', async (prompt, message, next) => {
		const options = { timeoutSeconds: 2, maxSizeMegabytes: 0.1 };
		const { error } = await download(prompt, ['result'], options);
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(next);
	});
});
