import { taskRecord, toTask } from '../../nodes/MediaGeneration/api/task';
import { readLinks } from '../../nodes/MediaGeneration/operations/results/resultLinks';

const ALL = ['cover', 'firstFrame', 'lastFrame', 'result', 'watermarked'];

const read = (record: object, kinds = ALL) =>
	readLinks(toTask('task', taskRecord.parse({ state: 'success', ...record })), kinds)
		.map(({ kind, index, url }) => `${kind} ${index} ${url}`)
		.join(', ');

const video = {
	resultUrls: ['a', 'b'],
	firstFrameUrl: 'first',
	lastFrameUrl: ['last'],
	resultWaterMarkUrls: ['c', 'd'],
};
const data = [{ audio_url: 'a', image_url: 'p' }, { stream_audio_url: 'b' }];

it.each<[string, object, string]>([
	[
		'a video with its frames',
		{ resultJson: JSON.stringify(video) },
		'firstFrame 0 first, lastFrame 0 last, result 0 a, result 1 b, watermarked 0 c, watermarked 1 d',
	],
	['songs with their covers', { response: { data } }, 'cover 0 p, result 0 a, result 1 b'],
	['text', { resultJson: '{"resultObject":{"text":"hi"}}' }, ''],
	['nothing', {}, ''],
	['links of another form', { resultJson: { firstFrameUrl: 7, data: [null, 'x', ''] } }, ''],
])('reads the links of %s', (_, record, links) => expect(read(record)).toBe(links));

it('reads the chosen kinds alone', () => {
	expect(read({ resultJson: video }, ['lastFrame'])).toBe('lastFrame 0 last');
});
