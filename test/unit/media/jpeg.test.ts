import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import { numbers } from './boxes';

const segment = (code: number, ...parts: Uint8Array[]): Buffer => {
	const content = Buffer.concat(parts);
	return Buffer.concat([numbers(1, 0xff, code), numbers(2, 2 + content.length), content]);
};
const frame = (code: number, width = 640, height = 480) =>
	segment(code, numbers(1, 8), numbers(2, height, width), numbers(1, 0));
/** A field of a TIFF directory, without the two bytes that a short value leaves over. */
const entry = (tag: number, value: number) =>
	Buffer.concat([numbers(2, tag, 3), numbers(4, 1), numbers(2, value)]);
const exif = (
	orientation: number,
	{ code = 0xe1, directory = 8, count = 1, before = [] as number[] } = {},
) =>
	segment(
		code,
		Buffer.from('Exif\0\0MM\0*'),
		numbers(4, directory),
		numbers(2, count),
		...before.flatMap((tag) => [entry(tag, 6), numbers(2, 0)]),
		entry(0x0112, orientation),
	);
const facts = async (...parts: Uint8Array[]) =>
	await inspect([Buffer.concat([numbers(1, 0xff, 0xd8), ...parts])]);

describe('inspect of JPEG', () => {
	it.each([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc9, 0xcf])(
		'takes the size from the frame header %#x',
		async (code) => {
			expect(await facts(frame(code))).toMatchObject({ width: 640, height: 480 });
		},
	);

	it.each([0xc4, 0xc8, 0xcc, 0xdb, 0xdd, 0xe0, 0xef, 0xfe])(
		'passes over the segment %#x',
		async (code) => {
			expect(await facts(frame(code, 1, 1), frame(0xc0))).toMatchObject({ width: 640 });
		},
	);

	it.each([0, 1, 4, 5, 8, 9, 65535])(
		'swaps the sides at orientations 5 to 8: %d',
		async (orientation) => {
			const width = orientation >= 5 && orientation <= 8 ? 480 : 640;
			expect(await facts(exif(orientation), frame(0xc0))).toMatchObject({ width });
		},
	);

	it('takes the first EXIF, which XMP in the same kind of segment does not hide', async () => {
		const xmp = segment(0xe1, Buffer.from('http://ns.adobe.com/xap/1.0/\0'));
		const read = await facts(xmp, exif(6), exif(1), frame(0xc0));
		expect(read).toMatchObject({ width: 480 });
	});

	it.each([
		[6, 480],
		[1, 640],
	])('finds the orientation %d behind another field', async (orientation, width) => {
		const second = exif(orientation, { before: [0x010f], count: 2 });
		expect(await facts(second, frame(0xc0))).toMatchObject({ width });
	});

	it.each([
		['outside of the segment', { directory: 0xfffffff0 }],
		['that has ended before', { before: [0x010f] }],
		['in another kind of segment', { code: 0xe2 }],
	])('takes no orientation from a directory %s', async (_, more) => {
		expect(await facts(exif(6, more), frame(0xc0))).toMatchObject({ width: 640 });
	});

	it.each([
		['an empty segment', segment(0xfe)],
		['fill bytes before a marker', Buffer.alloc(100, 0xff)],
	])('passes over %s', async (_, before) => {
		expect(await facts(before, frame(0xc0))).toMatchObject({ width: 640 });
	});

	it.each([
		['a height that stands at the end', [frame(0xc0, 640, 0)]],
		['a width of 0', [frame(0xc0, 0)]],
		['a code that no segment has', [segment(0xbf), frame(0xc0)]],
		['a restart before the frame', [segment(0xd0), frame(0xc0)]],
		['a scan before the frame', [segment(0xda), frame(0xc0)]],
		['an end before the frame', [numbers(1, 0xff, 0xd9), frame(0xc0)]],
		['a length below 2', [numbers(1, 0xff, 0xe0, 0, 1), frame(0xc0)]],
		['no marker behind a segment', [segment(0xe0), numbers(1, 0), frame(0xc0)]],
		['a cut within the head of a segment', [segment(0xe0).subarray(0, 3)]],
		['a cut within the frame header', [frame(0xc0).subarray(0, 8)]],
		['20,000 fill bytes', [Buffer.alloc(20_000, 0xff), frame(0xc0)]],
	])('knows no size with %s', async (_, parts) => {
		// The byte behind the first two decides that it is a JPEG at all.
		expect(await facts(segment(0xfe), ...parts)).toEqual({
			format: 'jpeg',
			mimeType: 'image/jpeg',
			kind: 'image',
		});
	});
});
