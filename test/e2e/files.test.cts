import { expect } from '@jest/globals';
import type { Pair } from '../../dev/fixtures/pair.cts';
import { chain, items, mediaGeneration, NODE } from '../../dev/fixtures/workflows.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { readMedia } from '../media/corpus.cts';
import { readFile, readFiles, usePair } from './support.cts';

let pair: Pair;

usePair((started) => (pair = started), { service: { credits: 1e6 } });

const run = async (...nodes: WorkflowNode[]) => await pair.run(chain('Files', nodes));

const listUploads = () => [...pair.service.uploads.values()];

/** Builds our node that takes a picture and a video from the binary fields of its item. */
const motion = (more: Record<string, unknown> = {}) =>
	mediaGeneration({
		resource: 'task',
		operation: 'create',
		model: 'alpha-3.0/motion-control',
		image: 'photo',
		video: 'clip',
		prompt: 'Dance',
		...more,
	});

describe('files that media fields name', () => {
	it('are uploaded once each, beside URLs, in lists and in reference items', async () => {
		const url = `${pair.service.resultsUrl}/sample.png`;
		const files = readFiles({ one: 'plain.png', two: 'baseline.jpg' });
		const create = { resource: 'task', operation: 'create' };
		await run(
			...files,
			mediaGeneration({
				...create,
				model: 'delta/reference-to-video',
				referenceImages: ['one', url, 'two', 'one'],
			}),
		);
		expect(listUploads()).toHaveLength(2);
		const [one, two] = listUploads().map(({ downloadUrl }) => downloadUrl);
		expect(pair.listTasks()[0]?.input.reference_image).toEqual([one, url, two, one]);
		await run(
			...files,
			mediaGeneration({
				...create,
				model: 'gamma-v6/reference-to-video',
				imageReferences: { reference: [{ image: 'two', refName: 'hero' }, { image: url }] },
			}),
		);
		expect(pair.listTasks().at(-1)?.input.image_references).toEqual([
			expect.objectContaining({ image_url: listUploads().at(-1)?.downloadUrl, ref_name: 'hero' }),
			expect.objectContaining({ image_url: url }),
		]);
	});

	it("that don't exist are an error that lists the fields that do", async () => {
		const execution = await run(
			...readFiles({ photo: 'side-341.png', film: 'faststart.mp4' }),
			motion(),
		);
		const error = execution.getError(NODE);
		expect(error?.message).toContain('\'Video\' is "clip", which is neither a URL');
		expect(error?.description).toContain('The item has these binary fields: photo, film');
		expect(pair.service.requests).toEqual([]);
	});
});

describe('files are checked before they are paid for', () => {
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
		const execution = await run(...readFiles({ photo, clip }), motion());
		const error = execution.getError(NODE);
		expect(error?.message).toContain(`'${field}' can't be used: the file in`);
		expect(error?.message).toContain(problem);
		expect(error?.description).toContain('Nothing was created');
		expect(pair.service.requests).toEqual([]);
	});

	it('by content, not by name, and unreadable files are sent with a warning', async () => {
		const execution = await run(
			...readFiles({ photo: 'png-named.jpg', clip: 'truncated-before-moov.mp4' }),
			motion(),
		);
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
			await run(items([{}]), motion({ image, video: sample, options: { checkUrls: true } }));
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

	it('returns a URL, under a new name', async () => {
		const execution = await run(readFile('data', 'baseline.jpg'), upload());
		expect(execution.getItems(NODE)).toMatchObject([
			{
				url: listUploads()[0]?.downloadUrl,
				fileName: expect.stringMatching(/^baseline-[\da-f-]{36}\.jpg$/),
				mimeType: 'image/jpeg',
				fileSize: readMedia('baseline.jpg').length,
			},
		]);
	});

	it('has the service fetch a URL', async () => {
		const fileUrl = `${pair.service.resultsUrl}/sample.png`;
		const execution = await run(items([{}]), upload({ source: 'url', fileUrl }));
		expect(execution.getItems(NODE)).toMatchObject([
			{
				url: expect.stringContaining('/uploads/'),
				fileName: expect.stringMatching(/^sample-.*\.png$/),
			},
		]);
	});

	it('sends the file and the token to the upload base URL of the credential', async () => {
		const changes = { baseUrl: 'http://127.0.0.1:9', uploadBaseUrl: pair.service.url };
		const credential = await pair.createCredential(changes);
		const workflow = chain('Upload', [readFile('data', 'plain.png'), upload()]);
		const execution = await pair.run(workflow, { credential });
		expect(execution.getItems(NODE)).toMatchObject([{ url: expect.any(String) }]);
	});
});
