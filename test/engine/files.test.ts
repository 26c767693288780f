import type { INodeParameters } from 'n8n-workflow';
import { readMedia } from '../media/corpus.cts';
import { editImage, useService } from './engine';

const engine = useService({ taskSeconds: 0.05, resultSeconds: null });

/** A PNG with the name and the type of another file. */
const photo = {
	data: readMedia('plain.png').toString('base64'),
	fileName: 'photo.bin',
	mimeType: 'text/plain',
};

/** Runs the node on an item that has the files. */
const run = async (parameters: INodeParameters) =>
	await engine.run(parameters, { binary: { photo } });

it('a binary field is uploaded as what it is by its content', async () => {
	const upload = { resource: 'file', operation: 'upload', source: 'binary' };
	const { output } = await run({ ...upload, binaryPropertyName: 'photo' });
	const fileName = expect.stringMatching(/^photo-[\da-f-]{36}\.png$/) as string;
	expect(output).toMatchObject([{ json: { fileName, mimeType: 'image/png' } }]);
	const bytes = await (await fetch(String(output[0]?.json.url))).arrayBuffer();
	expect(Buffer.from(bytes).toString('base64')).toBe(photo.data);
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

	it("is not paid for when a file is outside the model's limits", async () => {
		const motion = { model: 'alpha-3.0/motion-control', image: 'https://media.example/a.png' };
		const { error } = await create({ ...motion, video: 'photo' });
		expect(error?.message).toContain(
			"'Video' can't be used: the file in \"photo\" has the format PNG",
		);
		expect(engine.service.requests).toEqual([]);
	});

	it('has no file uploaded for an item that is not sent', async () => {
		engine.service.addFault({ path: '/api/v1/jobs/createTask', status: 402 });
		const edit = { ...editImage, image: 'photo', options: { concurrency: 1 } };
		const node = { onError: 'continueRegularOutput' } as const;
		const { output } = await engine.run(edit, { items: [{}, {}, {}], binary: { photo }, node });
		expect(output).toHaveLength(3);
		expect(engine.service.uploads.size).toBe(1);
	});
});
