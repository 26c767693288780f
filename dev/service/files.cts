import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { fastify, type FastifyReply } from 'fastify';
import type { TaskFaults } from './faults.cts';
import type { Context } from './index.cts';
import { hasFile } from './results.cts';
import type { TaskRecord } from './tasks.cts';

/** A result file that was delivered, or began to be. Times are in milliseconds since 1970. */
export interface Delivery {
	begun: number;
	/** Absent while it is under way. */
	ended?: number;
}

const CHUNK = 64 * 1024;

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
const refuse = (reply: FastifyReply, status: number, code: string, message: string) =>
	reply
		.code(status)
		.type('application/xml')
		.send(
			`<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
		);

const refuseUnknown = (reply: FastifyReply) =>
	refuse(reply, 404, 'NoSuchKey', 'There is no such file.');

async function sendFile(reply: FastifyReply, file: { storedAt: string; mimeType: string }) {
	const { size } = await stat(file.storedAt);
	reply.type(file.mimeType).header('Content-Length', size);
	return reply.send(createReadStream(file.storedAt));
}

/** Repeats a text up to this number of bytes. */
function* repeat(text: string, size: number) {
	const block = Buffer.alloc(text.length * Math.ceil(CHUNK / text.length), text);
	for (let left = size; left > 0; left -= block.length) yield block.subarray(0, left);
}

/** Delivers a file of this size as the task's faults have it. */
async function* deliver(
	chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
	size: number,
	{ fileSlow }: TaskFaults,
	{ deliveries, wait }: Context,
) {
	const delivery: Delivery = { begun: Date.now() };
	deliveries.push(delivery);
	try {
		for await (const chunk of chunks) {
			if (fileSlow) await wait((fileSlow * chunk.length) / size);
			yield chunk;
		}
	} finally {
		delivery.ended = Date.now();
	}
}

async function sendResult(
	reply: FastifyReply,
	{ taskId, faults }: TaskRecord,
	name: string,
	context: Context,
) {
	const { storedAt, mimeType } = findSample(name);
	const size = faults.fileSize ? Math.round(faults.fileSize * 1e6) : (await stat(storedAt)).size;
	const chunks = faults.fileSize
		? repeat(`${taskId}/${name}\n`, size)
		: createReadStream(storedAt, { highWaterMark: Math.ceil(size / 10) });
	reply.type(mimeType).header('Content-Length', size);
	return reply.send(Readable.from(deliver(chunks, size, faults, context)));
}

/** The host of result files and uploads. It is not the API, and must never see the token. */
export function createFileHost(context: Context) {
	const { tasks, uploads, leaks } = context;
	const app = fastify({ forceCloseConnections: true });

	app.addHook<{ Querystring: { expires?: string } }>('onRequest', async (request, reply) => {
		const { headers, method, url, query } = request;
		if (headers.authorization !== undefined) {
			leaks.push(`${method} ${url}`);
			return refuse(reply, 400, 'InvalidArgument', 'This host takes no Authorization header.');
		}
		if (Number(query.expires) < Date.now())
			return refuse(reply, 403, 'AccessDenied', 'Request has expired');
		return undefined;
	});
	app.setNotFoundHandler((_request, reply) => refuseUnknown(reply));

	for (const name of ['sample.png', 'sample.mp4', 'sample.mp3'])
		app.get(`/${name}`, (_request, reply) => sendFile(reply, findSample(name)));

	interface ResultRoute {
		Params: { taskId: string; name: string };
	}
	app.get<ResultRoute>('/results/:taskId/:name', async ({ params }, reply) => {
		const task = tasks.get(params.taskId);
		if (!task || !hasFile(task, params.name)) return refuseUnknown(reply);
		if (task.faults.fileRefused) return refuse(reply, 403, 'AccessDenied', 'Access Denied');
		return sendResult(reply, task, params.name, context);
	});

	app.get<{ Params: { '*': string } }>('/uploads/*', async ({ params: { '*': path } }, reply) => {
		const upload = [...uploads.values()].find(({ filePath }) => filePath === path);
		return upload ? sendFile(reply, upload) : refuseUnknown(reply);
	});

	return app;
}
