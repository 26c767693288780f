import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fastify, type FastifyReply } from 'fastify';
import type { TaskFaults } from './faults.cts';
import type { Context } from './index.cts';
import { hasFile } from './results.cts';
import type { TaskRecord } from './tasks.cts';
import type { Upload } from './uploads.cts';

/** A request that carried an Authorization header to this host. */
export interface Leak {
	method: string;
	path: string;
}

/** A result file that was delivered, or began to be. */
export interface Delivery {
	taskId: string;
	name: string;
	/** Milliseconds since 1970. */
	begun: number;
	/** Absent while it is under way. */
	ended?: number;
}

const CHUNK = 64 * 1024;
const ZEROS = Buffer.alloc(CHUNK);

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

/** Repeats a text until there are so many bytes. */
function* repeat(text: string, size: number) {
	const block = Buffer.alloc(text.length * Math.ceil(CHUNK / text.length), text);
	for (let left = size; left > 0; left -= block.length) yield block.subarray(0, left);
}

/** Delivers a file of this size as the task's faults have it. */
async function* deliver(
	chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
	size: number,
	delivery: Delivery,
	{ fileStalls, fileBreaks, fileSlow }: TaskFaults,
	closing: AbortSignal,
) {
	let sent = 0;
	try {
		for await (const chunk of chunks) {
			if (fileStalls) {
				yield chunk.subarray(0, 3);
				await once(closing, 'abort');
			}
			if (fileBreaks && sent + chunk.length > size / 2) {
				yield chunk.subarray(0, Math.floor(size / 2) - sent);
				throw new Error('The file breaks off');
			}
			if (fileSlow)
				await pause((fileSlow * 1000 * chunk.length) / size, undefined, { signal: closing });
			yield chunk;
			sent += chunk.length;
		}
	} finally {
		delivery.ended = Date.now();
	}
}

async function sendResult(
	reply: FastifyReply,
	{ taskId, faults }: TaskRecord,
	name: string,
	{ deliveries, closing }: Context,
) {
	const delivery: Delivery = { taskId, name, begun: Date.now() };
	deliveries.push(delivery);
	const { storedAt, mimeType } = findSample(name);
	const size = faults.fileSize ? Math.round(faults.fileSize * 1e6) : (await stat(storedAt)).size;
	const chunks = faults.fileSize
		? repeat(`${taskId}/${name}\n`, size)
		: createReadStream(storedAt, { highWaterMark: Math.ceil(size / 10) });
	reply.type(mimeType).header('Content-Length', size);
	return reply.send(Readable.from(deliver(chunks, size, delivery, faults, closing)));
}

function* createZeros(size: number) {
	for (let left = size; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left);
}

/** The host of result files and uploads. It is not the API, and must never see the token. */
export function createFileHost(context: Context) {
	const { tasks, uploads, leaks } = context;
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

	interface ResultRoute {
		Params: { taskId: string; name: string };
		Querystring: { redirected?: string };
	}
	app.get<ResultRoute>('/results/:taskId/:name', async ({ params, query, url }, reply) => {
		const { taskId, name } = params;
		const task = tasks.get(taskId);
		if (!task || !hasFile(task, name)) return refuseUnknown(reply);
		const { fileRefused, fileRedirects } = task.faults;
		if (fileRefused) return refuse(reply, 403, 'AccessDenied', 'Access Denied');
		if (fileRedirects && query.redirected === undefined)
			return reply.redirect(`${url}${url.includes('?') ? '&' : '?'}redirected=1`);
		return sendResult(reply, task, name, context);
	});

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
