import type { FastifyInstance } from 'fastify';
import { corpus, findInCatalogue } from './catalogue.cts';
import type { Context } from './index.cts';
import { hasFile } from './results.cts';
import { check, Refusal, strictObject, text, wrapData } from './validation.cts';

const LINK_MS = 20 * 60_000;
const MODELS_PATH = '/api/v1/models';
const DOWNLOAD_URL_PATH = '/api/v1/common/download-url';

const urlBody = strictObject({ url: text });

/** Tells whether the endpoint is one of those that share a budget and leave `data` out of a 401. */
export const isLookup = (path: string) =>
	path.startsWith(MODELS_PATH) || path === DOWNLOAD_URL_PATH;

/** Adds the model catalogue, and fresh links for files. */
export function registerLookups(app: FastifyInstance, context: Context) {
	const { settings, tasks, uploads } = context;
	let last = -Infinity;

	/** @throws {Refusal} 429 when the last request that was taken is too recent */
	function takeTurn() {
		const now = performance.now();
		if (now - last < settings.lookupSeconds * 1000)
			throw new Refusal(429, 'Call frequency is too high. Please try again later.');
		last = now;
	}

	/** Tells whether the link is one of a result file or upload that can be had. */
	function isOwn(link: string) {
		if ([...uploads.values()].some(({ downloadUrl }) => downloadUrl === link)) return true;
		if (!link.startsWith(`${context.resultsUrl}/results/`)) return false;
		const [name = '', taskId = ''] = link.split('/').reverse();
		const task = tasks.get(taskId);
		return task !== undefined && hasFile(task, name) && !task.faults.fileRefused;
	}

	void app.register(async (scope) => {
		scope.addHook('onRequest', async () => takeTurn());

		scope.get(MODELS_PATH, async () => {
			const models = corpus.map(({ entry }) => entry);
			return wrapData({ total: models.length, models });
		});

		scope.get(`${MODELS_PATH}/*`, async ({ url }) => {
			const [, path = ''] = /\/models\/(.+)\/schema$/.exec(url) ?? [];
			// An encoded slash is not the name's own.
			const found = /%2f/i.test(path) ? undefined : findInCatalogue(decodeURIComponent(path));
			if (!found) throw new Refusal(404, 'The model does not exist');
			return wrapData({ model: found.entry.model, openapi: found.openapi });
		});

		scope.post(DOWNLOAD_URL_PATH, async ({ body }) => {
			const [link = ''] = check(urlBody, body).url.split('?');
			if (!isOwn(link)) throw new Refusal(422, 'url is wrong');
			return wrapData(`${link}?expires=${Date.now() + LINK_MS}`);
		});
	});
}
