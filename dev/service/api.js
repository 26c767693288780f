const { setTimeout: pause } = require('node:timers/promises');
const multipart = require('@fastify/multipart').default;
const { fastify } = require('fastify');
const { answerFaultily, faultsInPrompt, sendHtml403, taskFaults } = require('./faults');
const { readOrder } = require('./models');
const { Refusal } = require('./refusal');
const { registerUploads } = require('./upload-api');

/** @typedef {import('fastify').FastifyRequest} FastifyRequest */
/** @typedef {import('fastify').FastifyReply} FastifyReply */
/**
 * @typedef {object} ApiRequest
 * @property {number} at in ms
 * @property {string} method
 * @property {string} path without the query
 * @property {number | null} status the HTTP status; null while, or when, it is not answered
 * @property {number | null} code of the answer's envelope; null when it has none
 */

const MAX_JSON_BYTES = 64 * 1024 * 1024;

/** @param {unknown} data */
const success = (data) => ({ code: 200, msg: 'success', data });

/** @param {FastifyRequest} request */
const pathOf = ({ url }) => url.split('?')[0] ?? url;

/**
 * @param {FastifyRequest} _request
 * @param {string} body
 */
async function parseJson(_request, body) {
	try {
		return JSON.parse(body);
	} catch {
		throw new Refusal(422, 'body is not JSON');
	}
}

/** @param {import('./settings').Settings} settings */
function createRateLimiter(settings) {
	/** @type {number[]} */
	let recent = [];
	/** @throws {Refusal} 429 when the account has created too many in the window */
	return function takeTurn() {
		if (!settings.rateLimit) return;
		const { requests, seconds } = settings.rateLimit;
		recent = recent.filter((at) => at > Date.now() - seconds * 1000);
		if (recent.length >= requests) {
			throw new Refusal(429, `Too many requests: ${requests} per ${seconds} s can be created`);
		}
		recent.push(Date.now());
	};
}

/**
 * The API's HTTP server, not listening yet.
 *
 * @param {object} service
 * @param {import('./settings').Settings} service.settings
 * @param {ReturnType<typeof import('./details').createDetails>} service.details
 * @param {ReturnType<typeof import('./tasks').createTasks>} service.tasks
 * @param {ReturnType<typeof import('./uploads').createUploads>} service.uploads
 * @param {ReturnType<typeof import('./faults').createRequestFaults>} service.requestFaults
 * @param {ApiRequest[]} service.requests
 * @param {AbortSignal} service.closing
 */
function createApi(service) {
	const { settings, details, tasks, uploads, requestFaults, requests, closing } = service;
	const app = fastify({ forceCloseConnections: true, bodyLimit: MAX_JSON_BYTES });
	const takeTurn = createRateLimiter(settings);
	/** @type {WeakMap<FastifyRequest, ApiRequest>} */
	const entries = new WeakMap();
	let orders = 0;

	app.removeContentTypeParser(['application/json', 'text/plain']);
	app.addContentTypeParser('application/json', { parseAs: 'string' }, parseJson);
	app.register(multipart, { limits: { fileSize: Infinity, files: 1 } });

	app.addHook('onRequest', async (request) => {
		const path = pathOf(request);
		/** @type {ApiRequest} */
		const entry = { at: Date.now(), method: request.method, path, status: null, code: null };
		entries.set(request, entry);
		requests.push(entry);
	});
	app.addHook('preSerialization', async (request, _reply, payload) => {
		const entry = entries.get(request);
		if (entry) entry.code = /** @type {{ code: number }} */ (payload).code;
		return payload;
	});
	app.addHook('onSend', async (request, reply) => {
		const entry = entries.get(request);
		if (entry) entry.status = reply.statusCode;
	});

	app.addHook('onRequest', async (request, reply) => {
		const fault = requestFaults.take(request.method, pathOf(request));
		if (!fault) return;
		await pause((fault.delaySeconds ?? 0) * 1000, undefined, { signal: closing });
		return answerFaultily(request, reply, fault) ? reply : undefined;
	});
	app.addHook('onRequest', async ({ headers }, reply) => {
		if (!headers.authorization) throw new Refusal(401, 'The Authorization header is missing');
		if (headers.authorization !== `Bearer ${settings.token}`) {
			throw new Refusal(401, 'The access token is not valid');
		}
		return headers['user-agent']?.trim() ? undefined : sendHtml403(reply);
	});

	app.setErrorHandler((error, request, reply) => {
		const refused = error instanceof Refusal;
		const code = refused ? error.code : 500;
		const msg = /** @type {Error} */ (error).message;
		settings.log(`refuse ${request.method} ${pathOf(request)}: ${code} ${msg}`);
		return reply.code(refused ? 200 : 500).send({ code, msg, data: null });
	});
	app.setNotFoundHandler((request, reply) =>
		reply.code(404).send({ code: 404, msg: `There is no ${request.method} ${pathOf(request)}` }),
	);

	/** @param {FastifyRequest} request */
	async function requireJson({ headers }) {
		if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
			throw new Refusal(422, 'Content-Type must be application/json');
		}
	}

	app.post('/api/v1/jobs/createTask', { onRequest: requireJson }, async (request, reply) => {
		const order = readOrder(request.body);
		takeTurn();
		if (settings.credits < settings.costPerTask) {
			throw new Refusal(402, `The account has ${settings.credits} credits: too few for a task`);
		}
		const faults = taskFaults.parse({
			...faultsInPrompt(order.input.prompt),
			...settings.faultsFor({ ...order, index: orders++ }),
		});
		const { status, garbage, noTaskId, hang, html403 } = faults;
		const spoilt = Boolean(status || garbage || noTaskId || hang || html403);

		const made = !spoilt || faults.created ? tasks.create(order, faults) : undefined;
		if (made) settings.credits -= settings.costPerTask;
		settings.log(`create ${order.model}: ${made?.taskId ?? 'no task'}${spoilt ? ', spoilt' : ''}`);

		const answer = { status: status === true ? 500 : status, garbage, hang, html403 };
		if (answerFaultily(request, reply, answer)) return reply;
		return success(noTaskId ? {} : { taskId: made?.taskId });
	});

	/** @param {string | undefined} taskId */
	function tell(taskId) {
		if (!taskId) throw new Refusal(422, 'taskId is required');
		const record = tasks.records.get(taskId);
		if (!record) throw new Refusal(422, 'recordInfo is null');
		return success(details.details(record));
	}
	app.get('/api/v1/jobs/recordInfo', async ({ query }) =>
		tell(/** @type {{ taskId?: string }} */ (query).taskId),
	);
	app.get('/api/v1/tasks/query/:taskId', async ({ params }) =>
		tell(/** @type {{ taskId: string }} */ (params).taskId),
	);

	app.get('/api/v1/chat/credit', async () => success(settings.credits));

	registerUploads(app, { uploads, closing, requireJson });
	return app;
}

module.exports = { createApi };
