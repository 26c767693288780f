import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import {
	MEBIBYTE,
	checkLimits,
	type MediaLimits,
} from '../../../nodes/MediaGeneration/media/limits';
import { names, openMedia, readMedia } from '../../media/corpus.cts';

const image: MediaLimits = {
	formats: ['jpeg', 'png'],
	maxBytes: 10 * MEBIBYTE,
	minSide: 340,
	aspect: { min: 2 / 5, max: 5 / 2 },
};
const video: MediaLimits = {
	...image,
	formats: ['mp4', 'quicktime'],
	maxBytes: 100 * MEBIBYTE,
	duration: { min: 3, max: 30 },
};

/** Format, width × height and seconds, as far as they are known: "mp4 480x360 4s". */
async function describeFile(file: Parameters<typeof inspect>[0]): Promise<string> {
	const facts = await inspect(file);
	if (!facts) return 'unknown';
	const { format, kind, width, height, durationSeconds } = facts;
	const size = width && height ? ` ${width}x${height}` : '';
	const sound = kind === 'other' && format === 'mp4' ? ' without video' : '';
	return format + sound + size + (durationSeconds === undefined ? '' : ` ${durationSeconds}s`);
}

const narrow = 'both sides must be greater than 340 px';
const beyond = 'but it must be from 2:5 to 5:2';
const noImage = 'but only JPEG or PNG is accepted';
const noVideo = 'but only MP4 or QuickTime is accepted';

/** File, facts, and its verdict: what it is refused for, "?" and what is unknown, or "accepted". */
const images: Array<[string, string, string]> = [
	['baseline.jpg', 'jpeg 480x360', 'accepted'],
	['progressive.jpg', 'jpeg 480x360', 'accepted'],
	['cmyk.jpg', 'jpeg 480x360', 'accepted'],
	['grey.jpg', 'jpeg 480x360', 'accepted'],
	['exif-3.jpg', 'jpeg 480x360', 'accepted'],
	['exif-6.jpg', 'jpeg 360x480', 'accepted'],
	['exif-6-little-endian.jpg', 'jpeg 360x480', 'accepted'],
	['exif-8.jpg', 'jpeg 360x480', 'accepted'],
	['thumbnail.jpg', 'jpeg 360x480', 'accepted'],
	['small.jpg', 'jpeg 320x240', `is 320 × 240 px, but ${narrow}`],
	['side-340.jpg', 'jpeg 340x340', `is 340 × 340 px, but ${narrow}`],
	['side-341.jpg', 'jpeg 341x341', 'accepted'],
	['5-to-2-but-340-high.jpg', 'jpeg 850x340', `is 850 × 340 px, but ${narrow}`],
	['5-to-2.jpg', 'jpeg 855x342', 'accepted'],
	['beyond-5-to-2.jpg', 'jpeg 856x342', `has an aspect ratio of 2.503:1 (856 × 342 px), ${beyond}`],
	['2-to-5.jpg', 'jpeg 342x855', 'accepted'],
	['beyond-2-to-5.jpg', 'jpeg 342x856', `has an aspect ratio of 1:2.503 (342 × 856 px), ${beyond}`],
	['truncated-before-size.jpg', 'jpeg', '? width and height'],
	['truncated-after-size.jpg', 'jpeg 480x360', 'accepted'],
	['plain.png', 'png 480x360', 'accepted'],
	['interlaced.png', 'png 480x360', 'accepted'],
	['palette.png', 'png 480x360', 'accepted'],
	['alpha.png', 'png 480x360', 'accepted'],
	['side-340.png', 'png 340x340', `is 340 × 340 px, but ${narrow}`],
	['side-341.png', 'png 341x341', 'accepted'],
	['png-named.jpg', 'png 480x360', 'accepted'],
	['truncated.png', 'png', '? width and height'],
	['image.gif', 'gif', `is a GIF image, ${noImage}`],
	['image.webp', 'webp', `is a WebP image, ${noImage}`],
	['image.tif', 'tiff', `is a TIFF image, ${noImage}`],
	['image.bmp', 'bmp', `is a BMP image, ${noImage}`],
	['image.avif', 'avif', `is an AVIF image, ${noImage}`],
	['document.pdf', 'pdf', `is a PDF document, ${noImage}`],
	['page.html', 'html', `is a web page, ${noImage}`],
	['words.txt', 'text', `is a text file, ${noImage}`],
	['empty.bin', 'unknown', 'is empty'],
];

