import { expect } from '@jest/globals';
import { chain, mediaGeneration, NODE } from '../../dev/fixtures/workflows.cts';
import { readMedia } from '../media/corpus.cts';
import { readFiles, usePair } from './support.cts';

const pair = usePair({ service: { credits: 1e6 } });

const listUploads = () => [...pair.service.uploads.values()];

const create = (parameters: object) =>
	mediaGeneration({ resource: 'task', operation: 'create', ...parameters });

/** Builds our node that takes a picture and a video, by default from the binary fields of its item. */
const motion = (more: object = {}) =>
	create({
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
		const referenceImages = ['one', url, 'two', 'one'];
		await pair.runNodes(...files, create({ model: 'delta/reference-to-video', referenceImages }));
		expect(listUploads()).toHaveLength(2);
		const [one, two] = listUploads().map(({ downloadUrl }) => downloadUrl);
		expect(pair.listTasks()[0]?.input.reference_image).toEqual([one, url, two, one]);
		const reference = [{ image: 'two', refName: 'hero' }, { image: url }];
		const parameters = { model: 'gamma-v6/reference-to-video', imageReferences: { reference } };
		await pair.runNodes(...files, create(parameters));
		expect(pair.listTasks().at(-1)?.input.image_references).toEqual([
			expect.objectContaining({ image_url: listUploads().at(-1)?.downloadUrl, ref_name: 'hero' }),
			expect.objectContaining({ image_url: url }),
		]);
	});
});

describe('files are checked before they are paid for', () => {
	it.each([
		['side-340.png', 'faststart.mp4', 'Image', 'both sides must be greater than 340 px'],
		['side-341.png', 'lasts-31.mp4', 'Video', 'lasts 31 s, but must last 3 to 30 s'],
	])('%s and %s: %s %s', async (photo, clip, field, problem) => {
		const execution = await pair.runNodes(...readFiles({ photo, clip }), motion());
		const error = execution.getError(NODE);
		expect(error?.message).toContain(`'${field}' can't be used: the file in`);
		expect(error?.message).toContain(problem);
		expect(error?.description).toContain('Nothing was sent for this item');
		expect(pair.service.requests).toEqual([]);
	});

	it('by content, not by name, and unreadable files are sent with a warning', async () => {
		const execution = await pair.runNodes(
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
});

describe('Upload', () => {
	const upload = (parameters: object = {}) =>
		mediaGeneration({ resource: 'file', operation: 'upload', ...parameters });

	it('returns a URL, under a new name, from the upload base URL of the credential', async () => {
		const changes = { baseUrl: 'http://127.0.0.1:9', uploadBaseUrl: pair.service.url };
		const credential = await pair.createCredential(changes);
		const nodes = [...readFiles({ data: 'baseline.jpg' }), upload()];
		const execution = await pair.run(chain('Upload', nodes), { credential });
		expect(execution.getItems(NODE)).toMatchObject([
			{
				url: listUploads()[0]?.downloadUrl,
				fileName: expect.stringMatching(/^baseline-[\da-f-]{36}\.jpg$/),
				mimeType: 'image/jpeg',
				fileSize: readMedia('baseline.jpg').length,
			},
		]);
	});
});
