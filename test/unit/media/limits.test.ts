import type { MediaFacts } from '../../../nodes/MediaGeneration/media/formats';
import {
	MEBIBYTE,
	checkLimits,
	type MediaLimits,
} from '../../../nodes/MediaGeneration/media/limits';

const limits: MediaLimits = {
	formats: ['mp4', 'quicktime'],
	maxBytes: 10 * MEBIBYTE,
	minSide: 340,
	aspect: { min: 2 / 5, max: 5 / 2 },
	duration: { min: 3, max: 30 },
};
const good: MediaFacts = {
	format: 'mp4',
	mimeType: 'video/mp4',
	kind: 'video',
	width: 1920,
	height: 1080,
	durationSeconds: 10,
};

const refused = (facts: Partial<MediaFacts>, size = 1000, more: Partial<MediaLimits> = {}) =>
	checkLimits({ ...limits, ...more }, { ...good, ...facts }, size).refused;

describe('checkLimits', () => {
	it.each([
		[10_000_000, []],
		[10 * MEBIBYTE, []],
		[10 * MEBIBYTE + 1, ['is 10.1 MB, but at most 10 MB are allowed']],
		[13_000_000, ['is 12.4 MB, but at most 10 MB are allowed']],
		[0, ['is empty']],
	])('judges a file of %d bytes', (size, expected) => {
		expect(refused({}, size)).toEqual(expected);
	});

	it.each([
		[2.1, ['lasts 2.1 s, but must last 3 to 30 s']],
		[2.89, ['lasts 2.9 s, but must last 3 to 30 s']],
		[2.9, []],
		[30.1, []],
		[30.12, ['lasts 30.1 s, but must last 3 to 30 s']],
	])('judges a video of %d seconds', (durationSeconds, expected) => {
		expect(refused({ durationSeconds })).toEqual(expected);
	});

	it.each([
		[340, 500, ['is 340 × 500 px, but both sides must be greater than 340 px']],
		[500, 340, ['is 500 × 340 px, but both sides must be greater than 340 px']],
		[1000, 400, []],
		[400, 1000, []],
		[1200, 400, ['has an aspect ratio of 3:1 (1200 × 400 px), but it must be from 2:5 to 5:2']],
		[400, 1200, ['has an aspect ratio of 1:3 (400 × 1200 px), but it must be from 2:5 to 5:2']],
		[1001, 400, ['has an aspect ratio of 2.502:1 (1001 × 400 px), but it must be from 2:5 to 5:2']],
	])('judges %d × %d px', (width, height, expected) => {
		expect(refused({ width, height })).toEqual(expected);
	});

	const tooLarge = 'is 11 MB, but at most 10 MB are allowed';

	it.each<[string, Partial<MediaFacts>, string[]]>([
		[
			'everything that is wrong',
			{ width: 900, height: 300, durationSeconds: 40 },
			[
				'is 900 × 300 px, but both sides must be greater than 340 px',
				'has an aspect ratio of 3:1 (900 × 300 px), but it must be from 2:5 to 5:2',
				'lasts 40 s, but must last 3 to 30 s',
			],
		],
		[
			'of another format only that, and the size',
			{ format: 'webm', durationSeconds: 1 },
			['is a WebM video, but only MP4 or QuickTime is accepted'],
		],
		[
			'the name of a format that it has no words for',
			{ format: 'xyz' },
			['is of the format xyz, but only MP4 or QuickTime is accepted'],
		],
		['that an MP4 has no picture', { kind: 'other' }, ['has no video track']],
	])('says %s', (_, facts, expected) => {
		expect(refused(facts, 11 * MEBIBYTE)).toEqual([tooLarge, ...expected]);
	});

	it('refuses nothing that it does not know', () => {
		expect(checkLimits(limits, undefined)).toEqual({
			refused: [],
			unknown: ['size', 'format', 'width and height', 'duration'],
		});
	});

	it.each([{ minSide: 340 }, { aspect: { min: 1, max: 1 } }])(
		'does not know the sides of a picture that has only one, for %j',
		(limit) => {
			const image = { ...good, height: undefined };
			expect(checkLimits({ formats: ['mp4'], maxBytes: 1, ...limit }, image, 1)).toEqual({
				refused: [],
				unknown: ['width and height'],
			});
		},
	);

	it.each([
		[1050, 1000, '21:20'],
		[1, 2 ** 31 - 1, '1:2147483647'],
	])('names the ratio of %d to %d', (width, height, ratio) => {
		const [message] = refused({ width, height }, 1, { minSide: 0, aspect: { min: 1, max: 1 } });
		expect(message).toContain(`has an aspect ratio of ${ratio} (`);
	});

	it('asks for nothing that is not limited', () => {
		const { format, mimeType, kind } = good;
		expect(checkLimits({ formats: ['mp4'], maxBytes: 1 }, { format, mimeType, kind }, 1)).toEqual({
			refused: [],
			unknown: [],
		});
	});
});
