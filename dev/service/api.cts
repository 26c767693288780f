import { setTimeout as pause } from 'node:timers/promises';
import { fastify, type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import {
	answerFaultily,
	readFaults,
	sendHtml403,
	type createRequestFaults,
	type TaskFaults,
} from './faults.cts';
import type { Context } from './index.cts';
import { isLookup, registerLookups } from './lookups.cts';
import { readOrder } from './models.cts';
import type { Settings } from './settings.cts';
import { describeTask, isLate, type createLifecycle } from './tasks.cts';
import { registerUploads } from './uploads.cts';
import { Refusal, wrapData } from './validation.cts';

export interface ApiRequest {
	method: string;
	/** Without the query. */
	path: string;
	/** The HTTP status; null until the request is answered. */
	status: number | null;
	/** The code of the answer's envelope; null when it has none. */
	code: number | null;
}

/** Writes JSON in which this ID is a number: 19 digits, more than a JavaScript number holds. */
const writeNumericId = (body: object, taskId: string) =>
	JSON.stringify(body).replace(`"taskId":"${taskId}"`, `"taskId":${taskId}`);

const readPath = ({ url }: FastifyRequest) => url.replace(/\?.*/, '');

/** Returns a function that throws a 429 when too many tasks were created lately. */
function createRateLimiter(settings: Settings) {
	let recent: number[] = [];
	return function takeTurn() {
		if (!settings.rateLimit) return;
		const { requests, seconds } = settings.rateLimit;
		recent = recent.filter((at) => at > Date.now() - seconds * 1000);
		if (recent.length >= requests)
			throw new Refusal(429, `Too many requests: ${requests} per ${seconds} s can be created`);
		recent.push(Date.now());
	};
}

/** The API's HTTP server, not listening yet. */
export function createApi(
	context: Context,
	lifecycle: ReturnType<typeof createLifecycle>,
	requestFaults: ReturnType<typeof createRequestFaults>,
) {
	const { settings, requests, tasks, closing } = context;
	const app = fastify({ forceCloseConnections: true });
	const takeTurn = createRateLimiter(settings);
	const entries = new WeakMap<FastifyRequest, ApiRequest>();
	let orders = 0;

	app.addHook('onRequest', async (request) => {
		const { method } = request;
		const entry: ApiRequest = { method, path: readPath(request), status: null, code: null };
		entries.set(request, entry);
		requests.push(entry);
	});
	app.addHook('preSerialization', async (request, _reply, payload: { code: number }) => {
		const entry = entries.get(request);
		if (entry) entry.code = payload.code;
		return payload;
	});
	app.addHook('onSend', async (request, reply) => {
		const entry = entries.get(request);
		if (entry) entry.status = reply.statusCode;
	});

	app.addHook('onRequest', async (request, reply) => {
		const fault = requestFaults.take(readPath(request));
		if (!fault) return;
		await pause((fault.delaySeconds ?? 0) * 1000, undefined, { signal: closing });
		return answerFaultily(request, reply, fault) ? reply : undefined;
	});
	app.addHook('onRequest', async ({ headers }, reply) => {
		if (!headers.authorization) throw new Refusal(401, 'The Authorization header is missing');
		if (headers.authorization !== `Bearer ${settings.token}`)
			throw new Refusal(401, 'The access token is not valid');
		return headers['user-agent']?.trim() ? undefined : sendHtml403(reply);
	});

	app.setErrorHandler<Refusal | FastifyError>((error, request, reply) => {
		const unreadable = 'statusCode' in error && (error.statusCode ?? 500) < 500;
		const code = error instanceof Refusal ? error.code : unreadable ? 422 : 500;
		settings.log(`refuse ${request.method} ${readPath(request)}: ${code} ${error.message}`);
		const data = code === 401 && isLookup(readPath(request)) ? undefined : null;
		return reply.code(code === 500 ? 500 : 200).send({ code, msg: error.message, data });
	});
	app.setNotFoundHandler((request, reply) =>
		reply.code(404).send({ code: 404, msg: `There is no ${request.method} ${readPath(request)}` }),
	);

	app.post('/api/v1/jobs/createTask', async (request, reply) => {
		const { order, result } = readOrder(request.body);
		takeTurn();
		if (settings.credits < settings.costPerTask)
			throw new Refusal(402, `The account has ${settings.credits} credits: too few for a task`);
		const faults: TaskFaults = {
			...readFaults(order.input.prompt),
			...settings.faultsFor({ ...order, index: orders++ }),
		};
		const { garbage, noTaskId, hang, html403 } = faults;
		const status = faults.status === true ? 500 : faults.status;
		const spoilt = Boolean(status || garbage || noTaskId || hang || html403);

		const task = !spoilt || faults.created ? lifecycle.create(order, result, faults) : undefined;
		if (task) settings.credits -= settings.costPerTask;
		settings.log(`create ${order.model}: ${task?.taskId ?? 'no task'}${spoilt ? ', spoilt' : ''}`);

		if (answerFaultily(request, reply, { status, garbage, hang, html403 })) return reply;
		const { accepted = 200, code = 200, numericId } = faults;
		const body = { ...wrapData(noTaskId ? {} : { taskId: task?.taskId }), code };
		reply.code(accepted).type('application/json');
		return reply.send(numericId && task ? writeNumericId(body, task.taskId) : body);
	});

	function answerDetails(taskId: string | undefined, reply: FastifyReply) {
		if (!taskId) throw new Refusal(422, 'taskId is required');
		const record = tasks.get(taskId);
		if (!record || isLate(record)) throw new Refusal(422, 'recordInfo is null');
		const body = wrapData(describeTask(context, record));
		if (!record.faults.numericId) return body;
		return reply.type('application/json').send(writeNumericId(body, taskId));
	}
	app.get<{ Querystring: { taskId?: string } }>(
		'/api/v1/jobs/recordInfo',
		async ({ query }, reply) => answerDetails(query.taskId, reply),
	);
	app.get<{ Params: { taskId: string } }>(
		'/api/v1/tasks/query/:taskId',
		async ({ params }, reply) => answerDetails(params.taskId, reply),
	);

	app.get('/api/v1/chat/credit', async () => wrapData(settings.credits));

	registerUploads(app, context);
	registerLookups(app, context);
	return app;
}
