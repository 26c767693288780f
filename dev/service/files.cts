import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { fastify, type FastifyReply } from 'fastify';
import type { Context } from './index.cts';
import { hasFile } from './results.cts';
import type { TaskRecord } from './tasks.cts';
import type { Upload } from './uploads.cts';

const CHUNK = 64 * 1024;

const mimeTypes: Record<string, string> = {
	'.png': 'image/png',
	'.mp4': 'video/mp4',
	'.mp3': 'audio/mpeg',
};

/** Reads the sample that stands for a file of this name. */
function readSample(name: string) {
	const extension = extname(name);
	const bytes = readFileSync(join(__dirname, 'media', `sample${extension}`));
	return { bytes, mimeType: String(mimeTypes[extension]) };
}

/** Rejects a request as object stores do. */
const reject = (reply: FastifyReply, status: number, code: string, message: string) =>
	reply
		.code(status)
		.type('application/xml')
		.send(
			`<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
		);

const rejectUnknown = (reply: FastifyReply) =>
	reject(reply, 404, 'NoSuchKey', 'There is no such file.');

/** Repeats a block until there are `size` bytes, over this many seconds. */
async function* repeat(block: Buffer, size: number, seconds: number, wait: Context['wait']) {
	for (let left = size; left > 0; left -= block.length) {
		const chunk = block.subarray(0, left);
		if (seconds) await wait((seconds * chunk.length) / size);
		yield chunk;
	}
}

function sendResult(
	reply: FastifyReply,
	{ taskId, faults }: TaskRecord,
	name: string,
	{ deliveries, wait }: Pick<Context, 'deliveries' | 'wait'>,
) {
	const file = `${taskId}/${name}`;
	const { bytes, mimeType } = readSample(name);
	const { fileSize, fileSlow = 0, fileType = mimeType } = faults;
	const size = fileSize ? Math.round(fileSize * 1e6) : bytes.length;
	const line = `${file}\n`;
	const block = fileSize ? Buffer.from(line.repeat(Math.ceil(CHUNK / line.length))) : bytes;
	deliveries.push(file);
	reply.header('Content-Length', size);
	if (fileType) reply.type(fileType);
	return reply.send(Readable.from(repeat(block, size, fileSlow, wait)));
}

/** Creates the host of result files and uploads. It is not the API, and must never get the token. */
export function createFileHost(context: Context) {
	const { tasks, uploads, leaks } = context;
	const app = fastify({ forceCloseConnections: true });

	app.addHook<{ Querystring: { expires?: string } }>('onRequest', async (request, reply) => {
		const { headers, method, url, query } = request;
		if (headers.authorization !== undefined) {
			leaks.push(`${method} ${url}`);
			return reject(reply, 400, 'InvalidArgument', 'This host takes no Authorization header.');
		}
		if (Number(query.expires) < Date.now())
			return reject(reply, 403, 'AccessDenied', 'Request has expired');
		return undefined;
	});
	app.setNotFoundHandler((_request, reply) => rejectUnknown(reply));

	const sendFile = (reply: FastifyReply, { bytes, mimeType }: Pick<Upload, 'bytes' | 'mimeType'>) =>
		reply.type(mimeType).send(bytes);
	for (const name of ['sample.png', 'sample.mp4', 'sample.mp3'])
		app.get(`/${name}`, (_request, reply) => sendFile(reply, readSample(name)));

	interface ResultRoute {
		Params: { taskId: string; name: string };
	}
	app.get<ResultRoute>('/results/:taskId/:name', (request, reply) => {
		const { taskId, name } = request.params;
		const task = tasks.get(taskId);
		if (!task || !hasFile(task, name)) return rejectUnknown(reply);
		if (task.faults.fileRejected) return reject(reply, 403, 'AccessDenied', 'Access Denied');
		return sendResult(reply, task, name, context);
	});

	app.get<{ Params: { '*': string } }>('/uploads/*', ({ params: { '*': path } }, reply) => {
		const upload = [...uploads.values()].find(({ filePath }) => filePath === path);
		return upload ? sendFile(reply, upload) : rejectUnknown(reply);
	});

	return app;
}
