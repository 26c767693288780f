import { sleep } from 'n8n-workflow';
import { BoundedMap } from '../lib/boundedMap';
import { digest } from '../lib/json';
import { RateLimiter } from '../lib/rateLimiter';
import type { TaskService } from './client';
import { isRateLimited } from './errors';
import type { RequestSettings } from './exchange';
import type { CatalogueModel } from './schemas';

/** How long answers are reused, in ms. Clients of such services use 10 min to 6 h, and 24 h. */
const LIST_LIFETIME = 10 * 60 * 1000;
const SCHEMA_LIFETIME = 24 * 60 * 60 * 1000;

/** A service that refused a new answer is asked again after this time, in milliseconds. */
const RETRY_AFTER = 60 * 1000;

/**
 * Services usually allow one request a second for each account, and say so only by `code` 429. The
 * pause is between an answer and the next request, because a request may be slow to arrive.
 */
const PAUSE = 1_100;
const LIMITS = { requests: Infinity, period: 0, patience: 20_000, isTooFast: isRateLimited };

const SETTINGS = { timeoutSeconds: 20 };

/** Bounds of the memory. A schema usually takes about ten kilobytes, and at most 256. */
const MAX_ACCOUNTS = 20;
const MAX_SCHEMAS = 100;

/** The key of the list of models, which no model can have. */
const LIST = '/';

/** The catalogue as one account sees it. */
class Account {
	private readonly answers = new BoundedMap<string, { value: unknown; goodUntil: number }>(
		MAX_SCHEMAS,
	);
	private readonly underWay = new Map<string, Promise<unknown>>();
	/** By model, until when its document isn't asked for by runs. */
	readonly missing = new BoundedMap<string, number>(MAX_SCHEMAS);
	private readonly limiter = new RateLimiter(LIMITS);
	/** Resolves when the next request may be sent. */
	private free: Promise<void> = Promise.resolve();

	/** Reads an answer, shared while it is fresh. If the service refuses a new one, it stays good. */
	async read(key: string, lifetime: number, request: () => Promise<unknown>): Promise<unknown> {
		const known = this.answers.get(key);
		if (known && Date.now() < known.goodUntil) return known.value;
		const renew = async () => {
			const value = await this.send(request);
			this.answers.set(key, { value, goodUntil: Date.now() + lifetime });
			return value;
		};
		const reading = this.underWay.get(key) ?? renew().finally(() => this.underWay.delete(key));
		this.underWay.set(key, reading);
		if (!known) return await reading;
		return await reading.catch(() => {
			known.goodUntil = Date.now() + RETRY_AFTER;
			return known.value;
		});
	}

	/** Sends one request after the other. */
	async send<T>(request: () => Promise<T>): Promise<T> {
		const answer = this.free.then(async () => await this.limiter.run(request));
		const pause = async () => await sleep(PAUSE);
		this.free = answer.then(pause, pause);
		return await answer;
	}
}

const accounts = new BoundedMap<string, Account>(MAX_ACCOUNTS);

/** Finds what is kept for a credential's account. All editors of this n8n share it. */
function findAccount({ credentials }: TaskService): Account {
	const { baseUrl, accessToken, customEndpoints, modelsPath, modelSchemaPath } = credentials;
	const key = digest([baseUrl, accessToken, customEndpoints, modelsPath, modelSchemaPath]);
	const account = accounts.get(key) ?? new Account();
	accounts.set(key, account);
	return account;
}

/** Lists the models of the service. @throws {ServiceError} when there is no answer yet */
export async function listModels(service: TaskService): Promise<CatalogueModel[]> {
	const ask = async () => await service.listModels(SETTINGS);
	return (await findAccount(service).read(LIST, LIST_LIFETIME, ask)) as CatalogueModel[];
}

/**
 * Reads a model's OpenAPI document; null when the service has none yet.
 * @throws {ServiceError} when there is no answer yet
 */
export async function getModelSchema(service: TaskService, model: string): Promise<unknown> {
	const ask = async () => await service.getModelSchema(model, SETTINGS);
	return await findAccount(service).read(model, SCHEMA_LIFETIME, ask);
}

/**
 * Reads a model's document for a run, which goes on without it.
 * @returns undefined when there is no answer, and for a minute after that
 */
export async function findModelSchema(service: TaskService, model: string): Promise<unknown> {
	const { missing } = findAccount(service);
	if (Date.now() < (missing.get(model) ?? 0)) return undefined;
	return await getModelSchema(service, model).catch(() => {
		missing.set(model, Date.now() + RETRY_AFTER);
		return undefined;
	});
}

/**
 * Asks the service for a fresh link to a result file. Links and catalogue share one rate limit.
 * @throws {ServiceError} when there is none
 */
export const refreshLink = async (
	service: TaskService,
	url: string,
	settings: RequestSettings,
): Promise<string> =>
	await findAccount(service).send(async () => await service.getDownloadUrl(url, settings));
