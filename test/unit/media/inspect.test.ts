import {
	findLimitFault,
	inspect,
	type InspectedFile,
	type FileLimits,
} from '../../../nodes/MediaGeneration/media/inspect';
import type { Chunks } from '../../../nodes/MediaGeneration/media/reader';
import { names, readMedia } from '../../media/corpus.cts';

/** Cuts a file into chunks of this many bytes. */
function* cut(bytes: Buffer, length: number) {
	for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Extension, width × height and seconds, as far as they are known: "mp4 480x360 4s". */
async function describeFile(file: Chunks): Promise<string> {
	const { extension = 'unknown', width, height, durationSeconds } = (await inspect(file)) ?? {};
	const size = width && height ? ` ${width}x${height}` : '';
	return extension + size + (durationSeconds === undefined ? '' : ` ${durationSeconds}s`);
}

const facts: Record<string, string> = {
	'baseline.jpg': 'jpg 480x360',
	'thumbnail.jpg': 'jpg 480x360',
	'plain.png': 'png 480x360',
	'side-341.png': 'png 341x341',
	'truncated.png': 'png',
	'image.gif': 'gif',
	'image.webp': 'webp',
	'image.avif': 'avif',
	'page.html': 'html',
	'words.txt': 'txt',
	'empty.bin': 'unknown',
	'plain.mp4': 'mp4 480x360 4s',
	'faststart.mp4': 'mp4 480x360 4s',
	'hevc.mp4': 'mp4 480x360 4s',
	'29.97-fps.mp4': 'mp4 480x360 4.004s',
	'edit-list.mp4': 'mp4 480x360 4s',
	'64-bit-size.mp4': 'mp4 480x360 4s',
	'64-bit-times.mp4': 'mp4 480x360',
	'fragmented.mp4': 'mp4 480x360',
	'quicktime.mov': 'mov 480x360 4s',
	'only-sound.mp4': 'm4a',
	'only-sound.m4a': 'm4a',
	'video.webm': 'webm',
	'video.mkv': 'mkv',
};

it.each(names)('inspect reads %s, in chunks of any size', async (name) => {
	const file = readMedia(name);
	for (const length of [1, 1_000, 100_000])
		expect(await describeFile(cut(file, length))).toBe(facts[name]);
});

it('inspect passes on what the stream throws', async () => {
	const lost = async function* () {
		yield readMedia('plain.mp4').subarray(0, 200);
		throw new Error('connection lost');
	};
	await expect(inspect(lost())).rejects.toThrow('connection lost');
});

/** Big-endian numbers of this many bytes each. */
const numbers = (length: number, ...values: number[]): Buffer =>
	Buffer.from(values.map((value) => value.toString(16).padStart(2 * length, '0')).join(''), 'hex');

describe('a JPEG image', () => {
	const segment = (code: number, content = Buffer.alloc(0)): Buffer =>
		Buffer.concat([numbers(1, 0xff, code), numbers(2, 2 + content.length), content]);
	const frame = (code = 0xc0, width = 640, height = 480) =>
		segment(code, Buffer.concat([numbers(1, 8), numbers(2, height, width), numbers(1, 0)]));
	/** Begins with an empty segment, because the byte behind the first two decides that it is a JPEG. */
	const describeParts = async (...parts: Uint8Array[]) =>
		await describeFile([Buffer.concat([numbers(1, 0xff, 0xd8), segment(0xfe), ...parts])]);

	it.each([0xc0, 0xc3, 0xcf])('has the size of the frame header %#x', async (code) => {
		expect(await describeParts(frame(code))).toBe('jpg 640x480');
	});

	it.each([0xc4, 0xcc, 0xef])('has none of the segment %#x, nor of fill bytes', async (code) => {
		const fill = Buffer.alloc(100, 0xff);
		expect(await describeParts(frame(code, 1, 1), fill, frame())).toBe('jpg 640x480');
	});

	it.each([
		['a height that stands at the end', [frame(0xc0, 640, 0)]],
		['no marker', [numbers(1, 0, 0), frame()]],
		['a cut within the frame header', [frame().subarray(0, 8)]],
		['a megabyte before it', [Buffer.alloc(1024 * 1024, 0xff), frame()]],
	])('has no known size with %s', async (_, parts) => {
		expect(await describeParts(...parts)).toBe('jpg');
	});
});

describe('an MP4 video', () => {
	/** A box with a 32-bit size, from the parts of its content. */
	function box(type: string, ...parts: Uint8Array[]): Buffer {
		const content = Buffer.concat(parts);
		return Buffer.concat([numbers(4, 8 + content.length), Buffer.from(type, 'latin1'), content]);
	}
	const ftyp = box('ftyp', Buffer.from('isom'), numbers(4, 512), Buffer.from('isom'));
	const begin = (size: number, type = 'mdat') =>
		Buffer.concat([ftyp, numbers(4, size), Buffer.from(type)]);
	const mvhd = (units: number) => box('mvhd', numbers(4, 0, 0, 0, 600, units));
	const entry = box('avc1', Buffer.alloc(24), numbers(2, 640, 480), Buffer.alloc(50));
	const video = box(
		'mdia',
		box('hdlr', numbers(4, 0, 0), Buffer.from('vide'), Buffer.alloc(13)),
		box('minf', box('stbl', box('stsd', numbers(4, 0, 1), entry))),
	);
	const movie = box('moov', mvhd(600), box('trak', video));

	it.each<[string, ...Buffer[]]>([
		['is unknown', mvhd(2 ** 32 - 1)],
		['is that of the first fragment', mvhd(600), box('mvex', box('trex', Buffer.alloc(24)))],
	])('has no known duration where what its header says %s', async (_, ...boxes) => {
		const file = [ftyp, box('moov', ...boxes, box('trak', video))];
		expect(await describeFile(file)).toBe('mp4 640x480');
	});

	it.each([
		['with a track that says nothing of itself', [ftyp, box('moov', mvhd(600), box('trak'))]],
		['behind 10,000 boxes', [ftyp, ...Array<Buffer>(10_000).fill(box('free')), movie]],
		['in a file that is cut', [ftyp, movie.subarray(0, -1)]],
	])('%s has no known facts', async (_, parts) => {
		expect(await describeFile([Buffer.concat(parts)])).toBe('mp4');
	});

	/** Serves a file without end, and counts what is read. */
	function serve(head: Buffer, end: Buffer) {
		const state = { read: 0, closed: false };
		function* file() {
			try {
				for (yield head; ; yield end) state.read++;
			} finally {
				state.closed = true;
			}
		}
		return { state, file: file() };
	}

	const samples = Buffer.alloc(64 * 1024);
	it.each([
		['of samples that are larger than any file', [begin(1), numbers(4, 256, 0)], 1],
		['of a movie box that is too large', [begin(2 ** 24, 'moov')], 1],
		['behind 100 MB of samples', [begin(8 + 1_600 * samples.length)], 1_601],
	])('%s is read so far, and then closed', async (_, head, most) => {
		const { state, file } = serve(Buffer.concat(head), samples);
		expect(await describeFile(file)).toBe('mp4');
		expect(state).toEqual({ read: expect.any(Number) as number, closed: true });
		expect(state.read).toBeLessThanOrEqual(most);
	});
});

describe('limits', () => {
	const limits: FileLimits = {
		formats: ['MP4', 'MOV'],
		maxMegabytes: 10,
		minSide: 340,
		aspect: [5, 2],
		duration: { min: 3, max: 30 },
	};
	const MEBIBYTE = 1024 * 1024;
	const format = { extension: 'mp4', mimeType: 'video/mp4' };
	const good = { ...format, width: 1920, height: 1080, durationSeconds: 10 };
	const ratio = 'but its aspect ratio must be from 2:5 to 5:2';

	it.each<[Partial<InspectedFile>, string | undefined, number?]>([
		[{}, undefined, 10 * MEBIBYTE],
		[{ width: 1 }, 'is 10.1 MB, but at most 10 MB are allowed', 10 * MEBIBYTE + 1],
		[{ durationSeconds: 2.89 }, 'lasts 2.9 s, but must last 3 to 30 s'],
		[{ durationSeconds: 30.1 }, undefined],
		[{ width: 340, height: 500 }, 'is 340 × 500 px, but both sides must be greater than 340 px'],
		[{ width: 1000, height: 400 }, undefined],
		[{ width: 1001, height: 400 }, `is 1001 × 400 px, ${ratio}`],
		[{ height: 0, durationSeconds: undefined }, undefined],
		[{ extension: 'webm' }, 'has the format WEBM, but only MP4 or MOV is accepted'],
	])('say of a video with %j: %j', (facts, fault, size = 1000) => {
		expect(findLimitFault(limits, { ...good, ...facts }, size)).toBe(fault);
	});

	it('say nothing of an unknown format', () => {
		expect(findLimitFault(limits, undefined, 1)).toBeUndefined();
	});
});
