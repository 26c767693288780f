const { createHash, randomBytes } = require('node:crypto');
const { existsSync, readdirSync } = require('node:fs');
const { dirname } = require('node:path');
const { call, post, start } = require('./support');

/** @typedef {import('./support').Service} Service */

/** @param {Uint8Array} bytes */
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/**
 * @param {Service} service
 * @param {[string, string | Blob, string?][]} parts
 * @returns {Promise<any>}
 */
async function uploadForm(service, parts) {
	const body = new FormData();
	for (const [name, value, fileName] of parts) {
		if (typeof value === 'string') body.append(name, value);
		else body.append(name, value, fileName);
	}
	return (await call(service, '/api/file-stream-upload', { method: 'POST', body })).json();
}

/** @param {Uint8Array} bytes */
const png = (bytes) => new Blob([new Uint8Array(bytes)], { type: 'image/png' });

/** @param {string} url */
const download = async (url) => Buffer.from(await (await fetch(url)).arrayBuffer());

/**
 * The answer to an upload of a file named `a fox.png` under `in/here`.
 *
 * @param {Service} service
 * @param {Uint8Array} bytes
 */
const expected = (service, bytes) => ({
	success: true,
	code: 200,
	msg: 'File uploaded successfully',
	data: {
		fileName: 'a fox.png',
		filePath: 'in/here/a fox.png',
		downloadUrl: `${service.resultsUrl}/uploads/in/here/a%20fox.png`,
		fileSize: bytes.length,
		mimeType: 'image/png',
		uploadedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
	},
});

