import { chooseFileType, readFileType } from '../../../nodes/MediaGeneration/media/fileType';

interface Sent {
	type?: string;
	path?: string;
	head?: string;
}

/** Chooses the type of a file that a host sends so. */
const choose = ({ type, path = '/a/result', head = '' }: Sent) =>
	chooseFileType(
		{ contentType: type, url: `https://cdn.example${path}` },
		Buffer.from(head, 'latin1'),
	);

it.each([
	['audio/wav', 'wav'],
	['audio/x-wav', 'wav'],
	['audio/mp3', 'mp3'],
	['audio/x-m4a', 'm4a'],
	['audio/mp4', 'm4a'],
	['audio/opus', 'opus'],
	['audio/x-mpeg', 'mp3'],
	['audio/x-mp3', 'mp3'],
	['audio/x-mp4', 'm4a'],
	['model/gltf+json', 'gltf'],
	['model/vnd.usdz+zip', 'usdz'],
	['image/x-png', 'png'],
	['image/png', 'png', 'image/png', '/v1.5'],
	['audio/mpeg', 'mp3'],
	['audio/ogg', 'ogg'],
	['audio/aac', 'aac'],
	['audio/flac', 'flac'],
	['image/svg+xml', 'svg'],
	['image/jpg', 'jpg'],
	['application/zip', 'zip'],
	['application/json', 'json'],
	['video/quicktime', 'mov'],
	['video/x-matroska', 'mkv'],
	['video/mp2t', 'ts', 'video/mp2t', '/a.ts'],
	['text/plain', 'txt'],
	['text/vtt', 'vtt'],
	['model/gltf-binary', 'glb'],
	['Image/JPEG ; charset=x', 'jpg', 'image/jpeg'],
	['model/other', 'obj', 'model/other', '/a.OBJ'],
	['model/strange', 'bin', 'model/strange', '/a.toolong'],
])('a file that is sent as %s is a .%s', (type, extension, mimeType = type, path = '/a') =>
	expect(choose({ type, path, head: '\0other' })).toEqual({ mimeType, extension }),
);

const MP4 = '\0\0\0\x18ftypisom';
const MP4_OF_PICTURES = '\0\0\0\x1cftypmif1\0\0\0\0mif1avif';

it.each([
	['a JPEG image', 'image/png', '\xff\xd8\xff\xe0', 'image/jpeg', 'jpg'],
	['a WebP image', 'text/html; charset=utf-8', 'RIFF....WEBP', 'image/webp', 'webp'],
	['an SVG image', 'application/xml', '<svg xmlns="', 'image/svg+xml', 'svg'],
	['a video', 'text/plain', MP4, 'video/mp4', 'mp4'],
	['a video', 'image/gif', MP4, 'video/mp4', 'mp4'],
	['sound', 'application/json', 'OggS', 'audio/ogg', 'ogg'],
])('%s that is sent as %s is known by its first bytes', (_, type, head, mimeType, extension) =>
	expect(choose({ type, path: '/a.txt', head })).toEqual({ mimeType, extension }),
);

it.each([
	['subtitles', 'text/vtt', 'WEBVTT\n\n00:01', 'vtt'],
	['a page', 'application/json', '<!doctype html>', 'json'],
	['a document', 'application/vnd.oasis.opendocument.text', 'PK\x03\x04', 'odt', '/a.odt'],
	['a scene', 'text/x-scene', 'glTF\x02', 'obj', '/a.obj'],
	['sound in a container of videos', 'audio/mp4', MP4, 'm4a'],
	['sound in a container of videos', 'audio/webm', '\x1aE\xdf\xa3...webm', 'webm'],
	['a video in a container of sound', 'video/ogg', 'OggS', 'ogg'],
	['other sound with a title', 'audio/aac', 'ID3\x04', 'aac'],
	['a picture in a container of videos', 'image/avif', MP4_OF_PICTURES, 'avif'],
])('%s that is sent as %s keeps that type', (_, type, head, extension, path = '/a') =>
	expect(choose({ type, path, head })).toEqual({ mimeType: type, extension }),
);

it.each([
	undefined,
	'',
	'a',
	'*/*',
	'application/octet-stream',
	'application/x-octet-stream',
	'application/x-binary',
	'application/download',
	'Binary/Octet-Stream; charset=binary',
	'unknown/unknown',
	'x/'.padEnd(300),
])('of a file that is sent as %j, the first bytes tell the type, and else the URL', (type) => {
	const gif = { mimeType: 'image/gif', extension: 'gif' };
	const mp4 = { extension: 'mp4' };
	expect(choose({ type, path: '/a.mp4', head: 'GIF89a' })).toEqual(gif);
	expect(choose({ type, path: '/a.mp4', head: '\0other' })).toEqual(mp4);
	for (const path of ['/a.mp4/result', '/v1.5'])
		expect(choose({ type, path, head: '\0other' })).toEqual({ extension: 'bin' });
});

it('the URL says more of text and of ZIP archives than their first bytes', () => {
	const subtitles = { head: '1\n00:00:00,000', path: '/a.srt' };
	expect(choose(subtitles)).toEqual({ extension: 'srt' });
	expect(choose({ ...subtitles, path: '/a' })).toMatchObject({ extension: 'txt' });
	const archive = { head: 'PK\x03\x04', path: '/a.docx' };
	expect(choose(archive)).toEqual({ extension: 'docx' });
	expect(choose({ ...archive, path: '/a' })).toMatchObject({ extension: 'zip' });
});

it.each([0, 1, 5, 64, 200])('a file of %d bytes stays whole', async (length) => {
	const bytes = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(200, 1)]).subarray(0, length);
	const file = [...bytes].map((byte) => Buffer.from([byte]));
	const { chunks } = await readFileType(file, { url: 'https://cdn.example/a' });
	const read: Uint8Array[] = [];
	for await (const chunk of chunks) read.push(chunk);
	expect(Buffer.concat(read)).toEqual(bytes);
});
