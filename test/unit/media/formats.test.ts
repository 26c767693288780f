import { chooseFileType, recognizeFormat } from '../../../nodes/MediaGeneration/media/formats';
import { names, readMedia } from '../../media/corpus.cts';

const recognize = (head: Buffer | string) =>
	recognizeFormat(Buffer.from(head as string, 'latin1'))?.format;

/** Beginnings that no file of the corpus has. */
const heads: Record<string, string> = {
	heic: '\0\0\0\x18ftyphevc',
	wmv: '0&\xb2u\x8e',
	wav: 'RIFF\x01\x02\x03\x04WAVE',
	mp3: 'ID3\x04',
	html: '\n <html>',
};

it.each(Object.entries(heads))('%s is recognized', (format, head) => {
	expect(recognize(head)).toBe(format);
});

it('no format is recognized behind other bytes, and no text around a zero byte', () => {
	const all = [...names.map((name) => readMedia(name).toString('latin1')), ...Object.values(heads)];
	for (const head of all)
		expect([undefined, 'text']).toContain(recognize(`other ${head}`.slice(0, 64)));
	expect([recognize('\0text'), recognize('text\0')]).toEqual([undefined, undefined]);
});

it.each([
	['application/octet-stream', undefined, 'mp4'],
	['binary/octet-stream', undefined, 'mp4'],
	[undefined, undefined, 'mp4'],
	['text/html\r\nX: y', undefined, 'mp4'],
	['a', undefined, 'mp4'],
	['x/'.padEnd(300, 'y'), undefined, 'mp4'],
	['Image/JPEG ; charset=x', 'image/jpeg', 'jpg'],
	['model/gltf-binary', 'model/gltf-binary', 'mp4'],
	['model/gltf-binary', 'model/gltf-binary', 'glb', '/a.GLB'],
	[undefined, undefined, 'jpeg', '/a.jpeg'],
	[undefined, undefined, 'bin', '/a.mp4/result'],
	[undefined, undefined, 'bin', '/a.toolong'],
])('a file sent as %j is %s, .%s', (type, mimeType, extension, path = '/a/result.mp4') => {
	const chosen = chooseFileType(type, `https://cdn.example${path}`);
	expect(chosen).toEqual({ mimeType, extension });
});
