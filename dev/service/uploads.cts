import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fastifyMultipart } from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { dialects } from './dialects.cts';
import type { Context } from './index.cts';
import { check, httpUrl, nonEmptyText, Refusal, strictObject } from './validation.cts';

interface Received {
	fileName: string;
	mimeType: string;
	size: number;
	/** The path on disk. */
	storedAt: string;
}

export interface Upload extends Received {
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
	file: z.custom<Received>((value) => typeof value === 'object', 'Required'),
	...target,
});
const urlBody = strictObject({ fileUrl: httpUrl, ...target });

/** Adds the two ways to upload. */
export function registerUploads(app: FastifyInstance, context: Context) {
	/** Takes a file in without holding it in memory. */
	async function receive(source: Readable, fileName: string, mimeType: string): Promise<Received> {
		const storedAt = join(context.directory, randomUUID());
		const file = createWriteStream(storedAt);
		await pipeline(source, file);
		return { fileName, mimeType, size: file.bytesWritten, storedAt };
	}

	/** Keeps a file under its name; one of the same name is overwritten. */
	function keep(received: Received, uploadPath: string, fileName = received.fileName) {
		const filePath = `${uploadPath.replace(/^\/+|\/+$/g, '')}/${fileName}`;
		const urlPath = filePath.split('/').map(encodeURIComponent).join('/');
		const downloadUrl = `${context.resultsUrl}/uploads/${urlPath}`;
		context.uploads.set(fileName, { ...received, fileName, filePath, downloadUrl });
		const { mimeType, size: fileSize } = received;
		const { uploadsApart } = dialects[context.settings.dialect];
		const uploadedAt = new Date().toISOString();
		return {
			success: true,
			code: 200,
			msg: 'File uploaded successfully',
			data: {
				...(uploadsApart && { success: true }),
				...{ fileName, filePath, downloadUrl, fileSize, mimeType, uploadedAt },
			},
		};
	}

	void app.register(fastifyMultipart, {
		attachFieldsToBody: 'keyValues',
		limits: { fileSize: Infinity, files: 1 },
		onFile: async (part) => {
			Object.assign(part, { value: await receive(part.file, part.filename, part.mimetype) });
		},
	});

	app.post('/api/file-stream-upload', async ({ body }) => {
		const { file, uploadPath, fileName } = check(formBody, body);
		return keep(file, uploadPath, fileName);
	});

	app.post('/api/file-url-upload', async ({ body }) => {
		const { fileUrl, uploadPath, fileName } = check(urlBody, body);
		const signal = AbortSignal.any([context.closing, AbortSignal.timeout(FETCH_TIMEOUT_MS)]);
		const response = await fetch(fileUrl, { signal });
		if (!response.ok)
			throw new Refusal(400, `fileUrl could not be fetched: HTTP ${response.status}`);
		const bytes = Readable.from([Buffer.from(await response.arrayBuffer())]);
		const name = basename(new URL(fileUrl).pathname) || 'file';
		const mimeType = response.headers.get('content-type') ?? 'application/octet-stream';
		return keep(await receive(bytes, name, mimeType), uploadPath, fileName);
	});
}
