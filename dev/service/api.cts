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

const CREDITS_PATH = '/api/v1/chat/credit';
const MODELS_PATH = '/api/v1/models';
const SCHEMA_PATH = new RegExp(`^${MODELS_PATH}/(.+)/schema$`);
const DOWNLOAD_URL_PATH = '/api/v1/common/download-url';
/** How long a fresh link is valid. */
const LINK_MS = 20 * 60_000;

const urlBody = strictObject({ url: nonEmptyText });

const readPath = ({ url }: FastifyRequest) => url.replace(/\?.*/, '');

/** Whether the endpoint is one of those that share a rate and leave `data` out of a 401. */
const isRead = (path: string) => path.startsWith(MODELS_PATH) || path === DOWNLOAD_URL_PATH;

/** Creates the API's HTTP server, not listening yet. Uploads get a second server where they have a host of their own. */
export function createApi(context: Context, lifecycle: Lifecycle) {
	const { uploadsApart } = dialects[context.settings.dialect];
	const api = createServer(context);
	const uploadApi = uploadsApart ? createServer(context) : api;
	registerTasks(api, context, lifecycle);
	api.get(CREDITS_PATH, async () => wrapData(context.settings.credits));
	registerReads(api, context);
	registerUploads(uploadApi, context);
	return { api, uploadApi };
}

/** Creates a server that records each request, applies the faults that wait for it, and rejects requests without the token. */
function createServer({ settings, requests, requestFaults, wait }: Context) {
	const { postNeedsContentType, hasDataIn401 } = dialects[settings.dialect];
	const app = fastify({ forceCloseConnections: true });

	/** Takes the first fault that matches the path off the list. */
	function takeFault(path: string) {
		const index = requestFaults.findIndex((fault) => path.startsWith(fault.path ?? ''));
		return index < 0 ? undefined : requestFaults.splice(index, 1)[0];
	}

	/** Whether the settings switch the endpoint at this path off. */
	const isOff = (path: string) =>
		(path === CREDITS_PATH && !settings.balance) ||
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

/** Adds the endpoints of the model catalogue, and of fresh links for files. */
function registerReads(app: FastifyInstance, context: Context) {
	const { settings, tasks, uploads } = context;
	let last = -Infinity;

	/** @throws {Rejection} 429 when the last admitted request is too recent */
	function admitRead() {
		const now = performance.now();
		if (now - last < settings.readSeconds * 1000)
			throw new Rejection(429, 'Call frequency is too high. Please try again later.');
		last = now;
	}

	/** Whether the link leads to a result file or an upload that can be downloaded. */
	function isOwn(link: string) {
		if ([...uploads.values()].some(({ downloadUrl }) => downloadUrl === link)) return true;
		if (!link.startsWith(`${context.filesUrl}/results/`)) return false;
		const [name = '', taskId = ''] = link.split('/').reverse();
		const task = tasks.get(taskId);
		return (
			task !== undefined && hasFile(task, decodeURIComponent(name)) && !task.faults.fileRejected
		);
	}

	void app.register(async (scope) => {
		scope.addHook('onRequest', async () => admitRead());

		scope.get(MODELS_PATH, async () => {
			const models = corpus.map(({ entry }) => entry);
			return wrapData({ total: models.length, models });
		});

		scope.get(`${MODELS_PATH}/*`, async ({ url }) => {
			const [, path = ''] = SCHEMA_PATH.exec(url) ?? [];
			// A slash of a model's name is never encoded.
			const model = /%2f/i.test(path) ? undefined : findInCatalogue(decodeURIComponent(path));
			if (!model) throw new Rejection(404, 'The model does not exist');
			return wrapData({ model: model.entry.model, openapi: model.openapi });
		});

		scope.post(DOWNLOAD_URL_PATH, async ({ body }) => {
			const [link = ''] = check(urlBody, body).url.split('?');
			if (!isOwn(link)) throw new Rejection(422, 'url is wrong');
			return wrapData(`${link}?expires=${Date.now() + LINK_MS}`);
		});
	});
}
