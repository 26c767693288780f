import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
	fastify,
	type FastifyError,
	type FastifyInstance,
	type FastifyReply,
	type FastifyRequest,
} from 'fastify';
import { dialects } from './dialects.cts';
import { answerFaultily, readFaults, sendHtml403, type TaskFaults } from './faults.cts';
import { createOriginals } from './idempotency.cts';
import type { Context } from './index.cts';
import { isLookup, registerLookups } from './lookups.cts';
import { readOrder } from './models.cts';
import { endpoints, type Endpoint } from './settings.cts';
import { describe, type createLifecycle, type TaskRecord } from './tasks.cts';
import { registerUploads } from './uploads.cts';
import { Refusal, wrapData } from './validation.cts';

export interface ApiRequest {
	method: string;
	/** Without the query. */
	path: string;
	/** The code of the answer's envelope, when it has one. */
	code?: number;
}

type Lifecycle = ReturnType<typeof createLifecycle>;

const readPath = ({ url }: FastifyRequest) => url.replace(/\?.*/, '');

const sendNotFound = (request: FastifyRequest, reply: FastifyReply) =>
	reply.code(404).send({ code: 404, msg: `There is no ${request.method} ${readPath(request)}` });

/** The API's HTTP server, not listening yet. */
export function createApi(context: Context, lifecycle: Lifecycle): FastifyInstance {
	const app = fastify({ forceCloseConnections: true });
	addHooks(app, context);
	app.setNotFoundHandler(sendNotFound);
	registerTasks(app, context, lifecycle);
	registerUploads(app, context);
	registerLookups(app, context);
	return app;
}

/** Has an API answer at another port too, until it closes, and returns the origin there. */
export async function listenAgain(app: FastifyInstance, host: string, port: number) {
	const server = createServer((request, response) => app.routing(request, response));
	app.addHook('onClose', async () => {
		server.closeAllConnections();
		server.close();
	});
	server.listen(port, host);
	await once(server, 'listening');
	return `http://${host}:${(server.address() as AddressInfo).port}`;
}

/** Records each request, strikes it with the faults that wait for it, and refuses what no endpoint takes. */
function addHooks(app: FastifyInstance, context: Context) {
	const { settings, requests, requestFaults, wait } = context;
	const { uploadsApart, needsContentType, hasDataIn401 } = dialects[settings.dialect];
	const entries = new WeakMap<FastifyRequest, ApiRequest>();

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

	const isAtOtherHost = (path: string, { localPort }: FastifyRequest['socket']) =>
		uploadsApart &&
		path.startsWith(endpoints.uploads) !== (String(localPort) === new URL(context.uploadUrl).port);

	app.addHook('onRequest', async (request, reply) => {
		const { method, headers, socket } = request;
		const entry = { method, path: readPath(request) };
		entries.set(request, entry);
		requests.push(entry);

		const fault = takeFault(entry.path);
		if (fault?.delaySeconds) await wait(fault.delaySeconds);
		const faulty = fault && answerFaultily(request, reply, fault);
		if (faulty) return faulty;
		if (!headers.authorization || (needsContentType && !headers['content-type']))
			throw new Refusal(401, 'The Authorization or Content-Type header is missing');
		if (headers.authorization !== `Bearer ${settings.token}`)
			throw new Refusal(401, 'The access token is not valid');
		if (!headers['user-agent']?.trim()) return sendHtml403(reply);
		const isAbsent = isOff(entry.path) || isAtOtherHost(entry.path, socket);
		return isAbsent ? sendNotFound(request, reply) : undefined;
	});

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
		const lacksData = code === 401 && (!hasDataIn401 || isLookup(readPath(request)));
		const isOurs = error instanceof Refusal || unreadable;
		const body = { code, msg: error.message, data: lacksData ? undefined : null };
		return reply.code(isOurs ? 200 : 500).send(body);
	});
}

/** Adds the creation of tasks, their details, and the account's credits. */
function registerTasks(app: FastifyInstance, context: Context, lifecycle: Lifecycle) {
	const { settings, tasks } = context;
	const { creditsRefusal, describeCreation, describeTask } = dialects[settings.dialect];
	const originals = createOriginals(context);
	let orders = 0;

	/** Loses the answer to a creation while its fault says so. */
	function loseAnswer({ faults }: TaskRecord) {
		const dropConnection = Boolean(faults.lost);
		if (faults.lost) faults.lost--;
		return { dropConnection };
	}

	app.post(endpoints.creation, async (request, reply) => {
		const { order, result } = readOrder(request.body, settings.dialect);
		const original = originals.find(request.headers, order);
		if (original) {
			settings.log?.(`create ${order.model}: ${original.taskId} again`);
			return (
				answerFaultily(request, reply, loseAnswer(original)) ??
				wrapData(describeCreation(original.taskId))
			);
		}
		if (settings.credits < settings.costPerTask)
			throw new Refusal(creditsRefusal.code, creditsRefusal.msg);
		const faults: TaskFaults = {
			...readFaults(order.input.prompt),
			...settings.faultsFor?.({ ...order, index: orders++ }),
		};
		const { status, garbage, hang, accepted = 200 } = faults;
		const spoilt = Boolean(status || garbage || hang);

		const task = !spoilt || faults.created ? lifecycle.create(order, result, faults) : undefined;
		if (task) settings.credits -= settings.costPerTask;
		settings.log?.(
			`create ${order.model}: ${task?.taskId ?? 'no task'}${spoilt ? ', spoilt' : ''}`,
		);

		if (task) originals.keep(request.headers, task);
		const loss = task ? loseAnswer(task) : {};
		const faulty = answerFaultily(request, reply, { status, garbage, hang, ...loss });
		if (faulty) return faulty;
		return reply.code(accepted).send(wrapData(task ? describeCreation(task.taskId) : {}));
	});

	app.get<{ Querystring: { taskId?: string } }>(endpoints.details, async (request, reply) => {
		const record = tasks.get(request.query.taskId ?? '');
		if (!record) throw new Refusal(422, 'recordInfo is null');
		record.detailsRequests++;
		const { detailsHang: hang, detailsFail = 0 } = record.faults;
		const status = record.detailsRequests <= detailsFail ? 500 : undefined;
		return (
			answerFaultily(request, reply, { hang, status }) ??
			wrapData(describeTask(describe(context, record)))
		);
	});

	app.get(endpoints.balance, async () => wrapData(settings.credits));
}
