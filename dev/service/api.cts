import { fastify, type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { answerFaultily, readFaults, sendHtml403, type TaskFaults } from './faults.cts';
import { createOriginals } from './idempotency.cts';
import type { Context } from './index.cts';
import { isLookup, registerLookups } from './lookups.cts';
import { readOrder } from './models.cts';
import { createReplay, readRecorded } from './recorded.cts';
import { hasEnded } from './results.cts';
import { endpoints, type Endpoint } from './settings.cts';
import { describeTask, FAIL_MESSAGE, type createLifecycle, type TaskRecord } from './tasks.cts';
import { registerUploads } from './uploads.cts';
import { Refusal, wrapData } from './validation.cts';

export interface ApiRequest {
	method: string;
	/** Without the query. */
	path: string;
	/** The code of the answer's envelope, when it has one. */
	code?: number;
}

/** Writes JSON with this ID as a number: 19 digits, more than a JavaScript number holds. */
const writeNumericId = (body: object, taskId: string) =>
	JSON.stringify(body).replace(`"taskId":"${taskId}"`, `"taskId":${taskId}`);

const readPath = ({ url }: FastifyRequest) => url.replace(/\?.*/, '');

const sendNotFound = (request: FastifyRequest, reply: FastifyReply) =>
	reply.code(404).send({ code: 404, msg: `There is no ${request.method} ${readPath(request)}` });

/** The API's HTTP server, not listening yet. */
export function createApi(context: Context, lifecycle: ReturnType<typeof createLifecycle>) {
	const { settings, requests, requestFaults, tasks, wait } = context;
	const app = fastify({ forceCloseConnections: true });
	const entries = new WeakMap<FastifyRequest, ApiRequest>();
	let orders = 0;

	/** Returns the first fault that matches the path, used up by one. */
	function takeFault(path: string) {
		const index = requestFaults.findIndex((fault) => path.startsWith(fault.path ?? ''));
		const fault = requestFaults[index];
		if (fault && --fault.times === 0) requestFaults.splice(index, 1);
		return fault;
	}

	/** Tells whether the settings switch the endpoint at this path off. */
	const isOff = (path: string) =>
		Object.entries(endpoints).some(
			([endpoint, start]) => !settings[endpoint as Endpoint] && path.startsWith(start),
		);

	const originals = createOriginals(context);
	const recorded = readRecorded(settings.recorded);
	const replay = createReplay(context, recorded);

	/** Loses the answer to a creation while its fault says so. */
	function loseAnswer({ faults }: TaskRecord) {
		const dropConnection = Boolean(faults.lost);
		if (faults.lost) faults.lost--;
		return { dropConnection };
	}

	app.addHook('onRequest', async (request, reply) => {
		const { method, headers } = request;
		const entry = { method, path: readPath(request) };
		entries.set(request, entry);
		requests.push(entry);

		const fault = takeFault(entry.path);
		if (fault?.delaySeconds) await wait(fault.delaySeconds);
		const faulty = fault && answerFaultily(request, reply, fault);
		if (faulty) return faulty;
		if (!headers.authorization) throw new Refusal(401, 'The Authorization header is missing');
		if (headers.authorization !== `Bearer ${settings.token}`)
			throw new Refusal(401, 'The access token is not valid');
		if (!headers['user-agent']?.trim()) return sendHtml403(reply);
		return isOff(entry.path) ? sendNotFound(request, reply) : undefined;
	});

	app.addHook('onSend', async (request, reply, payload) =>
		typeof payload === 'string' ? replay(request, reply, payload) : payload,
	);
	app.addHook('onSend', async (request, _reply, payload) => {
		const { rewrite } = settings;
		if (!rewrite || typeof payload !== 'string' || !payload.startsWith('{')) return payload;
		const body = rewrite(JSON.parse(payload), readPath(request));
		return typeof body === 'string' ? body : JSON.stringify(body);
	});
	app.addHook('onSend', async (request, _reply, payload) => {
		const code = /"code":(\d+)/.exec(String(payload))?.[1];
		Object.assign(entries.get(request) ?? {}, { code: code && Number(code) });
	});

	app.setErrorHandler<Refusal | FastifyError>((error, request, reply) => {
		const unreadable = 'statusCode' in error && (error.statusCode ?? 500) < 500;
		const code = error instanceof Refusal ? error.code : unreadable ? 422 : 500;
		settings.log?.(`refuse ${request.method} ${readPath(request)}: ${code} ${error.message}`);
		const data = code === 401 && isLookup(readPath(request)) ? undefined : null;
		return reply.code(code === 500 ? 500 : 200).send({ code, msg: error.message, data });
	});
	app.setNotFoundHandler(sendNotFound);

	app.post('/api/v1/jobs/createTask', async (request, reply) => {
		const { order, result } = readOrder(request.body, recorded.model);
		const original = originals.find(request.headers, order);
		if (original) {
			settings.log?.(`create ${order.model}: ${original.taskId} again`);
			return (
				answerFaultily(request, reply, loseAnswer(original)) ??
				wrapData({ taskId: original.taskId })
			);
		}
		if (settings.credits < settings.costPerTask)
			throw new Refusal(402, `The account has ${settings.credits} credits: too few for a task`);
		const faults: TaskFaults = {
			numericId: recorded.hasNumericIds,
			...readFaults(order.input.prompt),
			...settings.faultsFor?.({ ...order, index: orders++ }),
		};
		const { status, garbage, noTaskId, hang, html403 } = faults;
		const spoilt = Boolean(status || garbage || noTaskId || hang || html403);

		const task = !spoilt || faults.created ? lifecycle.create(order, result, faults) : undefined;
		if (task) settings.credits -= settings.costPerTask;
		settings.log?.(
			`create ${order.model}: ${task?.taskId ?? 'no task'}${spoilt ? ', spoilt' : ''}`,
		);

		if (task) originals.keep(request.headers, task);
		const loss = task ? loseAnswer(task) : {};
		const faulty = answerFaultily(request, reply, { status, garbage, hang, html403, ...loss });
		if (faulty) return faulty;
		const { accepted = 200, numericId } = faults;
		const body = wrapData(noTaskId ? {} : { taskId: task?.taskId });
		reply.code(accepted).type('application/json');
		return reply.send(numericId && task ? writeNumericId(body, task.taskId) : body);
	});

	app.get<{ Querystring: { taskId?: string } }>(
		'/api/v1/jobs/recordInfo',
		async (request, reply) => {
			const record = tasks.get(request.query.taskId ?? '');
			if (!record) throw new Refusal(422, 'recordInfo is null');
			record.detailsRequests++;
			const { detailsHang: hang, detailsFail = 0, detailsCode, detailsRecord } = record.faults;
			const status = record.detailsRequests <= detailsFail ? 500 : undefined;
			const faulty = answerFaultily(request, reply, { hang, status });
			if (faulty) return faulty;

			const code = hasEnded(record) ? detailsCode : undefined;
			if (code !== undefined && !detailsRecord) throw new Refusal(code, FAIL_MESSAGE);
			const body = { ...wrapData(describeTask(context, record)), ...(code && { code }) };
			reply.type('application/json');
			return record.faults.numericId ? writeNumericId(body, record.taskId) : body;
		},
	);

	app.get('/api/v1/chat/credit', async () => wrapData(settings.credits));

	registerUploads(app, context);
	registerLookups(app, context);
	return app;
}
