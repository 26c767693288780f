import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import { names, readMedia } from '../../media/corpus.cts';
import { box } from './boxes';

const INPUTS = 20_000;
const MEBIBYTE = 1024 * 1024;
/** The bytes that `inspect` says it passes at most, one chunk and one peek more. */
const MOST_READ = (256 + 4 + 1) * MEBIBYTE;
const MOST_CHUNKS = 10_000;
/** In larger files most changes would hit samples, which nobody reads. */
const LARGEST = 4096;

const corpus = names.map(readMedia).filter(({ length }) => length <= LARGEST);
const readable = corpus.filter((bytes) => /ftyp|moov|\xff\xd8|PNG/.test(bytes.toString('latin1')));
const types = 'ftyp moov mvhd mvex mehd trak tkhd mdia mdhd hdlr minf stbl stsd mdat free'.split(
	' ',
);
const sizes = [0, 1, 2, 7, 8, 9, 15, 16, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff];

/** Numbers that a seed decides (mulberry32). */
class Chance {
	constructor(private state: number) {}

	/** A whole number from 0, less than `end`. */
	below(end: number) {
		this.state = (this.state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
	}

	of<T>(choices: readonly T[]) {
		return choices[this.below(choices.length)] as T;
	}

	bytes(end: number) {
		return Buffer.from(Array.from({ length: this.below(end) }, () => this.below(256)));
	}

	slice(bytes: Buffer) {
		const start = this.below(bytes.length + 1);
		return bytes.subarray(start, start + this.below(bytes.length - start + 1));
	}
}

/** Breaks a file, whose bytes it may overwrite. */
type Mutation = (bytes: Buffer, chance: Chance) => Buffer;

const insert: (piece: Mutation) => Mutation = (piece) => (bytes, chance) => {
	const at = chance.below(bytes.length + 1);
	return Buffer.concat([bytes.subarray(0, at), piece(bytes, chance), bytes.subarray(at)]);
};

const randomBox: Mutation = (_, chance) => {
	const made = box(chance.of(types), chance.bytes(100));
	if (chance.below(3) === 0) made.writeUInt32BE(chance.of(sizes));
	return made;
};

const mutations: Record<string, Mutation> = {
	bits(bytes, chance) {
		for (let flips = chance.below(20); flips >= 0 && bytes.length > 0; flips--) {
			const at = chance.below(chance.below(2) ? bytes.length : Math.min(bytes.length, 64));
			bytes.writeUInt8((bytes[at] ?? 0) ^ (1 << chance.below(8)), at);
		}
		return bytes;
	},
	truncation: (bytes, chance) => bytes.subarray(0, chance.below(bytes.length + 1)),
	boxSize(bytes, chance) {
		const at = bytes.indexOf(chance.of(types), chance.below(bytes.length + 1), 'latin1');
		if (at >= 4) bytes.writeUInt32BE(chance.of([...sizes, chance.below(2 ** 32)]), at - 4);
		if (at >= 4 && at + 12 <= bytes.length && chance.below(3) === 0)
			bytes.writeUInt32BE(chance.of(sizes), at + 4 + 4 * chance.below(2));
		return bytes;
	},
	segmentSize(bytes, chance) {
		const at = bytes.indexOf(0xff, chance.below(bytes.length + 1));
		if (at >= 0 && at + 4 <= bytes.length)
			bytes.writeUInt16BE(chance.of([0, 1, 2, 3, 0xffff, chance.below(2 ** 16)]), at + 2);
		return bytes;
	},
	field(bytes, chance) {
		if (bytes.length >= 4) bytes.writeUInt32BE(chance.of(sizes), chance.below(bytes.length - 3));
		return bytes;
	},
	loop: insert((bytes, chance) => chance.slice(bytes)),
	splice: insert((_, chance) => chance.slice(chance.of(corpus))),
	box: insert(randomBox),
	nest(bytes, chance) {
		let nested = bytes;
		for (let depth = chance.below(50); depth > 0; depth--) nested = box(chance.of(types), nested);
		return Buffer.concat([chance.below(2) ? bytes.subarray(0, 64) : Buffer.alloc(0), nested]);
	},
	boxesOnly: (_, chance) =>
		Buffer.concat(
			Array.from({ length: chance.below(30) }, () => randomBox(Buffer.alloc(0), chance)),
		),
};

/** Tails of inputs without end, each a chunk that repeats. */
const tails = [0, 0xff, box('free')].map((fill) => Buffer.alloc(4 * MEBIBYTE, fill));

/** A file that is broken by some of the mutations in turn, and perhaps goes on without end. */
function makeFile(chance: Chance) {
	let bytes: Buffer = chance.of(readable);
	for (let rounds = chance.below(3); rounds >= 0; rounds--)
		bytes = chance.of(Object.values(mutations))(Buffer.from(bytes), chance);
	const tail = chance.below(50) === 0 ? chance.of(tails) : undefined;
	return { bytes, tail, chunkSize: chance.of([100, 1000, 100_000]) };
}

/** Serves a file, and counts what is read of it. */
function serve({ bytes, tail, chunkSize }: ReturnType<typeof makeFile>) {
	const state = { read: 0, chunks: 0, closed: false };
	const count = (chunk: Buffer) => {
		state.read += chunk.length;
		if (++state.chunks > MOST_CHUNKS) throw new Error(`reads more than ${MOST_CHUNKS} chunks`);
		return chunk;
	};
	function* file() {
		try {
			for (let at = 0; at < bytes.length; at += chunkSize)
				yield count(bytes.subarray(at, at + chunkSize));
			while (tail) yield count(tail);
		} finally {
			state.closed = true;
		}
	}
	return { state, file: file() };
}

/** Reads the file that a seed makes. @throws {Error} when it is read wrongly, or not within the bounds */
async function readBroken(seed: number) {
	const { file, state } = serve(makeFile(new Chance(seed)));
	const facts = await inspect(file);
	const { width = 1, height = 1, durationSeconds = 1 } = facts ?? {};
	if (![width, height].every((side) => Number.isInteger(side) && side > 0))
		throw new Error(`sides of ${width} and ${height}`);
	if (!(Number.isFinite(durationSeconds) && durationSeconds > 0))
		throw new Error(`lasts ${durationSeconds}`);
	if (!state.closed) throw new Error('leaves the stream open');
	if (state.read > MOST_READ) throw new Error(`reads ${state.read} bytes`);
}

it(`reads ${INPUTS} broken files within its bounds`, async () => {
	const faults: string[] = [];
	for (let seed = 0; seed < INPUTS && faults.length < 10; seed++)
		await readBroken(seed).catch((error) => faults.push(`seed ${seed}: ${error}`));
	expect(faults).toEqual([]);
});
