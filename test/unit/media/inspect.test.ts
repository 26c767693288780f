import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import type { Chunks } from '../../../nodes/MediaGeneration/media/reader';
import { names, readMedia } from '../../media/corpus.cts';
import { cut, serve } from './files';

/** Format, width × height and seconds, as far as they are known: "mp4 480x360 4s". */
async function describeFile(file: Chunks): Promise<string> {
	const facts = await inspect(file);
	if (!facts) return 'unknown';
	const { format, kind, width, height, durationSeconds } = facts;
	const size = width && height ? ` ${width}x${height}` : '';
	const sound = kind === 'other' && format === 'mp4' ? ' without video' : '';
	return format + sound + size + (durationSeconds === undefined ? '' : ` ${durationSeconds}s`);
}

const facts: Record<string, string> = {
	'baseline.jpg': 'jpeg 480x360',
	'thumbnail.jpg': 'jpeg 480x360',
	'plain.png': 'png 480x360',
	'side-341.png': 'png 341x341',
	'truncated.png': 'png',
	'image.gif': 'gif',
	'image.webp': 'webp',
	'image.avif': 'avif',
	'page.html': 'html',
	'words.txt': 'text',
	'empty.bin': 'unknown',
	'plain.mp4': 'mp4 480x360 4s',
	'faststart.mp4': 'mp4 480x360 4s',
	'hevc.mp4': 'mp4 480x360 4s',
	'29.97-fps.mp4': 'mp4 480x360 4.004s',
	'edit-list.mp4': 'mp4 480x360 4s',
	'64-bit-size.mp4': 'mp4 480x360 4s',
	'64-bit-times.mp4': 'mp4 480x360 4s',
	'fragmented.mp4': 'mp4 480x360',
	'quicktime.mov': 'quicktime 480x360 4s',
	'only-sound.mp4': 'mp4 without video',
	'only-sound.m4a': 'm4a',
	'video.webm': 'webm',
	'video.mkv': 'matroska',
};

it.each(names)('inspect reads %s, in chunks of any size', async (name) => {
	const file = readMedia(name);
	for (const length of [1, 7, 1_000, 100_000])
		expect(await describeFile(cut(file, length))).toBe(facts[name]);
});

it('inspect knows no size of a PNG with a side of 0', async () => {
	for (const side of [16, 20]) {
		const png = readMedia('plain.png');
		png.writeUInt32BE(0, side);
		expect(await describeFile([png])).toBe('png');
	}
});

it('inspect closes the stream once it knows', async () => {
	const bytes = readMedia('thumbnail.jpg');
	const { state, file } = serve(cut(bytes, 64));
	await inspect(file);
	expect(state.closed).toBe(true);
	expect(state.read).toBeLessThan(bytes.length - 500);
});

it('inspect passes on what the stream throws', async () => {
	const lost = async function* () {
		yield readMedia('plain.mp4').subarray(0, 200);
		throw new Error('connection lost');
	};
	await expect(inspect(lost())).rejects.toThrow('connection lost');
});
