import { digest } from '../lib/json';
import { Memory, weigh } from '../lib/memory';
import type { TaskService } from './client';
import { factsOf } from './failure';
import type { CatalogueModel } from './schemas';

const LOOKUP_SETTINGS = { timeoutSeconds: 20 };

/** The name of the list of models. No model can have it. */
const LIST = '/';

/** What services answered, or are being asked. */
const answers = new Memory<Promise<unknown>>('catalogue');

const toKey = ({ credentials }: TaskService, name: string): string => digest([credentials, name]);

/** Reads an answer, and asks for it if there is none. An error is not kept. */
async function read<T>(service: TaskService, name: string, ask: () => Promise<T>): Promise<T> {
	const key = toKey(service, name);
	const known = answers.get(key);
	if (known) return (await known) as T;
	const answer = ask();
	answers.set(key, answer);
	void answer.then(
		(value) => answers.set(key, answer, weigh(value)),
		() => answers.delete(key),
	);
	return await answer;
}

/** Lists the models of the service. @throws {ServiceError} if the service doesn't answer */
async function listModels(service: TaskService): Promise<CatalogueModel[]> {
	const ask = async () => await service.listModels(LOOKUP_SETTINGS);
	return await read(service, LIST, ask);
}

const isChat = ({ taskType }: CatalogueModel): boolean =>
	taskType.length > 0 && taskType.every((type) => type.toLowerCase() === 'chat');

/** What people say, and what services call it. */
const SYNONYMS = new Map([
	['photo', 'image'],
	['picture', 'image'],
	['song', 'music'],
	['voice', 'speech'],
]);

/**
 * Finds the models that have each word of a filter in their name, provider or types. Those that have
 * the words side by side are first, because "text to video" fits a model from video to text as well;
 * of these the ones that make what is looked for: "image" means text to image before image to video.
 * Chat models are left out, because they answer at once and make no task.
 * @throws {ServiceError} if the service doesn't answer
 */
export async function findModels(service: TaskService, filter = ''): Promise<CatalogueModel[]> {
	const models = (await listModels(service)).filter((model) => !isChat(model));
	const words = toPlainWords(filter).split(' ').filter(Boolean);
	if (!words.length) return models;
	const asked = words.join(' ');
	const meant = words.map(translate).join(' ');
	const phrases = [`to ${asked}`, asked, `to ${meant}`, meant, ''];
	return models
		.map((model) => ({ model, text: toSearchText(model) }))
		.filter(({ text }) => words.every((word) => has(text, word)))
		.map(({ model, text }) => ({ model, rank: phrases.findIndex((one) => text.includes(one)) }))
		.sort((one, other) => one.rank - other.rank)
		.map(({ model }) => model);
}

/** Says in the service's words what a word means, in the plural too. */
const translate = (word: string): string => SYNONYMS.get(word.replace(/s$/, '')) ?? word;

const has = (text: string, word: string): boolean =>
	text.includes(word) || text.includes(translate(word));

const toSearchText = ({ model, title, provider, taskType }: CatalogueModel): string =>
	toPlainWords([model, title, provider, ...taskType].join(' '));

/** Hyphens and the like count as spaces, as in "text-to-video". */
const toPlainWords = (text: string): string => text.toLowerCase().replace(/[\s/_-]+/g, ' ');

/** Returns what the list of models says of one, if the list is here already. Asks for nothing. */
export async function recallModel(service: TaskService, name: string) {
	const models = await answers.get(toKey(service, LIST))?.catch(() => undefined);
	return (models as CatalogueModel[] | undefined)?.find(({ model }) => model === name);
}

/**
 * Reads a model's OpenAPI document; null when the service has none yet.
 * @throws {ServiceError} if the service doesn't answer
 */
export async function getModelSchema(service: TaskService, model: string): Promise<unknown> {
	const ask = async () => await service.getModelSchema(model, LOOKUP_SETTINGS);
	return await read(service, model, ask);
}

/** Why the service gave no description. */
const failures = new Memory<Error>('missingSchemas');

/**
 * Reads a model's document for a run; undefined if there is none. After a failure it doesn't ask for a
 * minute, or each item would wait for a service that has no catalogue.
 * @throws {ServiceError} for a failure that may pass
 */
export async function findModelSchema(service: TaskService, model: string): Promise<unknown> {
	const key = toKey(service, model);
	const known = failures.get(key);
	if (known) return withoutSchema(known);
	return await getModelSchema(service, model).catch((error: Error) => {
		failures.set(key, error);
		return withoutSchema(error);
	});
}

function withoutSchema(error: Error): undefined {
	if (factsOf(error).passes) throw error;
}
