import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { fastify, type FastifyReply } from 'fastify';
import type { Context } from './index.cts';
import { hasFile } from './results.cts';
import type { Upload } from './uploads.cts';

/** A request that carried an Authorization header to this host. */
export interface Leak {
	method: string;
	path: string;
}

const ZEROS = Buffer.alloc(64 * 1024);

const mimeTypes: Record<string, string> = {
	'.png': 'image/png',
	'.mp4': 'video/mp4',
	'.mp3': 'audio/mpeg',
};

function findSample(name: string) {
	const extension = extname(name);
	const storedAt = join(__dirname, 'media', `sample${extension}`);
	return { storedAt, mimeType: mimeTypes[extension] ?? 'application/octet-stream' };
}

/** Refuses as object stores do. */
function refuse(reply: FastifyReply, status: number, code: string, message: string) {
	const xml = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
	return reply
		.code(status)
		.type('application/xml')
		.send(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}\n`);
}

const refuseUnknown = (reply: FastifyReply) =>
	refuse(reply, 404, 'NoSuchKey', 'There is no such file.');

async function sendFile(
	reply: FastifyReply,
	{ storedAt, mimeType }: Pick<Upload, 'storedAt' | 'mimeType'>,
) {
	reply.type(mimeType).header('Content-Length', (await stat(storedAt)).size);
	return reply.send(createReadStream(storedAt));
}

function* createZeros(size: number) {
	for (let left = size; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left);
}

/** The host of result files and uploads. It is not the API, and must never see the token. */
export function createFileHost({ tasks, uploads, leaks }: Context) {
	const app = fastify({ forceCloseConnections: true });

	app.addHook('onRequest', async ({ headers, method, url }, reply) => {
		if (headers.authorization === undefined) return;
		leaks.push({ method, path: url });
		return refuse(reply, 400, 'InvalidArgument', 'This host takes no Authorization header.');
	});
	app.addHook<{ Querystring: { expires?: string } }>('onRequest', async ({ query }, reply) => {
		if (query.expires === undefined || Number(query.expires) >= Date.now()) return;
		return refuse(reply, 403, 'AccessDenied', 'Request has expired');
	});
	app.setNotFoundHandler((_request, reply) => refuseUnknown(reply));

	for (const name of ['sample.png', 'sample.mp4', 'sample.mp3'])
		app.get(`/${name}`, (_request, reply) => sendFile(reply, findSample(name)));

	app.get<{ Params: { taskId: string; name: string } }>(
		'/results/:taskId/:name',
		async ({ params: { taskId, name } }, reply) => {
			const task = tasks.get(taskId);
			if (!task || !hasFile(task, name)) return refuseUnknown(reply);
			if (!task.faults.fileStalls) return sendFile(reply, findSample(name));
			const { mimeType } = findSample(name);
			reply.hijack();
			reply.raw.writeHead(200, { 'Content-Type': mimeType, 'Content-Length': 1000 });
			reply.raw.write('abc');
		},
	);

	app.get<{ Params: { '*': string } }>('/uploads/*', async ({ params: { '*': path } }, reply) => {
		const upload = [...uploads.values()].find(({ filePath }) => filePath === path);
		return upload ? sendFile(reply, upload) : refuseUnknown(reply);
	});

	app.get<{ Params: { bytes: string } }>('/big/:bytes(^\\d+).bin', ({ params }, reply) => {
		reply.type('application/octet-stream').header('Content-Length', params.bytes);
		return reply.send(Readable.from(createZeros(Number(params.bytes))));
	});

	return app;
}
