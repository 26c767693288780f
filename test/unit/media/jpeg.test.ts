import { recognizeFormat } from '../../../nodes/MediaGeneration/media/formats';
import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import { numbers } from './files';

const segment = (code: number, content = Buffer.alloc(0)): Buffer =>
	Buffer.concat([numbers(1, 0xff, code), numbers(2, 2 + content.length), content]);
const frame = (code = 0xc0, width = 640, height = 480) =>
	segment(code, Buffer.concat([numbers(1, 8), numbers(2, height, width), numbers(1, 0)]));
/** Begins with an empty segment, because the byte behind the first two decides that it is a JPEG. */
const facts = async (...parts: Uint8Array[]) =>
	await inspect([Buffer.concat([numbers(1, 0xff, 0xd8), segment(0xfe), ...parts])]);

it.each([0xc0, 0xc3, 0xcf])('the size of a JPEG is that of the frame header %#x', async (code) => {
	expect(await facts(frame(code))).toMatchObject({ width: 640, height: 480 });
});

it.each([0xc4, 0xcc, 0xef, 0xfe])(
	'the segment %#x of a JPEG is passed over, and fill bytes',
	async (code) => {
		const fill = Buffer.alloc(100, 0xff);
		expect(await facts(frame(code, 1, 1), fill, frame())).toMatchObject({ width: 640 });
	},
);

it.each([
	['a height that stands at the end', [frame(0xc0, 640, 0)]],
	['a length below 2', [numbers(1, 0xff, 0xe0, 0, 1), frame()]],
	['a cut within the frame header', [frame().subarray(0, 8)]],
	['20,000 fill bytes', [Buffer.alloc(20_000, 0xff), frame()]],
])('only the format is known of a JPEG with %s', async (_, parts) => {
	expect(await facts(...parts)).toEqual(recognizeFormat(numbers(1, 0xff, 0xd8, 0xff)));
});
