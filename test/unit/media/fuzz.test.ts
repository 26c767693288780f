import fc from 'fast-check';
import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import { names, readMedia } from '../../media/corpus.cts';
import { box, cut, serve } from './files';

const INPUTS = 20_000;
const MEBIBYTE = 1024 * 1024;
/** The bytes that `inspect` says it passes at most, one chunk and one peek more. */
const MOST_READ = (256 + 4 + 1) * MEBIBYTE;
/** In larger files most changes would hit samples, which nobody reads. */
const LARGEST = 4096;

const corpus = names.map(readMedia).filter(({ length }) => length <= LARGEST);
const readable = corpus.filter((bytes) => /ftyp|moov|\xff\xd8|PNG/.test(bytes.toString('latin1')));
const type = fc.constantFrom(
	...'ftyp moov mvhd mvex mehd trak tkhd mdia mdhd hdlr minf stbl stsd mdat free'.split(' '),
);
const size = fc.oneof(
	fc.constantFrom(0, 1, 2, 7, 8, 9, 15, 16, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff),
	fc.nat(0xffffffff),
);
/** Most fields stand near the start. */
const place = fc.oneof(fc.nat(LARGEST), fc.nat(512));

/** Writes a number of this many bytes over others, if they are there. */
function overwrite(bytes: Buffer, at: number, value: number, length = 4): Buffer {
	if (at < 0 || at + length > bytes.length) return bytes;
	const broken = Buffer.from(bytes);
	broken.writeUIntBE(value, at, length);
	return broken;
}

const insert = (bytes: Buffer, at: number, piece: Buffer) =>
	Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);

const anyBox = fc
	.tuple(type, fc.uint8Array({ maxLength: 100 }), fc.option(size, { freq: 2 }))
	.map(([name, content, claim]) => {
		const made = box(name, content);
		return claim === null ? made : overwrite(made, 0, claim);
	});

const anyMutation = fc.oneof(
	fc
		.array(fc.tuple(place, fc.nat(255)), { maxLength: 20 })
		.map(
			(writes) => (bytes: Buffer) =>
				writes.reduce((all, [at, value]) => overwrite(all, at, value, 1), bytes),
		),
	place.map((end) => (bytes: Buffer) => bytes.subarray(0, end)),
	fc.tuple(place, size).map(
		([at, value]) =>
			(bytes: Buffer) =>
				overwrite(bytes, at, value),
	),
	// The size of a box, or one of its first fields; or the length of a segment, or what is in it.
	fc.tuple(fc.oneof(type, fc.constant('\xff')), place, fc.constantFrom(-4, -4, 2, 4, 8), size).map(
		([name, from, offset, value]) =>
			(bytes: Buffer) =>
				overwrite(bytes, bytes.indexOf(name, from, 'latin1') + offset, value),
	),
	// A piece of itself, or of another file.
	fc.tuple(place, fc.option(fc.constantFrom(...corpus), { freq: 2 }), place, place).map(
		([at, other, from, length]) =>
			(bytes: Buffer) =>
				insert(bytes, at, (other ?? bytes).subarray(from, from + length)),
	),
	fc.tuple(place, anyBox).map(
		([at, made]) =>
			(bytes: Buffer) =>
				insert(bytes, at, made),
	),
	fc.array(anyBox, { maxLength: 30 }).map((boxes) => () => Buffer.concat(boxes)),
);

/** Tails of files without end, each a chunk that repeats. */
const tails = [0, 0xff, box('free')].map((fill) => Buffer.alloc(4 * MEBIBYTE, fill));

/** A file that is broken by some of the mutations in turn, and perhaps goes on without end. */
const brokenFile = fc.record({
	original: fc.constantFrom(...readable),
	mutations: fc.array(anyMutation, { minLength: 1, maxLength: 3 }),
	tail: fc.oneof(
		{ weight: 49, arbitrary: fc.constant(-1) },
		{ weight: 1, arbitrary: fc.nat(tails.length - 1) },
	),
	chunkSize: fc.constantFrom(100, 1000, 100_000),
});

it(`reads ${INPUTS} broken files within its bounds`, async () => {
	const isRead = fc.asyncProperty(brokenFile, async ({ original, mutations, tail, chunkSize }) => {
		const bytes = mutations.reduce<Buffer>((broken, mutate) => mutate(broken), original);
		const { file, state } = serve(cut(bytes, chunkSize), tails[tail]);
		const { width = 1, height = 1, durationSeconds = 1 } = (await inspect(file)) ?? {};
		// A matcher for each would take seconds.
		return (
			[width, height].every((side) => Number.isInteger(side) && side > 0) &&
			Number.isFinite(durationSeconds) &&
			durationSeconds > 0 &&
			state.closed &&
			state.read <= MOST_READ
		);
	});
	await fc.assert(isRead, { numRuns: INPUTS });
});
