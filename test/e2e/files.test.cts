import { expect } from '@jest/globals';
import { mediaGeneration, NODE } from '../../dev/fixtures/workflows.cts';
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
});
