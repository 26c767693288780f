import { BoundedMap } from '../lib/boundedMap';
import { digest } from '../lib/json';
import { RateLimiter } from '../lib/rateLimiter';
import { pause } from '../lib/timers';
import type { TaskService } from './client';
import type { RequestSettings } from './exchange';
import { isRateLimited } from './failure';
import { filterModels } from './filterModels';
import type { CatalogueModel } from './schemas';
import { LOOKUP_PAUSE } from './service';

/** How long answers are reused, in milliseconds. Other clients use 10 min to 6 h, and 24 h. */
const LIST_LIFETIME = 10 * 60 * 1000;
const SCHEMA_LIFETIME = 24 * 60 * 60 * 1000;

/** How long runs wait before asking again after a failure, in milliseconds. */
const RETRY_AFTER = 60 * 1000;

const LOOKUP_LIMITS = { period: 0, patience: 20_000, isTooFast: isRateLimited };

const LOOKUP_SETTINGS = { timeoutSeconds: 20 };

/** Limits of the cache. A schema usually takes about 10 kB, and at most 256 kB. */
const MAX_ACCOUNTS = 20;
const MAX_SCHEMAS = 100;

/** The key of the list of models. No model can have this name. */
const LIST = '/';

/** An answer, a failure, or a request under way. */
interface CachedAnswer {
	answer: Promise<unknown>;
	isError?: boolean;
	/** In milliseconds since 1970. */
	goodUntil: number;
}

/** The cached catalogue of one account. */
class Account {
	private readonly known = new BoundedMap<string, CachedAnswer>(MAX_SCHEMAS);
	private readonly inTurn = new RateLimiter(LOOKUP_LIMITS).join(Infinity);
	/** Resolves when the next request may be sent. */
	private free: Promise<void> = Promise.resolve();

	/**
	 * Reads an answer. It is shared while it is valid, and while the request is under way.
	 * @param sharesError shares a failure as well
	 */
	async read(
		key: string,
		lifetime: number,
		request: () => Promise<unknown>,
		sharesError = false,
	): Promise<unknown> {
		const known = this.findValid(key, sharesError);
		if (known) return await known.answer;
		const next: CachedAnswer = { answer: this.send(request), goodUntil: Infinity };
		this.known.set(key, next);
		const [{ status }] = await Promise.allSettled([next.answer]);
		next.isError = status === 'rejected';
		next.goodUntil = Date.now() + (next.isError ? RETRY_AFTER : lifetime);
		return await next.answer;
	}

	/** Returns an answer that is valid still; undefined if there is none. */
	async recall(key: string): Promise<unknown> {
		return await this.findValid(key)?.answer.catch(() => undefined);
	}

	private findValid(key: string, sharesError = false): CachedAnswer | undefined {
		const known = this.known.get(key);
		const isValid = known && Date.now() < known.goodUntil && (sharesError || !known.isError);
		return isValid ? known : undefined;
	}

	/** Sends requests one by one, with a pause after each answer, because a request may arrive late. */
	async send<T>(request: () => Promise<T>): Promise<T> {
		const answer = this.free.then(async () => await this.inTurn(request));
		const pauseAfter = async () => await pause(LOOKUP_PAUSE);
		this.free = answer.then(pauseAfter, pauseAfter);
		return await answer;
	}
}

const accounts = new BoundedMap<string, Account>(MAX_ACCOUNTS);

/** Finds the cache of a credential's account, which all editors of this n8n share. */
function findAccount({ credentials }: TaskService): Account {
	const { baseUrl, accessToken, advancedSettings, modelsPath, modelSchemaPath } = credentials;
	const key = digest([baseUrl, accessToken, advancedSettings, modelsPath, modelSchemaPath]);
	const account = accounts.get(key) ?? new Account();
	accounts.set(key, account);
	return account;
}

/** Lists the models of the service. @throws {ServiceError} if the service doesn't answer */
export async function listModels(service: TaskService): Promise<CatalogueModel[]> {
	const ask = async () => await service.listModels(LOOKUP_SETTINGS);
	return (await findAccount(service).read(LIST, LIST_LIFETIME, ask)) as CatalogueModel[];
}

/**
 * Finds the models that a filter means. Chat models are left out, because they answer at once and
 * make no task.
 * @throws {ServiceError} if the service doesn't answer
 */
export async function findModels(service: TaskService, filter = ''): Promise<CatalogueModel[]> {
	const models = await listModels(service);
	return filterModels(
		models.filter((model) => !isChat(model)),
		filter,
	);
}

const isChat = ({ taskType }: CatalogueModel): boolean =>
	taskType.length > 0 && taskType.every((type) => type.toLowerCase() === 'chat');

/** Returns what the list of models says of one, if the list is here already. Asks for nothing. */
export async function recallModel(service: TaskService, name: string) {
	const models = ((await findAccount(service).recall(LIST)) ?? []) as CatalogueModel[];
	return models.find(({ model }) => model === name);
}

/**
 * Reads a model's OpenAPI document; null when the service has none yet.
 * @param sharesError after a failure, doesn't ask again for a minute
 * @throws {ServiceError} if the service doesn't answer
 */
export async function getModelSchema(service: TaskService, model: string, sharesError = false) {
	const ask = async () => await service.getModelSchema(model, LOOKUP_SETTINGS);
	return await findAccount(service).read(model, SCHEMA_LIFETIME, ask, sharesError);
}

/** Reads a model's document for a run, which can do without; undefined if there is none. */
export const findModelSchema = async (service: TaskService, model: string): Promise<unknown> =>
	await getModelSchema(service, model, true).catch(() => undefined);

/**
 * Asks the service for a fresh link to a result file. Links and catalogue share one rate limit.
 * @throws {ServiceError} when there is none
 */
export async function refreshLink(service: TaskService, url: string, settings: RequestSettings) {
	const ask = async () => await service.getDownloadUrl(url, settings);
	return await findAccount(service).send(ask);
}
