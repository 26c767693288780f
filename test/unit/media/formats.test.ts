import { readFileType, recognizeFormat } from '../../../nodes/MediaGeneration/media/formats';

/** Beginnings that no file of the corpus has. */
const heads: Record<string, string> = {
	heic: '\0\0\0\x18ftyphevc',
	wav: 'RIFF\x01\x02\x03\x04WAVE',
	mp3: '\xff\xfb\x90d',
	ogg: 'OggS\0\x02',
	flac: 'fLaC\0',
	svg: '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="',
	glb: 'glTF\x02',
	zip: 'PK\x03\x04\x14',
	html: '\n <html>',
};

it.each(Object.entries(heads))(
	'%s is recognized, but not behind other bytes',
	(extension, head) => {
		expect(recognizeFormat(Buffer.from(head, 'latin1'))).toMatchObject({ extension });
		expect(recognizeFormat(Buffer.from(`\0${head}`, 'latin1'))).toBeUndefined();
	},
);

interface Sent {
	type?: string;
	path?: string;
	head?: string;
}

/** Reads the type of a file that a host sends so. */
async function choose({ type, path = '/a/result', head = '' }: Sent) {
	const claims = { contentType: type, url: `https://cdn.example${path}` };
	const { mimeType, extension } = await readFileType([Buffer.from(head, 'latin1')], claims);
	return { mimeType, extension };
}

it.each<[string, string, string?, string?]>([
	['audio/x-wav', 'wav'],
	['audio/x-m4a', 'm4a'],
	['audio/opus', 'opus'],
	['audio/x-mpeg', 'mp3'],
	['model/gltf+json', 'gltf'],
	['image/png', 'png', 'image/png', '/v1.5'],
	['image/svg+xml', 'svg'],
	['video/quicktime', 'mov'],
	['video/mp2t', 'ts', 'video/mp2t', '/a.ts'],
	['IMAGE/PNG; charset=utf-8', 'png', 'image/png'],
])(
	'a file that is sent as %s has the extension %s',
	async (type, extension, mimeType = type, path = '/a') => {
		expect(await choose({ type, path })).toEqual({ mimeType, extension });
	},
);

const MP4 = '\0\0\0\x18ftypisom';
const MP4_OF_PICTURES = '\0\0\0\x1cftypmif1\0\0\0\0mif1avif';

it.each([
	['a JPEG image', 'image/png', '\xff\xd8\xff\xe0', 'image/jpeg', 'jpg'],
	['a WebP image', 'text/html; charset=utf-8', 'RIFF....WEBP', 'image/webp', 'webp'],
	['an SVG image', 'application/xml', '<svg xmlns="', 'image/svg+xml', 'svg'],
	['a video', 'text/plain', MP4, 'video/mp4', 'mp4'],
	['sound', 'application/json', 'OggS', 'audio/ogg', 'ogg'],
])(
	'%s that is sent as %s is known by its first bytes',
	async (_, type, head, mimeType, extension) =>
		expect(await choose({ type, path: '/a.txt', head })).toEqual({ mimeType, extension }),
);

it.each([
	['subtitles', 'text/vtt', 'WEBVTT\n\n00:01', 'vtt'],
	['a page', 'application/json', '<!doctype html>', 'json'],
	['sound in a container of videos', 'audio/mp4', MP4, 'm4a'],
	['a video in a container of sound', 'video/ogg', 'OggS', 'ogg'],
	['a picture in a container of videos', 'image/avif', MP4_OF_PICTURES, 'avif'],
])('%s that is sent as %s keeps that type', async (_, type, head, extension) =>
	expect(await choose({ type, head })).toEqual({ mimeType: type, extension }),
);

it.each([
	undefined,
	'*/*',
	'application/octet-stream',
	'application/x-binary',
	'Binary/Octet-Stream; charset=binary',
	'unknown/unknown',
	'x/'.padEnd(300),
])(
	'of a file that is sent as %j, the first bytes tell the type, and else the URL',
	async (type) => {
		const gif = { mimeType: 'image/gif', extension: 'gif' };
		const head = '\0other';
		expect(await choose({ type, path: '/a.mp4', head: 'GIF89a' })).toEqual(gif);
		expect(await choose({ type, path: '/a.mp4', head })).toEqual({ extension: 'mp4' });
		for (const path of ['/a.mp4/result', '/v1.5'])
			expect(await choose({ type, path, head })).toEqual({ extension: 'bin' });
	},
);

it.each([
	['1\n00:00:00,000', 'srt', 'txt'],
	['PK\x03\x04', 'docx', 'zip'],
])('the URL says more of %j than the first bytes', async (head, ending, extension) => {
	expect(await choose({ head, path: `/a.${ending}` })).toEqual({ extension: ending });
	expect(await choose({ head, path: '/a' })).toMatchObject({ extension });
});

it.each([0, 5, 64, 200])('a file of %d bytes stays whole', async (length) => {
	const bytes = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(200, 1)]).subarray(0, length);
	const file = [...bytes].map((byte) => Buffer.from([byte]));
	const { chunks } = await readFileType(file, { url: 'https://cdn.example/a' });
	const read: Uint8Array[] = [];
	for await (const chunk of chunks) read.push(chunk);
	expect(Buffer.concat(read)).toEqual(bytes);
});
