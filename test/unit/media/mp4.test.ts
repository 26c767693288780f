import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import { box, ftyp, header, numbers, trak } from './boxes';

const mvhd = header('mvhd', 600, 6000);
const movie = box('moov', mvhd, trak({ shown: 600 }));
const unknownMvhd = header('mvhd', 600, 0xffffffff);
const facts = async (...parts: Uint8Array[]) => await inspect([Buffer.concat([ftyp, ...parts])]);

/** A zero-filled file that counts what is read of it. */
function zeros(length: number, chunkSize = 64 * 1024) {
	const state = { read: 0, closed: false };
	async function* chunks(): AsyncGenerator<Uint8Array> {
		try {
			for (; state.read < length; state.read += chunkSize) yield new Uint8Array(chunkSize);
		} finally {
			state.closed = true;
		}
	}
	return { state, chunks };
}

describe('inspect of MP4', () => {
	it.each([
		['the track header, before the media’s', [mvhd, trak({ shown: 2400, media: 7000 })], 4],
		['the media header, where the track’s is unknown', [mvhd, trak({ media: 7000 })], 7],
		['the media header, where the track’s is 0', [mvhd, trak({ shown: 0, media: 7000 })], 7],
		['the movie header, where the others are unknown', [mvhd, trak()], 10],
		['a movie header behind the track', [trak({ shown: 2400 }), mvhd], 4],
		['a header behind the media', [mvhd, trak({ shown: 2400, media: 7000, reversed: true })], 4],
		['nothing, where all are unknown', [unknownMvhd, trak()], undefined],
		['nothing, where no time has a scale', [header('mvhd', 0, 6000), trak()], undefined],
		['nothing, without a movie header', [trak({ shown: 600 })], undefined],
		['the longest track, the first', [mvhd, trak({ shown: 1800 }), trak({ shown: 600 })], 3],
		['a track that has one', [unknownMvhd, trak(), trak({ shown: 600 }), trak()], 1],
		[
			'the longest video track, not sound',
			[mvhd, trak({ shown: 600 }), trak({ shown: 1800 }), trak({ shown: 6000, handler: 'soun' })],
			3,
		],
		[
			'mehd of a fragmented file',
			[mvhd, trak({ shown: 600 }), box('mvex', box('mehd', numbers(4, 0, 3000)))],
			5,
		],
		[
			'mehd of version 1',
			[
				mvhd,
				box('mvex', box('mehd', numbers(4, 0x01000000), numbers(8, 600 * 2 ** 33))),
				trak({ shown: 600 }),
			],
			2 ** 33,
		],
		[
			'nothing of a fragmented file without mehd',
			[mvhd, trak({ shown: 600 }), box('mvex', box('trex', Buffer.alloc(24)))],
			undefined,
		],
	])('takes the duration from %s', async (_, boxes, durationSeconds) => {
		const read = await facts(box('moov', ...boxes));
		expect(read).toMatchObject({ kind: 'video', width: 640 });
		expect(read?.durationSeconds).toBe(durationSeconds);
	});

	it('takes the size of the longest video track', async () => {
		const two = box('moov', mvhd, trak({ shown: 1 }), trak({ shown: 600, width: 1920 }));
		expect(await facts(two)).toMatchObject({ width: 1920, durationSeconds: 1 });
	});

	it('takes a track without anything for no video', async () => {
		expect(await facts(box('moov', mvhd, box('trak')))).toMatchObject({ kind: 'other' });
	});

	const sound = trak({ handler: 'soun' }).subarray(8);
	const claim = Buffer.concat([numbers(4, 0x7fffffff), Buffer.from('udta')]);

	it.each([
		['goes on to the end of the file', Buffer.concat([numbers(4, 0), movie.subarray(4)])],
		[
			'ends with four zeros, as its track does',
			box('moov', mvhd, box('trak', sound, numbers(4, 0)), trak(), numbers(4, 0)),
		],
		['has a box larger than its parent', box('moov', mvhd, box('trak', sound, claim), trak())],
	])('reads a movie box that %s', async (_, whole) => {
		expect(await facts(whole, box('free'))).toMatchObject({ width: 640 });
	});

	it.each([
		['a movie without tracks, as when it is compressed', box('moov', box('cmov'))],
		['a movie box that is cut off', box('moov', mvhd, trak()).subarray(0, -1)],
		['a movie header that is cut off', box('moov', mvhd).subarray(0, 20)],
		['a box smaller than its header', Buffer.concat([numbers(4, 7), Buffer.from('free'), movie])],
		[
			'a 64-bit size smaller than its header',
			Buffer.concat([numbers(4, 1), Buffer.from('free'), numbers(8, 15), movie]),
		],
		['a 64-bit size that is cut off', Buffer.concat([numbers(4, 1), Buffer.from('free1234')])],
		['samples to the end of the file', Buffer.concat([numbers(4, 0), Buffer.from('mdat')])],
		['tracks in the wrong place', box('trak', box('mdia', header('mdhd', 1000, 9000)))],
	])('knows no more than the format of %s', async (_, rest) => {
		expect(await facts(rest)).toEqual({ format: 'mp4', mimeType: 'video/mp4', kind: 'video' });
	});

	it('does not take any bytes with the name of a box for QuickTime', async () => {
		expect(await inspect([box('free', Buffer.alloc(100, 200))])).toBeUndefined();
	});

	it('passes over 100 MB of samples to a movie box behind them', async () => {
		const length = 100 * 1024 * 1024;
		const { state, chunks } = zeros(length);
		async function* file() {
			yield Buffer.concat([ftyp, numbers(4, 8 + length), Buffer.from('mdat')]);
			yield* chunks();
			yield movie;
		}
		expect(await inspect(file())).toMatchObject({ width: 640, durationSeconds: 1 });
		expect(state).toEqual({ read: length, closed: true });
	});

	it.each([
		['says that its samples are larger than any file', numbers(4, 1), numbers(8, 2 ** 62)],
		['says that its samples go on to the end', numbers(4, 0), Buffer.alloc(0)],
	])('does not read on when a file %s', async (_, size, long) => {
		const { state, chunks } = zeros(Infinity);
		async function* file() {
			yield Buffer.concat([ftyp, size, Buffer.from('mdat'), long]);
			yield* chunks();
		}
		expect(await inspect(file())).toMatchObject({ format: 'mp4' });
		expect(state.read).toBeLessThanOrEqual(64 * 1024);
	});

	it('gives up on a file of endless small boxes', async () => {
		let read = 0;
		function* file() {
			yield ftyp;
			for (;;) {
				read++;
				yield box('free');
			}
		}
		expect(await inspect(file())).toMatchObject({ format: 'mp4' });
		expect(read).toBeLessThanOrEqual(10_000);
	});

	it('opens no box within itself', async () => {
		let nested = box('moov', trak());
		for (let depth = 0; depth < 1000; depth++) nested = box('moov', nested);
		expect(await facts(nested)).toEqual({ format: 'mp4', mimeType: 'video/mp4', kind: 'video' });
	});
});
