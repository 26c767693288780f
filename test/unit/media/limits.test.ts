import type { MediaFacts } from '../../../nodes/MediaGeneration/media/formats';
import {
	MEBIBYTE,
	checkLimits,
	type MediaLimits,
} from '../../../nodes/MediaGeneration/media/limits';

const unlimited: MediaLimits = { formats: ['mp4', 'quicktime'], maxBytes: 10 * MEBIBYTE };
const limits: MediaLimits = {
	...unlimited,
	minSide: 340,
	aspect: [5, 2],
	duration: { min: 3, max: 30 },
};
const unread: MediaFacts = {
	format: 'mp4',
	name: 'an MP4 video',
	mimeType: 'video/mp4',
	extension: 'mp4',
	kind: 'video',
};
const good = { ...unread, width: 1920, height: 1080, durationSeconds: 10 };

const tooLarge = 'is 11 MB, but at most 10 MB are allowed';
const ratio = 'but its aspect ratio must be from 2:5 to 5:2';
const sides = 'but both sides must be greater than 340 px';

it.each<[Partial<MediaFacts>, string[], number?]>([
	[{}, [], 10 * MEBIBYTE],
	[{}, ['is 10.1 MB, but at most 10 MB are allowed'], 10 * MEBIBYTE + 1],
	[{}, ['is empty'], 0],
	[{ durationSeconds: 2.89 }, ['lasts 2.9 s, but must last 3 to 30 s']],
	[{ durationSeconds: 2.9 }, []],
	[{ durationSeconds: 30.1 }, []],
	[{ width: 340, height: 500 }, [`is 340 × 500 px, ${sides}`]],
	[{ width: 1000, height: 400 }, []],
	[{ width: 1001, height: 400 }, [`is 1001 × 400 px, ${ratio}`]],
	[
		{ width: 900, height: 300, durationSeconds: 40 },
		[
			tooLarge,
			`is 900 × 300 px, ${sides}`,
			`is 900 × 300 px, ${ratio}`,
			'lasts 40 s, but must last 3 to 30 s',
		],
		11 * MEBIBYTE,
	],
	[
		{ format: 'webm', name: 'a WebM video', durationSeconds: 1 },
		[tooLarge, 'is a WebM video, but only MP4 or QuickTime is accepted'],
		11 * MEBIBYTE,
	],
	[{ kind: 'other' }, ['has no video track']],
])('a check says of a video with %j: %j', (facts, refused, size = 1000) => {
	expect(checkLimits(limits, { ...good, ...facts }, size)).toEqual(refused);
});

it('a check refuses nothing that it does not know', () => {
	expect(checkLimits(limits, undefined, 1)).toEqual([]);
});
