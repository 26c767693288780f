const { basename } = require('node:path');
const { Readable } = require('node:stream');
const { check, httpUrl, nonEmptyText, strictObject } = require('./shapes');
const { Refusal } = require('./refusal');

/** @typedef {import('./uploads').Upload} Upload */
/** @typedef {import('./uploads').Received} Received */

const FETCH_SECONDS = 60;

const target = {
	uploadPath: nonEmptyText.refine((path) => !path.split('/').includes('..'), 'must not hold ..'),
	fileName: nonEmptyText.regex(/^[^/\\]+$/, 'must not hold a slash').optional(),
};
const formFields = strictObject(target);
const urlBody = strictObject({ fileUrl: httpUrl, ...target });
const base64Body = strictObject({
	base64Data: nonEmptyText.regex(
		/^(data:[^,]*;base64,)?[A-Za-z0-9+/]+={0,2}$/,
		'must be Base64, bare or as a data URL',
	),
	...target,
});

/** @param {Upload} upload */
const success = ({ fileName, filePath, downloadUrl, size, mimeType }) => ({
	success: true,
	code: 200,
	msg: 'File uploaded successfully',
	data: {
		fileName,
		filePath,
		downloadUrl,
		fileSize: size,
		mimeType,
		uploadedAt: new Date().toISOString(),
	},
});

/**
 * The three ways to upload.
 *
 * @param {import('fastify').FastifyInstance<any, any, any, any>} app with @fastify/multipart
 * @param {object} service
 * @param {ReturnType<typeof import('./uploads').createUploads>} service.uploads
 * @param {AbortSignal} service.closing
 * @param {(request: import('fastify').FastifyRequest) => Promise<void>} service.requireJson
 */
function registerUploads(app, { uploads, closing, requireJson }) {
	/**
	 * @param {import('fastify').FastifyRequest} request
	 * @param {(received: { file: Received, name: string, mimeType: string }) => void} onFile
	 * @returns {Promise<Record<string, unknown>>} the form's other fields
	 */
	async function readForm(request, onFile) {
		/** @type {Record<string, unknown>} */
		const fields = {};
		for await (const part of request.parts()) {
			if (part.type === 'field') fields[part.fieldname] = part.value;
			else if (part.fieldname !== 'file') throw new Refusal(422, `${part.fieldname} is not known`);
			else {
				const file = await uploads.receive(part.file);
				onFile({ file, name: part.filename, mimeType: part.mimetype });
			}
		}
		return fields;
	}

	app.post('/api/file-stream-upload', async (request) => {
		if (!request.isMultipart()) throw new Refusal(422, 'Content-Type must be multipart/form-data');
		/** @type {{ file: Received, name: string, mimeType: string } | undefined} */
		let received;
		try {
			const fields = await readForm(request, (file) => (received = file));
			if (!received) throw new Refusal(422, 'file is required');
			const { uploadPath, fileName = received.name } = check(formFields, fields);
			if (!fileName) throw new Refusal(422, 'fileName is required when the file part has none');
			const { file, mimeType } = received;
			return success(await uploads.keep(file, { fileName, uploadPath, mimeType }));
		} catch (error) {
			if (received) await uploads.discard(received.file);
			throw error;
		}
	});

	app.post('/api/file-url-upload', { onRequest: requireJson }, async (request) => {
		const { fileUrl, uploadPath, fileName } = check(urlBody, request.body);
		const timeout = AbortSignal.timeout(FETCH_SECONDS * 1000);
		const response = await fetch(fileUrl, { signal: AbortSignal.any([closing, timeout]) }).catch(
			(error) => {
				throw new Refusal(400, `fileUrl could not be fetched: ${error.cause ?? error}`);
			},
		);
		if (!response.ok || !response.body) {
			await response.body?.cancel();
			throw new Refusal(400, `fileUrl could not be fetched: HTTP ${response.status}`);
		}
		const file = await uploads.receive(
			Readable.fromWeb(/** @type {import('node:stream/web').ReadableStream} */ (response.body)),
		);
		const [mimeType = ''] = (response.headers.get('content-type') ?? '').split(';');
		const name = fileName ?? (basename(decodeURIComponent(new URL(fileUrl).pathname)) || 'file');
		return success(
			await uploads.keep(file, {
				fileName: name,
				uploadPath,
				mimeType: mimeType || 'application/octet-stream',
			}),
		);
	});

	app.post('/api/file-base64-upload', { onRequest: requireJson }, async (request) => {
		const { base64Data, uploadPath, fileName = 'file' } = check(base64Body, request.body);
		const mimeType = /^data:([^;,]+)/.exec(base64Data)?.[1] ?? 'application/octet-stream';
		const bytes = Buffer.from(base64Data.slice(base64Data.indexOf(',') + 1), 'base64');
		const file = await uploads.receive(Readable.from([bytes]));
		return success(await uploads.keep(file, { fileName, uploadPath, mimeType }));
	});
}

module.exports = { registerUploads };
