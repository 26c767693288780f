import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import { names, openMedia, readMedia } from '../../media/corpus.cts';

/** Format, width × height and seconds, as far as they are known: "mp4 480x360 4s". */
async function describeFile(file: Parameters<typeof inspect>[0]): Promise<string> {
	const facts = await inspect(file);
	if (!facts) return 'unknown';
	const { format, kind, width, height, durationSeconds } = facts;
	const size = width && height ? ` ${width}x${height}` : '';
	const sound = kind === 'other' && format === 'mp4' ? ' without video' : '';
	return format + sound + size + (durationSeconds === undefined ? '' : ` ${durationSeconds}s`);
}

const files: Array<[name: string, facts: string]> = [
	['baseline.jpg', 'jpeg 480x360'],
	['progressive.jpg', 'jpeg 480x360'],
	['exif-3.jpg', 'jpeg 480x360'],
	['exif-6.jpg', 'jpeg 360x480'],
	['exif-6-little-endian.jpg', 'jpeg 360x480'],
	['thumbnail.jpg', 'jpeg 360x480'],
	['truncated-before-size.jpg', 'jpeg'],
	['truncated-after-size.jpg', 'jpeg 480x360'],
	['plain.png', 'png 480x360'],
	['side-340.png', 'png 340x340'],
	['side-341.png', 'png 341x341'],
	['png-named.jpg', 'png 480x360'],
	['truncated.png', 'png'],
	['image.gif', 'gif'],
	['image.webp', 'webp'],
	['image.tif', 'tiff'],
	['image.bmp', 'bmp'],
	['image.avif', 'avif'],
	['document.pdf', 'pdf'],
	['page.html', 'html'],
	['words.txt', 'text'],
	['empty.bin', 'unknown'],
	['plain.mp4', 'mp4 480x360 4s'],
	['faststart.mp4', 'mp4 480x360 4s'],
	['hevc.mp4', 'mp4 480x360 4s'],
	['mpeg4.mp4', 'mp4 480x360 4s'],
	['anamorphic.mp4', 'mp4 480x360 4s'],
	['29.97-fps.mp4', 'mp4 480x360 4.004s'],
	['longer-sound.mp4', 'mp4 480x360 4s'],
	['edit-list.mp4', 'mp4 480x360 4s'],
	['rotated-90.mp4', 'mp4 360x480 4s'],
	['rotated-180.mp4', 'mp4 480x360 4s'],
	['rotated-270.mp4', 'mp4 360x480 4s'],
	['64-bit-size.mp4', 'mp4 480x360 4s'],
	['64-bit-times.mp4', 'mp4 480x360 4s'],
	['lasts-31.mp4', 'mp4 480x360 31s'],
	['fragmented.mp4', 'mp4 480x360'],
	['fragmented-from-start.mp4', 'mp4 480x360'],
	['truncated-before-moov.mp4', 'mp4'],
	['truncated-in-moov.mp4', 'mp4'],
	['video.3gp', 'mp4 352x288 4s'],
	['quicktime.mov', 'quicktime 480x360 4s'],
	['mjpeg.mov', 'quicktime 480x360 4s'],
	['rotated.mov', 'quicktime 360x480 4s'],
	['without-ftyp.mov', 'quicktime 480x360 4s'],
	['only-sound.mp4', 'mp4 without video'],
	['only-sound.m4a', 'm4a'],
	['video.webm', 'webm'],
	['video.mkv', 'matroska'],
	['video.avi', 'avi'],
];

describe('inspect', () => {
	it.each(files)('reads %s as %s', async (name, facts) => {
		expect(await describeFile([readMedia(name)])).toBe(facts);
	});

	it('is tried with every file of the corpus', () => {
		expect(files.map(([name]) => name).sort()).toEqual([...names].sort());
	});

	it.each([1, 7, 1000])('reads the same in chunks of %d bytes', async (length) => {
		function* chunks(bytes: Buffer) {
			for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
		}
		for (const [name, facts] of files)
			expect([name, await describeFile(chunks(readMedia(name)))]).toEqual([name, facts]);
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
