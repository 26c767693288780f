import type { Dimensions, MediaFacts } from './formats';
import type { Reader } from './reader';

/** The most boxes to read. No encoder writes more before the end of the tracks. */
const MOST_BOXES = 10_000;

/** The boxes that are opened, each in its parent. All others are skipped, which bounds the depth. */
const OPENED = new Set(['/moov', 'moov/trak', 'trak/mdia', 'mdia/minf', 'minf/stbl', 'moov/mvex']);

/** The boxes that are read, and how many bytes of each: up to the last field that counts. */
const READ: Record<string, number> = {
	'moov/mvhd': 32,
	'trak/tkhd': 96,
	'mdia/mdhd': 32,
	'mdia/hdlr': 12,
	'stbl/stsd': 44,
	'mvex/mehd': 12,
};

const LONGEST = Math.max(...Object.values(READ));

/** The first bytes of the boxes in `READ`, by path. Shorter boxes are filled up with zeros. */
type Boxes = Partial<Record<string, Buffer>>;

interface Movie {
	boxes: Boxes;
	tracks: Boxes[];
}

/**
 * Facts of the ISO base media file format (ISO/IEC 14496-12) and of QuickTime. Samples before the movie box are skipped.
 * Undefined when the movie box is missing or incomplete.
 */
export async function readMp4(reader: Reader): Promise<Partial<MediaFacts> | undefined> {
	const movie = await readMovie(reader);
	if (!movie) return undefined;
	if (movie.tracks.length === 0) return {};
	const [video] = movie.tracks
		.filter((track) => track['mdia/hdlr']?.toString('latin1', 8, 12) === 'vide')
		.map((track) => ({ ...readSize(track), durationSeconds: readDuration(movie, track) }))
		.sort((one, other) => (other.durationSeconds ?? 0) - (one.durationSeconds ?? 0));
	return video ?? { kind: 'other' };
}

/** Walks the boxes, forward only, to the end of `moov`. */
async function readMovie(reader: Reader): Promise<Movie | undefined> {
	const movie: Movie = { boxes: {}, tracks: [] };
	let boxes = movie.boxes;
	const open = [{ type: '', end: Infinity }];
	for (let count = 0; count < MOST_BOXES; count++) {
		const parent = open.at(-1) as { type: string; end: number };
		if (parent.end - reader.position < 8) {
			await reader.skipTo(parent.end);
			if (parent.type === 'moov') return movie;
			if (parent.type === 'trak') boxes = movie.boxes;
			open.pop();
			continue;
		}
		const box = await readHeader(reader, parent.end);
		if (!box) return open[1]?.end === Infinity ? movie : undefined;
		const path = `${parent.type}/${box.type}`;
		if (OPENED.has(path)) {
			if (box.type === 'trak') movie.tracks.push((boxes = {}));
			boxes[path] = Buffer.alloc(0);
			open.push(box);
			continue;
		}
		const length = Math.min(READ[path] ?? 0, box.end - reader.position);
		if (length > 0) {
			const bytes = await reader.take(length);
			if (!bytes) return undefined;
			boxes[path] = Buffer.concat([bytes], LONGEST);
		}
		if (!(await reader.skipTo(box.end))) return undefined;
	}
	return undefined;
}

/** A box's type and its end, at most the end of its parent. Undefined where no box can be. */
async function readHeader(
	reader: Reader,
	parentEnd: number,
): Promise<{ type: string; end: number } | undefined> {
	const start = reader.position;
	const header = await reader.take(8);
	if (!header) return undefined;
	const type = header.toString('latin1', 4, 8);
	let length = header.readUInt32BE(0);
	if (length === 0) return { type, end: parentEnd };
	if (length === 1) {
		const long = await reader.take(8);
		if (!long) return undefined;
		length = readUint64(long, 0);
	}
	const end = start + length;
	return end < reader.position ? undefined : { type, end: Math.min(end, parentEnd) };
}

const readUint64 = (bytes: Buffer, at: number): number =>
	bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);

/** Reads the seconds of a number of time units; undefined when they are unknown (0, or all bits set). */
function readSeconds(
	box: Buffer | undefined,
	[at, atInVersion1]: [number, number],
	scale: number,
): number | undefined {
	if (!box || scale === 0) return undefined;
	const version1 = box[0] === 1;
	const units = version1 ? readUint64(box, atInVersion1) : box.readUInt32BE(at);
	return units === 0 || units === (version1 ? 2 ** 64 : 2 ** 32 - 1) ? undefined : units / scale;
}

/** Time units per second of `mvhd` or `mdhd`; 0 when unknown. */
const readTimescale = (box: Buffer | undefined): number =>
	box?.readUInt32BE(box[0] === 1 ? 20 : 12) ?? 0;

/**
 * Reads how long a player shows a track, in seconds. The track's header includes edits; the media's own duration does
 * not. In a fragmented file the samples come later, and only `mehd` has the duration.
 */
function readDuration({ boxes }: Movie, track: Boxes): number | undefined {
	const movieScale = readTimescale(boxes['moov/mvhd']);
	if (boxes['moov/mvex']) return readSeconds(boxes['mvex/mehd'], [4, 4], movieScale);
	const media = track['mdia/mdhd'];
	return (
		readSeconds(track['trak/tkhd'], [20, 28], movieScale) ??
		readSeconds(media, [16, 24], readTimescale(media)) ??
		readSeconds(boxes['moov/mvhd'], [16, 24], movieScale)
	);
}

/** Width and height of a track's samples in px, turned as the track's matrix says. */
function readSize(track: Boxes): Dimensions {
	const header = track['trak/tkhd'];
	const samples = track['stbl/stsd'];
	const [width, height] = [samples?.readUInt16BE(40), samples?.readUInt16BE(42)];
	if (!width || !height) return {};
	const matrix = header?.[0] === 1 ? 52 : 40;
	const [a = 1, b = 0] = [header?.readInt32BE(matrix), header?.readInt32BE(matrix + 4)];
	return Math.abs(b) > Math.abs(a) ? { width: height, height: width } : { width, height };
}
