import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
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

/** Repeats a block up to this number of bytes, which take this many seconds. */
async function* repeat(block: Buffer, size: number, seconds: number, wait: Context['wait']) {
	for (let left = size; left > 0; left -= block.length) {
		const chunk = block.subarray(0, left);
		if (seconds) await wait((seconds * chunk.length) / size);
		yield chunk;
	}
}

/** Sends one byte, and nothing more for an hour. */
async function* stall(block: Buffer, wait: Context['wait']) {
	yield block.subarray(0, 1);
	await wait(60 * 60);
}

/** Sends this many bytes, and breaks the connection once they are under way. */
async function* drop(block: Buffer, size: number) {
	for (let left = size; left > 0; left -= block.length) yield block.subarray(0, left);
	await setImmediate();
	throw new Error('The connection breaks');
}

/** Counts a request for a file, and says which fault it meets. */
function meetFault({ faults, fileRequests }: TaskRecord, name: string) {
	const { fileFails = faults.fileStatus ? Infinity : 0, fileDrops = 0 } = faults;
	const earlier = fileRequests.get(name) ?? 0;
	fileRequests.set(name, earlier + 1);
	return { fails: earlier < fileFails, drops: earlier < fileFails + fileDrops };
}

function sendResult(
	reply: FastifyReply,
	{ taskId, faults }: TaskRecord,
	name: string,
	{ deliveries, wait, drops }: Pick<Context, 'deliveries' | 'wait'> & { drops: boolean },
) {
	const file = `${taskId}/${name}`;
	const { bytes, mimeType } = readSample(name);
	const { fileSize, fileSlow = 0, fileType = mimeType } = faults;
	const fullSize = fileSize ? Math.round(fileSize * 1e6) : bytes.length;
	const size = faults.fileEmpty ? 0 : fullSize;
	const line = `${file}\n`;
	const block = fileSize ? Buffer.from(line.repeat(Math.ceil(CHUNK / line.length))) : bytes;
	deliveries.push(file);
	reply.header('Content-Length', size);
	if (fileType) reply.type(fileType);
	const choose = () => {
		if (drops) return drop(block, Math.floor(size / 2));
		return faults.fileStalls ? stall(block, wait) : repeat(block, size, fileSlow, wait);
	};
	return reply.send(Readable.from(choose()));
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
		if (!task || !hasFile(task, name)) return refuseUnknown(reply);
		if (task.faults.fileRefused) return refuse(reply, 403, 'AccessDenied', 'Access Denied');
		const { fails, drops } = meetFault(task, name);
		const { fileStatus = 404 } = task.faults;
		if (fails) return refuse(reply, fileStatus, 'NoSuchKey', 'The file is not there.');
		return sendResult(reply, task, name, { ...context, drops });
	});

	app.get<{ Params: { '*': string } }>('/uploads/*', ({ params: { '*': path } }, reply) => {
		const upload = [...uploads.values()].find(({ filePath }) => filePath === path);
		return upload ? sendFile(reply, upload) : refuseUnknown(reply);
	});

	return app;
}
