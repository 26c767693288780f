import {
	chooseFileType,
	getExtension,
	recognizeFormat,
} from '../../../nodes/MediaGeneration/media/formats';
import { inspect } from '../../../nodes/MediaGeneration/media/inspect';
import { names, readMedia } from '../../media/corpus.cts';

const recognize = (head: Buffer) => recognizeFormat(head)?.[0];

/** Beginnings that no file of the corpus has. */
const heads: Record<string, string> = {
	heic: '\0\0\0\x18ftyphevc',
	wmv: '0&\xb2u\x8e',
	wav: 'RIFF\x01\x02\x03\x04WAVE',
	mp3: 'ID3\x04',
	html: '\n <html>',
};

it.each(Object.entries(heads))('%s is recognized', (format, head) => {
	expect(recognize(Buffer.from(head, 'latin1'))).toBe(format);
});

it('no format is recognized behind other bytes', () => {
	const all = [
		...names.map(readMedia),
		...Object.values(heads).map((head) => Buffer.from(head, 'latin1')),
	];
	for (const head of all.map((bytes) => bytes.subarray(0, 58))) {
		const format = recognize(head);
		if (format === undefined || format === 'text') continue;
		const behind = recognize(Buffer.concat([Buffer.from('other '), head]));
		expect([undefined, 'text']).toContain(behind);
	}
	expect([recognize(Buffer.from('\0text')), recognize(Buffer.from('text\0'))]).toEqual([
		undefined,
		undefined,
	]);
});

it('a format without an extension of its own is one', () => {
	expect(['jpeg', 'png', 'xyz'].map(getExtension)).toEqual(['jpg', 'png', 'xyz']);
});

it.each([
	['application/octet-stream', 'video/mp4', 'mp4'],
	['binary/octet-stream', 'video/mp4', 'mp4'],
	[undefined, 'video/mp4', 'mp4'],
	['text/html\r\nX: y', 'video/mp4', 'mp4'],
	['a', 'video/mp4', 'mp4'],
	['x/'.padEnd(300, 'y'), 'video/mp4', 'mp4'],
	['Image/JPEG ; charset=x', 'image/jpeg', 'jpg'],
	['model/gltf-binary', 'model/gltf-binary', 'mp4'],
	['model/gltf-binary', 'model/gltf-binary', 'glb', '/a.GLB'],
	[undefined, 'application/octet-stream', 'bin', '/result'],
	[undefined, 'application/octet-stream', 'bin', '/a.mp4/result'],
	[undefined, 'application/octet-stream', 'bin', '/a.toolong'],
])('a file sent as %j is %s, .%s', (type, mimeType, extension, path = '/a/result.mp4') => {
	const chosen = chooseFileType(type, `https://cdn.example${path}`);
	expect(chosen).toEqual({ mimeType, extension });
});

it.each([
	[1, 2 ** 31 - 1, true],
	[0, 1, false],
	[1, 0, false],
	[2 ** 31, 1, false],
	[1, 2 ** 31, false],
])('the sides %d and %d of a PNG are valid: %j', async (width, height, isValid) => {
	const png = readMedia('plain.png');
	png.writeUInt32BE(width, 16);
	png.writeUInt32BE(height, 20);
	const facts = await inspect([png]);
	expect(facts).toMatchObject({ format: 'png' });
	expect([facts?.width, facts?.height]).toEqual(isValid ? [width, height] : [undefined, undefined]);
});
