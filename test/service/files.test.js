const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { create, createTask, details, start } = require('./support');

const media = join(__dirname, '../../dev/service/media');

/**
 * The names of an MP4's outermost boxes; each starts with its length.
 *
 * @param {Buffer} bytes
 */
function boxes(bytes) {
	const names = [];
	let at = 0;
	for (; at < bytes.length; at += bytes.readUInt32BE(at)) {
		names.push(bytes.toString('latin1', at + 4, at + 8));
	}
	expect(at).toBe(bytes.length);
	return names;
}

/**
 * The names of a PNG's chunks.
 *
 * @param {Buffer} bytes
 */
function pngChunks(bytes) {
	expect(bytes.toString('latin1', 0, 8)).toBe('\x89PNG\r\n\x1a\n');
	const names = [];
	let at = 8;
	for (; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
		names.push(bytes.toString('latin1', at + 4, at + 8));
	}
	expect(at).toBe(bytes.length);
	return names;
}

/** @param {string} url */
const download = async (url) => Buffer.from(await (await fetch(url)).arrayBuffer());

describe('results', () => {
	test('of a video model are an MP4 that plays while it loads, and two PNG frames', async () => {
		const service = await start();
		const taskId = await createTask(service);
		await service.waitForTask(taskId, 'success');
		const result = JSON.parse((await details(service, taskId)).resultJson);
		expect(boxes(await download(result.resultUrls[0]))).toEqual(['ftyp', 'moov', 'free', 'mdat']);
		for (const [url] of [result.firstFrameUrl, result.lastFrameUrl]) {
			const names = pngChunks(await download(url));
			expect([names[0], names.at(-1)]).toEqual(['IHDR', 'IEND']);
		}
	});

	test('of image-edit are a PNG and nothing else', async () => {
		const service = await start();
		const input = { prompt: '', image_url: `${service.resultsUrl}/sample.png` };
		const { data } = await create(service, { model: 'beta2/image-edit', input });
		await service.waitForTask(data.taskId, 'success');
		const { resultJson } = await details(service, data.taskId);
		const url = `${service.resultsUrl}/results/${data.taskId}/result.png`;
		expect(JSON.parse(resultJson)).toEqual({ resultUrls: [url] });
		expect(pngChunks(await download(url))).toContain('IDAT');
	});

	test('are not there before success, nor under another name', async () => {
		const service = await start();
		const taskId = await createTask(service, { prompt: '#neverEnds' });
		const ended = await createTask(service);
		await service.waitForTask(ended);
		for (const path of [`${taskId}/result.mp4`, `${ended}/other.mp4`, 'nope/result.mp4']) {
			const response = await fetch(`${service.resultsUrl}/results/${path}`);
			expect(response.status).toBe(404);
			expect(await response.text()).toContain('<Code>NoSuchKey</Code>');
		}
	});

	test('expire with an XML 403, and asking details again gives a fresh link', async () => {
		const service = await start({ resultSeconds: 0.05 });
		const taskId = await createTask(service);
		await service.waitForTask(taskId, 'success');
		const [stale] = JSON.parse((await details(service, taskId)).resultJson).resultUrls;
		await new Promise((resolve) => setTimeout(resolve, 60));
		const refused = await fetch(stale);
		expect(refused.status).toBe(403);
		expect(refused.headers.get('content-type')).toMatch('application/xml');
		expect(await refused.text()).toContain('<Code>AccessDenied</Code>');
		service.set({ resultSeconds: 60 });
		const [fresh] = JSON.parse((await details(service, taskId)).resultJson).resultUrls;
		expect((await fetch(fresh)).status).toBe(200);
		expect(fresh.split('?')[0]).toBe(stale.split('?')[0]);
	});
});

describe('the files origin', () => {
	test.each([
		['sample.png', 'image/png', 5_000],
		['sample.mp4', 'video/mp4', 30_000],
	])('serves %s whole, its head, and ranges of it', async (name, type, atMost) => {
		const { resultsUrl } = await start();
		const url = `${resultsUrl}/${name}`;
		const bytes = readFileSync(join(media, name));
		expect(bytes.length).toBeLessThan(atMost);
		expect(await download(url)).toEqual(bytes);

		const head = await fetch(url, { method: 'HEAD' });
		expect(Object.fromEntries(head.headers)).toMatchObject({
			'content-type': type,
			'content-length': String(bytes.length),
			'accept-ranges': 'bytes',
		});

		/** @type {[string, Buffer, number][]} */
		const ranges = [
			['bytes=4-7', bytes.subarray(4, 8), 206],
			['bytes=1000-', bytes.subarray(1000), 206],
			['bytes=-10', bytes.subarray(-10), 206],
			[`bytes=10-${bytes.length + 9}`, bytes.subarray(10), 206],
			['pages=1-2', bytes, 200],
		];
		for (const [Range, expected, status] of ranges) {
			const response = await fetch(url, { headers: { Range } });
			expect(response.status).toBe(status);
			expect(Buffer.from(await response.arrayBuffer())).toEqual(expected);
		}
		const beyond = await fetch(url, { headers: { Range: `bytes=${bytes.length}-` } });
		expect(beyond.status).toBe(416);
	});

	test('records and refuses a request that carries an Authorization header', async () => {
		const service = await start();
		const headers = { Authorization: 'Bearer dev-token' };
		const response = await fetch(`${service.resultsUrl}/sample.png`, { headers });
		expect(response.status).toBe(400);
		expect(await response.text()).toContain('takes no Authorization header');
		expect(service.leaks).toEqual([{ at: expect.any(Number), method: 'GET', path: '/sample.png' }]);
		await fetch(`${service.resultsUrl}/sample.png`);
		expect(service.leaks).toHaveLength(1);
	});

	test('streams as many bytes as asked for', async () => {
		const { resultsUrl } = await start();
		for (const size of [0, 1, 200_000]) {
			const response = await fetch(`${resultsUrl}/big/${size}.bin`);
			expect(response.headers.get('content-length')).toBe(String(size));
			expect((await response.arrayBuffer()).byteLength).toBe(size);
		}
	});
});
