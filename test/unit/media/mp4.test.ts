import { recognizeFormat } from '../../../nodes/MediaGeneration/media/formats';
import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import { box, numbers, serve } from './files';

const ftyp = box('ftyp', Buffer.from('isom'), numbers(4, 512), Buffer.from('isom'));
const format = recognizeFormat(ftyp);

const mvhd = box('mvhd', numbers(4, 0, 0, 0, 600, 6000));
const mvex = box('mvex', box('trex', Buffer.alloc(24)));

/** A track with the boxes that count. Its duration is in units of the movie. */
function trak({ shown = 600, version = 0 } = {}) {
	const times = version
		? [numbers(8, 0, 0), numbers(4, 1, 0), numbers(8, shown)]
		: [numbers(4, 0, 0, 1, 0, shown)];
	const entry = box('avc1', Buffer.alloc(24), numbers(2, 640, 480), Buffer.alloc(50));
	return box(
		'trak',
		box('tkhd', numbers(1, version, 0, 0, 0), ...times, Buffer.alloc(60)),
		box(
			'mdia',
			box('mdhd', numbers(4, 0, 0, 0, 1000, 9000)),
			box('hdlr', numbers(4, 0, 0), Buffer.from('vide'), Buffer.alloc(13)),
			box(
				'minf',
				box('hdlr', numbers(4, 0), Buffer.from('dhlralis'), Buffer.alloc(13)),
				box('stbl', box('stsd', numbers(4, 0, 1), entry)),
			),
		),
	);
}

const movie = box('moov', mvhd, trak());
const facts = async (...parts: Uint8Array[]) => await inspect([Buffer.concat([ftyp, ...parts])]);

/** The chunk of a file without end. */
const samples = Buffer.alloc(64 * 1024);

const unknown = { shown: -1 };

it.each<[string, Buffer[], number | undefined]>([
	['nothing, where a long one is unknown', [mvhd, trak({ ...unknown, version: 1 })], undefined],
	['nothing, where it is 0', [mvhd, trak({ shown: 0 })], undefined],
	['nothing, where fragments follow', [mvhd, trak(), mvex], undefined],
	['the longest track, the last', [mvhd, trak(unknown), trak({ shown: 1 }), trak()], 1],
])('the duration of an MP4 is taken from %s', async (_, boxes, durationSeconds) => {
	const read = await facts(box('moov', ...boxes));
	expect(read).toMatchObject({ kind: 'video', width: 640, height: 480 });
	expect(read?.durationSeconds).toBe(durationSeconds);
});

const manyBoxes = Array.from({ length: 10_000 }, () => box('free'));

it.each([['a video behind 10,000 boxes', box('moov', ...manyBoxes, trak())]])(
	'only the format is known of %s',
	async (_, rest) => {
		expect(await facts(rest)).toEqual(format);
	},
);

const begin = (size: number, type = 'mdat') =>
	Buffer.concat([ftyp, numbers(4, size), Buffer.from(type)]);

it('100 MB of samples are passed over to a movie box behind them', async () => {
	const chunks = Array.from({ length: 1_600 }, () => samples);
	const file = [begin(8 + 1_600 * samples.length), ...chunks, movie];
	expect(await inspect(file)).toMatchObject({ width: 640, durationSeconds: 1 });
});

it.each([
	['samples that are larger than any file', [begin(1), numbers(8, 2 ** 40)], samples, 1],
	['a movie box that is too large', [begin(2 ** 24, 'moov')], samples, 1],
])('nothing more is read where a file has %s', async (_, parts, end, most) => {
	const { state, file } = serve([Buffer.concat(parts)], end);
	expect(await inspect(file)).toEqual(format);
	expect(state.closed).toBe(true);
	expect(state.read).toBeLessThanOrEqual(most * end.length + 100);
});
