import { fastify, type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify';
import { corpus, findInCatalogue } from './catalogue.cts';
import { dialects } from './dialects.cts';
import { answerFaultily } from './faults.cts';
import type { Context } from './index.cts';
import { registerTasks } from './jobs.cts';
import { hasFile } from './results.cts';
import type { Lifecycle } from './tasks.cts';
import { registerUploads } from './uploads.cts';
import { check, nonEmptyText, Rejection, strictObject, wrapData } from './validation.cts';

export interface ApiRequest {
	method: string;
	/** Without the query. */
	path: string;
	/** The HTTP status, once it is answered. */
	status?: number;
}

const BALANCE_PATH = '/api/v1/chat/credit';
const MODELS_PATH = '/api/v1/models';
const SCHEMA_PATH = new RegExp(`^${MODELS_PATH}/(.+)/schema$`);
const DOWNLOAD_URL_PATH = '/api/v1/common/download-url';
/** How long a fresh link is valid. */
const LINK_MS = 20 * 60_000;

const urlBody = strictObject({ url: nonEmptyText });

const readPath = ({ url }: FastifyRequest) => url.replace(/\?.*/, '');

/** Tells whether the endpoint is one of those that share a budget and leave `data` out of a 401. */
const isRead = (path: string) => path.startsWith(MODELS_PATH) || path === DOWNLOAD_URL_PATH;

/** The API's HTTP servers, not listening yet: one, or a second one for uploads where these have a host of their own. */
export function createApi(context: Context, lifecycle: Lifecycle) {
	const { uploadsApart } = dialects[context.settings.dialect];
	const api = createServer(context);
	const uploadApi = uploadsApart ? createServer(context) : api;
	registerTasks(api, context, lifecycle);
	api.get(BALANCE_PATH, async () => wrapData(context.settings.credits));
	registerReads(api, context);
	registerUploads(uploadApi, context);
	return { api, uploadApi };
}

/** Makes a server that records each request, strikes it with the faults that wait for it, and rejects strangers. */
function createServer({ settings, requests, requestFaults, wait }: Context) {
	const { postNeedsContentType, hasDataIn401 } = dialects[settings.dialect];
	const app = fastify({ forceCloseConnections: true });

	/** Returns the first fault that matches the path, used up. */
	function takeFault(path: string) {
		const index = requestFaults.findIndex((fault) => path.startsWith(fault.path ?? ''));
		return index < 0 ? undefined : requestFaults.splice(index, 1)[0];
	}

	/** Tells whether the settings switch the endpoint at this path off. */
	const isOff = (path: string) =>
		(path === BALANCE_PATH && !settings.balance) ||
		(path.startsWith(MODELS_PATH) && !settings.catalogue) ||
		(path === DOWNLOAD_URL_PATH && !settings.downloadUrl);

	app.addHook('onRequest', async (request, reply) => {
		const { method, headers } = request;
		const entry: ApiRequest = { method, path: readPath(request) };
		requests.push(entry);
		reply.raw.once('finish', () => (entry.status = reply.statusCode));

		const fault = takeFault(entry.path);
		if (fault?.delaySeconds) await wait(fault.delaySeconds);
		const faulty = fault && answerFaultily(request, reply, fault);
		if (faulty) return faulty;
		const needsContentType = postNeedsContentType && method !== 'GET';
		if (!headers.authorization || (needsContentType && !headers['content-type']))
			throw new Rejection(401, 'The Authorization or Content-Type header is missing');
		if (headers.authorization !== `Bearer ${settings.token}`)
			throw new Rejection(401, 'The access token is not valid');
		if (!headers['user-agent']?.trim())
			return reply.code(403).type('text/html').send('<!DOCTYPE html><h1>403 Forbidden</h1>\n');
		return isOff(entry.path) ? reply.callNotFound() : undefined;
	});

	app.addHook('onSend', async (request, _reply, payload) => {
		const { rewrite } = settings;
		if (!rewrite || typeof payload !== 'string' || !payload.startsWith('{')) return payload;
		const body = rewrite(JSON.parse(payload), readPath(request));
		return typeof body === 'string' ? body : JSON.stringify(body);
	});

	app.setNotFoundHandler((request, reply) =>
		reply.code(404).send({ code: 404, msg: `There is no ${request.method} ${readPath(request)}` }),
	);
	app.setErrorHandler<Rejection | FastifyError>((error, request, reply) => {
		const isUnreadable = 'statusCode' in error && Number(error.statusCode) < 500;
		if (!(error instanceof Rejection || isUnreadable)) throw error;
		const code = error instanceof Rejection ? error.code : 422;
		settings.log?.(`reject ${request.method} ${readPath(request)}: ${code} ${error.message}`);
		const lacksData = code === 401 && (!hasDataIn401 || isRead(readPath(request)));
		return reply.code(200).send({ code, msg: error.message, data: lacksData ? undefined : null });
	});
	return app;
}

/** Adds the model catalogue, and fresh links for files. */
function registerReads(app: FastifyInstance, context: Context) {
	const { settings, tasks, uploads } = context;
	let last = -Infinity;

	/** @throws {Rejection} 429 when the last request that was taken is too recent */
	function takeTurn() {
		const now = performance.now();
		if (now - last < settings.readSeconds * 1000)
			throw new Rejection(429, 'Call frequency is too high. Please try again later.');
		last = now;
	}

	/** Tells whether the link is one of a result file or upload that can be had. */
	function isOwn(link: string) {
		if ([...uploads.values()].some(({ downloadUrl }) => downloadUrl === link)) return true;
		if (!link.startsWith(`${context.resultsUrl}/results/`)) return false;
		const [name = '', taskId = ''] = link.split('/').reverse();
		const task = tasks.get(taskId);
		return (
			task !== undefined && hasFile(task, decodeURIComponent(name)) && !task.faults.fileRefused
		);
	}

	void app.register(async (scope) => {
		scope.addHook('onRequest', async () => takeTurn());

		scope.get(MODELS_PATH, async () => {
			const models = corpus.map(({ entry }) => entry);
			return wrapData({ total: models.length, models });
		});

		scope.get(`${MODELS_PATH}/*`, async ({ url }) => {
			const [, path = ''] = SCHEMA_PATH.exec(url) ?? [];
			// An encoded slash is not the name's own.
			const found = /%2f/i.test(path) ? undefined : findInCatalogue(decodeURIComponent(path));
			if (!found) throw new Rejection(404, 'The model does not exist');
			return wrapData({ model: found.entry.model, openapi: found.openapi });
		});

		scope.post(DOWNLOAD_URL_PATH, async ({ body }) => {
			const [link = ''] = check(urlBody, body).url.split('?');
			if (!isOwn(link)) throw new Rejection(422, 'url is wrong');
			return wrapData(`${link}?expires=${Date.now() + LINK_MS}`);
		});
	});
}
