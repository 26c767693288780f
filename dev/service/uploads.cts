import { basename } from 'node:path';
import { fastifyMultipart } from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { dialects } from './dialects.cts';
import type { Context } from './index.cts';
import { check, httpUrl, nonEmptyText, strictObject } from './validation.cts';

interface UploadedFile {
	fileName: string;
	mimeType: string;
	bytes: Buffer;
}

export interface Upload extends UploadedFile {
	size: number;
	/** The upload path and the file name. */
	filePath: string;
	downloadUrl: string;
}

const FETCH_TIMEOUT_MS = 60_000;

const target = {
	uploadPath: nonEmptyText.refine((path) => !path.split('/').includes('..'), 'Must not hold ..'),
	fileName: nonEmptyText.regex(/^[^/\\]+$/).optional(),
};
const formBody = strictObject({
	file: z.custom<UploadedFile>((value) => typeof value === 'object', 'Required'),
	...target,
});
const urlBody = strictObject({ fileUrl: httpUrl, ...target });

/** Adds the endpoints of both ways to upload. */
export function registerUploads(app: FastifyInstance, context: Context) {
	/** Stores a file under its name, in place of an earlier one of this name. */
	function store(file: UploadedFile, uploadPath: string, fileName = file.fileName) {
		const { mimeType, bytes } = file;
		const filePath = `${uploadPath.replace(/^\/+|\/+$/g, '')}/${fileName}`;
		const urlPath = filePath.split('/').map(encodeURIComponent).join('/');
		const downloadUrl = `${context.filesUrl}/uploads/${urlPath}`;
		const size = bytes.length;
		context.uploads.set(fileName, { fileName, mimeType, bytes, size, filePath, downloadUrl });
		const { uploadsApart } = dialects[context.settings.dialect];
		const uploadedAt = new Date().toISOString();
		return {
			success: true,
			code: 200,
			msg: 'File uploaded successfully',
			data: {
				...(uploadsApart && { success: true }),
				...{ fileName, filePath, downloadUrl, fileSize: size, mimeType, uploadedAt },
			},
		};
	}

	void app.register(fastifyMultipart, {
		attachFieldsToBody: 'keyValues',
		limits: { fileSize: Infinity, files: 1 },
		onFile: async (part) => {
			const { filename: fileName, mimetype: mimeType } = part;
			Object.assign(part, { value: { fileName, mimeType, bytes: await part.toBuffer() } });
		},
	});

	app.post('/api/file-stream-upload', async ({ body }) => {
		const { file, uploadPath, fileName } = check(formBody, body);
		return store(file, uploadPath, fileName);
	});

	app.post('/api/file-url-upload', async ({ body }, reply) => {
		const { fileUrl, uploadPath, fileName } = check(urlBody, body);
		const file = await download(fileUrl, context.closing).catch(String);
		if (typeof file !== 'string') return store(file, uploadPath, fileName);
		const msg = `fileUrl could not be fetched: ${file}`;
		return reply.code(400).send({ success: false, code: 400, msg });
	});
}

/** @throws {Error} when the file can't be downloaded */
async function download(fileUrl: string, closing: AbortSignal): Promise<UploadedFile> {
	const signal = AbortSignal.any([closing, AbortSignal.timeout(FETCH_TIMEOUT_MS)]);
	const response = await fetch(fileUrl, { signal });
	if (!response.ok) throw new Error(`HTTP ${response.status}`);
	return {
		fileName: basename(new URL(fileUrl).pathname) || 'file',
		mimeType: response.headers.get('content-type') ?? 'application/octet-stream',
		bytes: Buffer.from(await response.arrayBuffer()),
	};
}
