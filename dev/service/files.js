const { createReadStream } = require('node:fs');
const { stat } = require('node:fs/promises');
const { join } = require('node:path');
const { Readable } = require('node:stream');
const { fastify } = require('fastify');
const { resultFiles } = require('./models');

/** @typedef {import('fastify').FastifyRequest} FastifyRequest */
/** @typedef {import('fastify').FastifyReply} FastifyReply */
/** @typedef {{ at: number, method: string, path: string }} Leak a request that carried an Authorization header here */

const ZEROS = Buffer.alloc(64 * 1024);

/** @param {string} name */
const mediaFor = (name) =>
	name.endsWith('.png')
		? { storedAt: join(__dirname, 'media', 'sample.png'), mimeType: 'image/png' }
		: { storedAt: join(__dirname, 'media', 'sample.mp4'), mimeType: 'video/mp4' };

/**
 * Refuses as object stores do.
 *
 * @param {FastifyReply} reply
 * @param {number} status
 * @param {string} code
 * @param {string} message
 */
function refuse(reply, status, code, message) {
	return reply
		.code(status)
		.type('application/xml')
		.send(
			`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>\n`,
		);
}

/** @param {FastifyReply} reply */
const refuseUnknown = (reply) => refuse(reply, 404, 'NoSuchKey', 'There is no such file.');

/**
 * The bytes that a Range header asks for; undefined when there is none that is understood.
 *
 * @param {string | undefined} header
 * @param {number} size
 */
function readRange(header, size) {
	const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
	if (first === '' && last === '') return undefined;
	if (first === '') return { start: Math.max(0, size - Number(last)), end: size - 1 };
	return { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/**
 * @param {FastifyRequest} request
 * @param {FastifyReply} reply
 * @param {{ storedAt: string, mimeType: string }} file
 */
async function sendFile(request, reply, { storedAt, mimeType }) {
	const { size } = await stat(storedAt);
	const range = readRange(request.headers.range, size);
	if (range && range.start > range.end) {
		reply.header('Content-Range', `bytes */${size}`);
		return refuse(reply, 416, 'InvalidRange', 'The range holds no byte of the file.');
	}
	const { start, end } = range ?? { start: 0, end: size - 1 };
	if (range) reply.code(206).header('Content-Range', `bytes ${start}-${end}/${size}`);
	reply
		.type(mimeType)
		.header('Accept-Ranges', 'bytes')
		.header('Content-Length', end - start + 1);
	if (request.method === 'HEAD') return reply.send();
	return reply.send(size === 0 ? '' : createReadStream(storedAt, { start, end }));
}

/** @param {number} size in bytes */
function* zeros(size) {
	for (let left = size; left > 0; left -= ZEROS.length) {
		yield left < ZEROS.length ? ZEROS.subarray(0, left) : ZEROS;
	}
}

/**
 * The origin of result files and uploads. It is not the API, and must never see the token.
 *
 * @param {object} service
 * @param {Map<string, import('./details').TaskRecord>} service.tasks
 * @param {Map<string, import('./uploads').Upload>} service.uploads
 * @param {Leak[]} service.leaks
 */
function createFilesServer({ tasks, uploads, leaks }) {
	const app = fastify({ forceCloseConnections: true, exposeHeadRoutes: false });
	const method = ['GET', 'HEAD'];

	app.addHook('onRequest', async (request, reply) => {
		if (request.headers.authorization === undefined) return;
		leaks.push({ at: Date.now(), method: request.method, path: request.url });
		return refuse(reply, 400, 'InvalidArgument', 'This host takes no Authorization header.');
	});
	app.setNotFoundHandler((_request, reply) => refuseUnknown(reply));

	for (const name of ['sample.png', 'sample.mp4']) {
		const url = `/${name}`;
		app.route({ method, url, handler: (...args) => sendFile(...args, mediaFor(name)) });
	}

	app.route({
		method,
		url: '/results/:taskId/:name',
		handler: async (request, reply) => {
			const { taskId, name } = /** @type {{ taskId: string, name: string }} */ (request.params);
			const { expires } = /** @type {{ expires?: string }} */ (request.query);
			const task = tasks.get(taskId);
			if (
				task?.state !== 'success' ||
				!Object.values(resultFiles(task.model)).flat().includes(name)
			) {
				return refuseUnknown(reply);
			}
			if (expires !== undefined && Number(expires) < Date.now()) {
				return refuse(reply, 403, 'AccessDenied', 'Request has expired');
			}
			return sendFile(request, reply, mediaFor(name));
		},
	});

	app.route({
		method,
		url: '/uploads/*',
		handler: async (request, reply) => {
			const { '*': path } = /** @type {{ '*': string }} */ (request.params);
			const upload = [...uploads.values()].find(({ filePath }) => filePath === path);
			return upload ? sendFile(request, reply, upload) : refuseUnknown(reply);
		},
	});

	app.route({
		method,
		url: '/big/:bytes(^\\d+).bin',
		handler: async (request, reply) => {
			const { bytes } = /** @type {{ bytes: string }} */ (request.params);
			reply.type('application/octet-stream').header('Content-Length', bytes);
			return reply.send(
				request.method === 'HEAD' ? undefined : Readable.from(zeros(Number(bytes))),
			);
		},
	});

	return app;
}

module.exports = { createFilesServer };
