import type { FastifyInstance } from 'fastify';
import { findInCatalogue, listEntries, type CatalogueModel } from './catalogue.cts';
import type { Context } from './index.cts';
import { hasFile } from './results.cts';
import { check, Refusal, strictObject, text, wrapData } from './validation.cts';

const BUCKETS = 144;
const BUCKET_MS = 600_000;
const LINK_MS = 20 * 60_000;
const DOWNLOAD_URL_PATH = '/api/v1/common/download-url';

const urlBody = strictObject({ url: text });

/** Tells whether the endpoint is one of those that share a budget and leave `data` out of a 401. */
export const isLookup = (path: string) =>
	/^\/api\/v1\/models(\/|$)/.test(path) || path === DOWNLOAD_URL_PATH;

/** The last 24 hours, oldest first. Nothing ran in the first of every six buckets. */
function createPoints() {
	const end = Math.floor(Date.now() / BUCKET_MS) * BUCKET_MS;
	return Array.from({ length: BUCKETS }, (_, index) => {
		const start = end - (BUCKETS - index) * BUCKET_MS;
		const successRate = index % 6 ? 100 - (index % 50) : null;
		return {
			start: new Date(start).toISOString(),
			end: new Date(start + BUCKET_MS).toISOString(),
			successRate,
			errorRate: successRate === null ? null : 100 - successRate,
			isNormal: successRate === null || successRate > 60,
		};
	});
}

/** The endpoints of one model, by the last segment of their path. */
const views = {
	schema: ({ entry: { model }, openapi }: CatalogueModel) => ({ model, openapi }),
	price: ({ entry: { model, pricingDesc } }: CatalogueModel) => ({ model, pricingDesc }),
	'success-rate': ({ entry: { model }, openapi }: CatalogueModel) => ({
		model,
		points: openapi === null ? [] : createPoints(),
	}),
};
const isView = (name: string): name is keyof typeof views => Object.hasOwn(views, name);

const includes = (whole: string, part: string) => whole.toLowerCase().includes(part.toLowerCase());

interface Filters {
	/** A comma list. */
	taskType?: string;
	provider?: string;
	q?: string;
}

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
	function isOwn(url: string) {
		if (!URL.canParse(url)) return false;
		const { origin, pathname } = new URL(url);
		if (origin !== context.resultsUrl) return false;
		const [, place, taskId = '', name = ''] = pathname.split('/');
		if (place !== 'results')
			return [...uploads.values()].some(({ downloadUrl }) => downloadUrl === origin + pathname);
		const task = tasks.get(taskId);
		return task !== undefined && hasFile(task, name) && !task.faults.fileRefused;
	}

	void app.register(async (scope) => {
		scope.addHook('onRequest', async ({ url }, reply) => {
			const isOn = url.startsWith(DOWNLOAD_URL_PATH) ? settings.downloadUrl : settings.catalogue;
			if (isOn) return takeTurn();
			reply.callNotFound();
			return reply;
		});
		scope.get<{ Querystring: Filters }>('/api/v1/models', async ({ query }) => {
			const types = query.taskType?.toLowerCase().split(',');
			const models = listEntries(settings.generatedModels).filter(
				({ model, title, provider, taskType }) =>
					(!types || taskType.some((type) => types.includes(type.toLowerCase()))) &&
					(!query.provider || provider.toLowerCase() === query.provider.toLowerCase()) &&
					(!query.q || includes(`${model} ${title}`, query.q)),
			);
			return wrapData({ total: models.length, models });
		});

		scope.get('/api/v1/models/*', async ({ url }) => {
			const segments = url.replace(/\?.*/, '').split('/').slice(4);
			const view = segments.pop() ?? '';
			// An encoded slash is not the name's own.
			const isPlain = !segments.some((segment) => /%2f/i.test(segment));
			const model = isPlain && findInCatalogue(segments.map(decodeURIComponent).join('/'));
			if (!model || !isView(view)) throw new Refusal(404, 'The model does not exist');
			return wrapData(views[view](model));
		});

		scope.post(DOWNLOAD_URL_PATH, async ({ body }) => {
			const { url } = check(urlBody, body);
			if (!isOwn(url)) throw new Refusal(422, 'url is wrong');
			return wrapData(`${url.replace(/\?.*/, '')}?expires=${Date.now() + LINK_MS}`);
		});
	});
}
