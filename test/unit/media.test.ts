import {
	Media,
	media,
	findMedia,
	mediaList,
	replaceMedia,
} from '../../nodes/MediaGeneration/models/media';
import { isInternalUrl } from '../../nodes/MediaGeneration/operations/task/isInternalUrl';
import { readLinks } from '../../nodes/MediaGeneration/operations/task/resultLinks';
import { makeUniqueName } from '../../nodes/MediaGeneration/operations/inputFile';

describe('media', () => {
	it.each([
		['https://media.example/a.png', true],
		[' http://media.example/a.png ', true],
		['data', false],
		['my photo.png', false],
	])('takes %j', (text, isUrl) => {
		const value = media().parse(text) as Media;
		expect(value).toMatchObject({ source: text.trim(), isUrl });
	});

	it.each([
		'ftp://media.example/a.png',
		'file:///etc/passwd',
		'https://',
		'data:image/png;base64,AA',
	])('refuses %j, which is a URL of another kind', (text) => {
		expect(media().safeParse(text).error?.issues[0]?.message).toContain(
			'must be a URL that begins',
		);
	});

	it('takes lists of any form, mixed', () => {
		const values = mediaList().parse(['', ['https://a.example/1.png', 'data'], 'file']) as Media[];
		expect(values.map(({ source }) => source)).toEqual(['https://a.example/1.png', 'data', 'file']);
	});
});

describe('a request with media in it', () => {
	const input = {
		prompt: 'x',
		urls: [new Media('a')],
		items: [{ image_url: new Media('b'), n: 1 }],
	};

	it('shows them all, however deep', () => {
		expect(findMedia(input).map(({ source }) => source)).toEqual(['a', 'b']);
	});

	it('has them replaced in a copy', () => {
		expect(replaceMedia(input, ({ source }) => `https://up.example/${source}`)).toEqual({
			prompt: 'x',
			urls: ['https://up.example/a'],
			items: [{ image_url: 'https://up.example/b', n: 1 }],
		});
		expect(findMedia(input)).toHaveLength(2);
	});
});

describe('makeUniqueName', () => {
	it.each([
		['photo.png', 'png', /^photo-[\da-f-]{36}\.png$/],
		['Mein Föto (1).PNG', 'jpg', /^Mein-F-to-1-[\da-f-]{37}\.jpg$/],
		[undefined, 'mp4', /^file-[\da-f-]{36}\.mp4$/],
		['clip.mov', undefined, /^clip-[\da-f-]{36}\.mov$/],
		['../../etc/passwd', undefined, /^-etc-passwd-[\da-f-]{36}$|^[\w-]+-[\da-f-]{36}$/],
		['a.b"\r\nX: y', undefined, /^[\w-]+-[\da-f-]{36}$/],
	])('of %j and extension %j', (name, extension, form) => {
		expect(makeUniqueName(name, extension)).toMatch(form);
		expect(makeUniqueName(name, extension)).not.toBe(makeUniqueName(name, extension));
	});
});

describe('readLinks', () => {
	const task = {
		taskId: 't',
		resultUrls: ['u1', 'u2'],
		result: { resultUrls: ['u1', 'u2'], firstFrameUrl: 'f', lastFrameUrl: ['l'], other: 1 },
	};

	it('are those of the kinds that were chosen', () => {
		expect(readLinks(task, ['result'])).toEqual([
			{ kind: 'result', index: 0, url: 'u1' },
			{ kind: 'result', index: 1, url: 'u2' },
		]);
		expect(readLinks(task, ['firstFrame', 'lastFrame', 'watermarked'])).toEqual([
			{ kind: 'firstFrame', index: 0, url: 'f' },
			{ kind: 'lastFrame', index: 0, url: 'l' },
		]);
	});

	it('are the covers of songs, where they have one', () => {
		const data = [{ audio_url: 'a' }, { audio_url: 'b', image_url: 'cover' }];
		expect(readLinks({ taskId: 't', result: { data } }, ['cover'])).toEqual([
			{ kind: 'cover', index: 0, url: 'cover' },
		]);
	});

	it('are none where the result is text, or is not there', () => {
		expect(readLinks({ taskId: 't', result: 'done' }, ['result'])).toEqual([]);
		expect(readLinks({ taskId: 't' }, ['result'])).toEqual([]);
	});
});

describe('isInternalUrl', () => {
	it.each([
		'http://localhost:5678',
		'http://127.0.0.1',
		'http://127.8.9.1:5678/x',
		'http://[::1]:5678',
		'http://10.0.0.1',
		'http://172.16.0.1',
		'http://172.31.255.1',
		'http://192.168.1.2',
		'http://169.254.169.254',
		'http://100.64.0.1',
		'http://[fd00::1]',
		'http://[fe80::1]',
		'http://[::ffff:127.0.0.1]',
		'http://n8n:5678',
		'http://n8n.local',
		'http://n8n.internal',
		'http://2130706433',
		'http://0.0.0.0',
		'http://192.0.0.8',
		'http://198.18.0.1',
		'http://198.19.255.255',
		'http://224.0.0.1',
		'http://255.255.255.255',
		'http://172.20.0.1',
		'http://172.29.0.1',
		'http://100.70.0.1',
		'http://100.99.0.1',
		'http://100.127.255.255',
		'http://[::]',
		'http://[::127.0.0.1]',
		'http://[::ffff:10.0.0.1]',
		'http://[64:ff9b::10.0.0.1]',
		'http://[64:ff9b::a9fe:a9fe]',
		'http://[64:ff9b:1::192.168.0.1]',
		'http://[fec0::1]',
		'http://[febf::1]',
		'http://[fc00::1]',
		'http://[ff02::1]',
		'http://localhost.',
		'http://127.0.0.1.',
		'http://metadata.google.internal.',
		'http://METADATA.google.INTERNAL',
		'http://printer.lan',
		'http://nas.home.arpa',
		'http://app.localhost',
	])('%s is', (url) => expect(isInternalUrl(url)).toBe(true));

	it.each([
		'https://n8n.example.com',
		'https://172.15.0.1',
		'https://172.32.0.1',
		'https://100.63.0.1',
		'https://11.0.0.1',
		'https://[2001:4860:4860::8888]',
		'https://[::ffff:8.8.8.8]',
		'https://[64:ff9b::8.8.8.8]',
		'https://[64:ff9c::10.0.0.1]',
		'https://[fe00::1]',
		'https://100.128.0.1',
		'https://169.253.0.1',
		'https://192.0.1.1',
		'https://192.169.0.1',
		'https://198.17.0.1',
		'https://198.20.0.1',
		'https://223.255.255.255',
		'https://local.example.com',
		'https://example.com.',
		'https://10.example.com',
		'https://10.0.0.1.example.com',
		'https://n8n.local.example.com',
		'https://8.64.0.1',
		'https://8.18.0.1',
		'https://[2001:64:ff9b::1]',
		'https://[2001:64:ff9b:1::a00:1]',
		'https://[0:ffff:1::a00:1]',
		'https://[64:ff9b:0:1::a00:1]',
	])('%s is not', (url) => expect(isInternalUrl(url)).toBe(false));
});
