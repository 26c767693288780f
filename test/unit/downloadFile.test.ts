import type { IHttpRequestOptions } from 'n8n-workflow';
import {
	downloadFile,
	type DownloadContext,
} from '../../nodes/MediaGeneration/operations/task/downloadFile';

type Served = {
	statusCode: number;
	headers?: Record<string, string>;
	chunks?: string[];
	breaks?: boolean;
	stalls?: boolean;
};

/** A stream as far as downloadFile uses one. */
class Stream {
	destroyed = false;

	constructor(private readonly chunks: AsyncIterable<Uint8Array>) {}

	static from(chunks: AsyncIterable<Uint8Array>) {
		return new Stream(chunks);
	}

	destroy() {
		this.destroyed = true;
	}

	[Symbol.asyncIterator]() {
		return this.chunks[Symbol.asyncIterator]();
	}
}

async function* bytes({ chunks = [], breaks, stalls }: Served, destroyed: Promise<void>) {
	for (const chunk of chunks) yield Buffer.from(chunk);
	if (stalls) await destroyed;
	if (breaks || stalls) throw new Error('aborted');
}

/** Fetches from hosts that serve these answers, and shows what was asked for and what was stored. */
async function fetchFrom(
	hosts: Record<string, Served>,
	url: string,
	{ maxBytes = Infinity, timeoutSeconds = 60, signal = undefined as AbortSignal | undefined } = {},
) {
	const asked: IHttpRequestOptions[] = [];
	const streams: Stream[] = [];
	const helpers = {
		async httpRequest(request: IHttpRequestOptions) {
			asked.push(request);
			const served = hosts[request.url];
			if (!served) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
			let end = () => {};
			const body = new Stream(bytes(served, new Promise((resolve) => (end = resolve))));
			request.abortSignal?.addEventListener?.('abort', () => end());
			streams.push(body);
			return { statusCode: served.statusCode, headers: served.headers ?? {}, body };
		},
		async prepareBinaryData(stream: AsyncIterable<Uint8Array>, fileName: string, mimeType: string) {
			let text = '';
			for await (const chunk of stream) text += Buffer.from(chunk).toString();
			return { data: text, fileName, mimeType };
		},
	};
	const context = { helpers, settings: { timeoutSeconds }, signal } as unknown as DownloadContext;
	const file = await downloadFile(context, { url, name: 'task-result-1', maxBytes });
	return { file, asked, streams };
}

const url = 'https://cdn.example/a/result.mp4';
const ok: Served = {
	statusCode: 200,
	headers: { 'content-type': 'video/mp4' },
	chunks: ['one', 'two'],
};