describe('an upload', () => {
	const bytes = randomBytes(300_000);
	const target = { uploadPath: '/in/here/', fileName: 'a fox.png' };
	const base64Data = `data:image/png;base64,${bytes.toString('base64')}`;

	/** @type {[string, (service: Service) => Promise<any>][]} */
	const ways = [
		[
			'as a form, fields first',
			(service) =>
				uploadForm(service, [...Object.entries(target), ['file', png(bytes), 'other.png']]),
		],
		[
			'as a form, file first and named by its part',
			(service) =>
				uploadForm(service, [
					['file', png(bytes), 'a fox.png'],
					['uploadPath', 'in/here'],
				]),
		],
		[
			'as Base64',
			async (service) =>
				(await post(service, '/api/file-base64-upload', { base64Data, ...target })).json(),
		],
	];
	test.each(ways)('%s is kept byte for byte', async (_way, upload) => {
		const service = await start();
		const answer = await upload(service);
		expect(answer).toEqual(expected(service, bytes));
		expect(sha256(await download(answer.data.downloadUrl))).toBe(sha256(bytes));
		expect(service.uploads.get('a fox.png')).toMatchObject({
			size: bytes.length,
			sha256: sha256(bytes),
			mimeType: 'image/png',
		});
		expect(service.uploads.get('a fox.png')?.bytes?.equals(bytes)).toBe(true);
	});

	test('by URL is fetched by the service', async () => {
		const service = await start();
		const fileUrl = `${service.resultsUrl}/sample.png`;
		const sample = await download(fileUrl);
		const named = await post(service, '/api/file-url-upload', { fileUrl, ...target });
		expect(await named.json()).toEqual(expected(service, sample));
		await post(service, '/api/file-url-upload', { fileUrl, uploadPath: 'in' });
		expect(service.uploads.get('sample.png')?.bytes).toEqual(sample);
		expect(service.leaks).toEqual([]);
	});

	test('of 20 MB goes to disk, is served from there, and is removed on closing', async () => {
		const service = await start();
		const large = randomBytes(20_000_000);
		const { data } = await uploadForm(service, [
			['file', png(large), 'large.png'],
			['uploadPath', 'in'],
		]);
		const upload = service.uploads.get('large.png');
		expect(upload).toMatchObject({ size: large.length, sha256: sha256(large) });
		expect(upload).not.toHaveProperty('bytes');
		expect(sha256(await download(data.downloadUrl))).toBe(sha256(large));
		await service.close();
		expect(existsSync(dirname(upload?.storedAt ?? '/'))).toBe(false);
	});

	test('of the same name overwrites', async () => {
		const service = await start();
		for (const text of ['first', 'second']) {
			const { data } = await uploadForm(service, [
				['file', png(Buffer.from(text)), 'same.png'],
				['uploadPath', 'in'],
			]);
			expect((await download(data.downloadUrl)).toString()).toBe(text);
		}
		expect(service.uploads.size).toBe(1);
		expect(readdirSync(dirname(service.uploads.get('same.png')?.storedAt ?? '/'))).toHaveLength(1);
	});

	test('of nothing is an empty file', async () => {
		const service = await start();
		const { data } = await uploadForm(service, [
			['file', png(Buffer.alloc(0)), 'empty.png'],
			['uploadPath', 'in'],
		]);
		expect(data.fileSize).toBe(0);
		expect(await download(data.downloadUrl)).toHaveLength(0);
	});

	/** @type {[[string, string | Blob, string?][], string][]} */
	const badForms = [
		[[['uploadPath', 'in']], 'file is required'],
		[[['file', png(bytes), 'a.png']], 'uploadPath is required'],
		[
			[
				['file', png(bytes), 'a.png'],
				['uploadPath', ''],
			],
			'uploadPath must not be empty',
		],
		[
			[
				['file', png(bytes), 'a.png'],
				['uploadPath', '../x'],
			],
			'uploadPath must not hold ..',
		],
		[
			[
				['file', png(bytes), 'a.png'],
				['uploadPath', 'in'],
				['fileName', 'b/a'],
			],
			'fileName must not hold a slash',
		],
		[
			[
				['file', png(bytes), 'a.png'],
				['uploadPath', 'in'],
				['path', 'x'],
			],
			'path is not known',
		],
		[
			[
				['data', png(bytes), 'a.png'],
				['uploadPath', 'in'],
			],
			'data is not known',
		],
	];
	test('by a spoilt form is refused with the field, and leaves no file', async () => {
		const service = await start();
		for (const [parts, msg] of badForms) {
			expect(await uploadForm(service, parts)).toEqual({ code: 422, msg, data: null });
		}
		expect(service.uploads.size).toBe(0);
	});

	const form = 'Content-Type must be multipart/form-data';
	/** @type {[string, object, number, string | RegExp][]} */
	const badBodies = [
		['file-stream-upload', { uploadPath: 'in' }, 422, form],
		['file-url-upload', { uploadPath: 'in' }, 422, 'fileUrl is required'],
		['file-url-upload', { uploadPath: 'in', fileUrl: 'x' }, 422, 'fileUrl must be an http(s) URL'],
		[
			'file-url-upload',
			{ uploadPath: 'in', fileUrl: 'http://127.0.0.1:65000/x' },
			400,
			/^fileUrl could not be fetched: .*ECONNREFUSED/,
		],
		['file-base64-upload', { uploadPath: 'in' }, 422, 'base64Data is required'],
		[
			'file-base64-upload',
			{ uploadPath: 'in', base64Data: '???' },
			422,
			'base64Data must be Base64, bare or as a data URL',
		],
		['file-base64-upload', { base64Data: 'AAAA' }, 422, 'uploadPath is required'],
	];
	test.each(badBodies)('to %s of %j is refused', async (path, body, code, msg) => {
		const answer = await (await post(await start(), `/api/${path}`, body)).json();
		expect(answer).toEqual({
			code,
			msg: msg instanceof RegExp ? expect.stringMatching(msg) : msg,
			data: null,
		});
	});

	test('by a URL that answers an error is refused with its status', async () => {
		const service = await start();
		const body = { uploadPath: 'in', fileUrl: `${service.resultsUrl}/nope` };
		const answer = await (await post(service, '/api/file-url-upload', body)).json();
		expect(answer).toMatchObject({ code: 400, msg: 'fileUrl could not be fetched: HTTP 404' });
	});
});