const videos: typeof images = [
	['plain.mp4', 'mp4 480x360 4s', 'accepted'],
	['faststart.mp4', 'mp4 480x360 4s', 'accepted'],
	['hevc.mp4', 'mp4 480x360 4s', 'accepted'],
	['mpeg4.mp4', 'mp4 480x360 4s', 'accepted'],
	['anamorphic.mp4', 'mp4 480x360 4s', 'accepted'],
	['29.97-fps.mp4', 'mp4 480x360 4.004s', 'accepted'],
	['longer-sound.mp4', 'mp4 480x360 4s', 'accepted'],
	['edit-list.mp4', 'mp4 480x360 4s', 'accepted'],
	['rotated-90.mp4', 'mp4 360x480 4s', 'accepted'],
	['rotated-180.mp4', 'mp4 480x360 4s', 'accepted'],
	['rotated-270.mp4', 'mp4 360x480 4s', 'accepted'],
	['64-bit-size.mp4', 'mp4 480x360 4s', 'accepted'],
	['64-bit-times.mp4', 'mp4 480x360 4s', 'accepted'],
	['lasts-2.mp4', 'mp4 480x360 2s', 'lasts 2 s, but must last 3 to 30 s'],
	['lasts-3.mp4', 'mp4 480x360 3s', 'accepted'],
	['lasts-30.mp4', 'mp4 480x360 30s', 'accepted'],
	['lasts-31.mp4', 'mp4 480x360 31s', 'lasts 31 s, but must last 3 to 30 s'],
	['small.mp4', 'mp4 320x240 4s', `is 320 × 240 px, but ${narrow}`],
	['5-to-2.mp4', 'mp4 860x344 4s', 'accepted'],
	[
		'beyond-5-to-2.mp4',
		'mp4 862x344 4s',
		`has an aspect ratio of 2.506:1 (862 × 344 px), ${beyond}`,
	],
	['fragmented.mp4', 'mp4 480x360', '? duration'],
	['fragmented-from-start.mp4', 'mp4 480x360', '? duration'],
	['truncated-before-moov.mp4', 'mp4', '? width and height, duration'],
	['truncated-in-moov.mp4', 'mp4', '? width and height, duration'],
	['video.3gp', 'mp4 352x288 4s', `is 352 × 288 px, but ${narrow}`],
	['quicktime.mov', 'quicktime 480x360 4s', 'accepted'],
	['mjpeg.mov', 'quicktime 480x360 4s', 'accepted'],
	['rotated.mov', 'quicktime 360x480 4s', 'accepted'],
	['without-ftyp.mov', 'quicktime 480x360 4s', 'accepted'],
	['only-sound.mp4', 'mp4 without video', 'has no video track'],
	['only-sound.m4a', 'm4a', `is M4A sound, ${noVideo}`],
	['video.webm', 'webm', `is a WebM video, ${noVideo}`],
	['video.mkv', 'matroska', `is a Matroska video, ${noVideo}`],
	['video.avi', 'avi', `is an AVI video, ${noVideo}`],
];

describe('inspect', () => {
	it.each([
		...images.map((row) => [...row, image] as const),
		...videos.map((row) => [...row, video] as const),
	])('reads %s as %s, and judges it: %s', async (name, facts, verdict, limits) => {
		const bytes = readMedia(name);
		expect(await describeFile([bytes])).toBe(facts);
		const { refused, unknown } = checkLimits(limits, await inspect([bytes]), bytes.length);
		const verdicts = unknown.length > 0 ? [...refused, `? ${unknown.join(', ')}`] : refused;
		expect(verdicts.join('; ') || 'accepted').toBe(verdict);
	});

	it('knows a verdict for every file of the corpus', () => {
		expect([...images, ...videos].map(([name]) => name).sort()).toEqual([...names].sort());
	});

	it.each([1, 7, 1000])('reads the same in chunks of %d bytes', async (length) => {
		function* chunks(bytes: Buffer) {
			for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
		}
		for (const [name, facts] of [...images, ...videos])
			expect([name, await describeFile(chunks(readMedia(name)))]).toEqual([name, facts]);
	});

	it('reads the same from the streams that n8n gives', async () => {
		for (const [name, facts] of [...images, ...videos])
			expect([name, await describeFile(openMedia(name))]).toEqual([name, facts]);
	});

	it('gives the MIME type of the bytes, whatever the name says', async () => {
		expect(await inspect([readMedia('png-named.jpg')])).toMatchObject({ mimeType: 'image/png' });
	});

	it('closes the stream once it knows', async () => {
		const stream = openMedia('thumbnail.jpg', 64);
		await inspect(stream);
		expect(stream.destroyed).toBe(true);
		expect(stream.bytesRead).toBeLessThan(readMedia('thumbnail.jpg').length - 500);
	});

	it('passes on what the stream throws', async () => {
		const cut = async function* () {
			yield readMedia('plain.mp4').subarray(0, 200);
			throw new Error('connection lost');
		};
		await expect(inspect(cut())).rejects.toThrow('connection lost');
	});
});