describe('downloadFile', () => {
	it('stores a file as it streams, with name, type and size', async () => {
		const { file } = await fetchFrom({ [url]: ok }, url);
		expect(file).toEqual({
			url,
			name: 'task-result-1.mp4',
			mimeType: 'video/mp4',
			size: 6,
			seconds: expect.any(Number) as number,
			binary: { data: 'onetwo', fileName: 'task-result-1.mp4', mimeType: 'video/mp4' },
		});
	});

	it.each<[number, number | RegExp]>([
		[200, 6],
		[300, 3],
		[399, 3],
		[400, /answered 400/],
		[500, /answered 500/],
	])('takes %d with a location for what it is', async (statusCode, expected) => {
		const location = 'https://eu.cdn.example/other.mp4';
		const hosts = {
			[url]: { ...ok, statusCode, headers: { location } },
			[location]: { ...ok, chunks: ['two'] },
		};
		const fetched = fetchFrom(hosts, url);
		if (typeof expected === 'number') expect((await fetched).file?.size).toBe(expected);
		else await expect(fetched).rejects.toThrow(expected);
	});

	it('sends no header that could carry a secret', async () => {
		const { asked } = await fetchFrom({ [url]: ok }, url);
		expect(asked.map(({ headers, auth }) => [headers, auth])).toEqual([[undefined, undefined]]);
	});

	it.each([
		[{ 'content-type': 'application/octet-stream' }, 'video/mp4', 'mp4'],
		[{}, 'video/mp4', 'mp4'],
		[{ 'content-type': 'image/jpeg; charset=x' }, 'image/jpeg', 'jpg'],
		[{ 'content-type': 'model/gltf-binary' }, 'model/gltf-binary', 'mp4'],
		[{ 'content-type': 'binary/octet-stream' }, 'video/mp4', 'mp4'],
		[{ 'content-type': 'Image/JPEG ; charset=x' }, 'image/jpeg', 'jpg'],
		[{}, 'application/octet-stream', 'bin', 'https://cdn.example/result'],
		[{}, 'application/octet-stream', 'bin', 'https://cdn.example/a.mp4/result'],
	])('names a file of %j by type, %s', async (headers, mimeType, extension, from = url) => {
		const { file } = await fetchFrom({ [from]: { ...ok, headers } }, from);
		expect(file).toMatchObject({ mimeType, name: `task-result-1.${extension}` });
	});

	it.each([401, 403, 404, 410])(
		'gives nothing for a link that is refused with %d',
		async (statusCode) => {
			const { file, streams } = await fetchFrom({ [url]: { statusCode } }, url);
			expect(file).toBeUndefined();
			expect(streams[0]?.destroyed).toBe(true);
		},
	);

	it('follows redirects, relative ones too', async () => {
		const hosts = {
			[url]: { statusCode: 302, headers: { location: 'https://eu.cdn.example/x' } },
			'https://eu.cdn.example/x': { statusCode: 307, headers: { location: '/y.mp4' } },
			'https://eu.cdn.example/y.mp4': ok,
		};
		expect((await fetchFrom(hosts, url)).file?.size).toBe(6);
	});

	it.each([
		'http://127.0.0.1:5678/rest/settings',
		'http://169.254.169.254/latest/meta-data',
		'http://10.0.0.1/',
		'http://[::1]/',
		'http://localhost/',
		'http://n8n:5678/',
		'file:///etc/passwd',
		'shttp://cdn.example/',
	])('does not follow one from the internet to %s', async (location) => {
		const hosts = { [url]: { statusCode: 302, headers: { location } }, [location]: ok };
		await expect(fetchFrom(hosts, url)).rejects.toThrow('an address inside this network');
	});

	it('follows one inside a network, where the first address is inside as well', async () => {
		const inside = 'http://127.0.0.1:8788/a.mp4';
		const hosts = {
			[inside]: { statusCode: 302, headers: { location: 'http://127.0.0.1:8789/b.mp4' } },
			'http://127.0.0.1:8789/b.mp4': ok,
		};
		expect((await fetchFrom(hosts, inside)).file?.size).toBe(6);
	});

	it('gives up on redirects that do not end', async () => {
		const hosts = { [url]: { statusCode: 302, headers: { location: url } } };
		await expect(fetchFrom(hosts, url)).rejects.toThrow('more than 5 times');
	});

	it.each([
		['says that it is too large', { ...ok, headers: { 'content-length': '7' } }],
		['turns out too large', { ...ok, chunks: ['one', 'two', 'three'] }],
	])('stops at a file that %s', async (_, served) => {
		await expect(fetchFrom({ [url]: served }, url, { maxBytes: 6 })).rejects.toThrow(
			"'Maximum File Size'",
		);
	});

	it('says how large a file is, how large it may be, and what to do', async () => {
		const hosts = { [url]: { ...ok, headers: { 'content-length': `${1.5 * 1024 ** 2}` } } };
		await expect(fetchFrom(hosts, url, { maxBytes: 1024 ** 2 })).rejects.toMatchObject({
			message: expect.stringContaining("is 2 MB, and 'Maximum File Size' in Options allows 1 MB"),
			description: expect.stringContaining('Raise the limit'),
		});
	});

	it('takes a file that is just as large as it may be, and as announced', async () => {
		const hosts = { [url]: { ...ok, headers: { 'content-length': '6' } } };
		const { file, streams } = await fetchFrom(hosts, url, { maxBytes: 6 });
		expect(file?.size).toBe(6);
		expect(streams[0]?.destroyed).toBe(false);
	});

	it('ends a download that stalls, in the time that a request may take', async () => {
		const hosts = { [url]: { ...ok, stalls: true } };
		await expect(fetchFrom(hosts, url, { timeoutSeconds: 0.1 })).rejects.toThrow(
			'sent nothing for 0.1 s before the file was complete',
		);
	});

	it('refuses a file that is shorter than announced', async () => {
		const hosts = { [url]: { ...ok, headers: { 'content-length': '7' } } };
		await expect(fetchFrom(hosts, url)).rejects.toThrow('broke off before the file was complete');
	});

	it('follows no redirect by itself, and ends with the execution', async () => {
		const controller = new AbortController();
		const { asked } = await fetchFrom({ [url]: ok }, url, { signal: controller.signal });
		expect(asked).toMatchObject([
			{
				disableFollowRedirect: true,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				encoding: 'stream',
				timeout: 60_000,
				abortSignal: { aborted: false },
			},
		]);
		controller.abort();
		expect(asked).toMatchObject([{ abortSignal: { aborted: true } }]);
	});

	it.each<[string, Record<string, Served>, string]>([
		['answers 500', { [url]: { statusCode: 500 } }, 'its host cdn.example answered 500'],
		['is not there', {}, "its host cdn.example can't be reached: nothing answers"],
		['breaks off', { [url]: { ...ok, breaks: true } }, 'broke off before the file was complete'],
	])('says what a host did that %s', async (_, hosts, message) => {
		await expect(fetchFrom(hosts, url)).rejects.toThrow(message);
	});
});
