import { digest } from '../lib/json';
import { Memory, weigh } from '../lib/memory';
import type { TaskService } from './client';
import { CHECK_NAME, factsOf, isOfKind, ServiceError } from './failure';
import type { AnswerOf, CatalogueModel } from './answers';
import type { Endpoint } from './service';

const READ_SETTINGS = { timeoutSeconds: 20 };

/** The answers of services, also those that are still awaited. */
const answers = new Memory<Promise<unknown>>('catalogue');

const toKey = ({ credentials }: TaskService, endpoint: Endpoint, model = ''): string =>
	digest([credentials, endpoint, model]);

/** Returns the answer that this process remembers, or asks the service. Errors are not remembered. */
async function read<E extends Endpoint>(
	service: TaskService,
	endpoint: E,
	model?: string,
): Promise<AnswerOf<E>> {
	const key = toKey(service, endpoint, model);
	const known = answers.get(key);
	if (known) return (await known) as AnswerOf<E>;
	const answer = service
		.request(endpoint, READ_SETTINGS, { value: model })
		.catch((error: Error) => throwLack(error, model));
	answers.set(key, answer);
	void answer.then(
		(value) => answers.set(key, answer, weigh(value)),
		() => answers.delete(key),
	);
	return await answer;
}

/** @throws the error; where the service has no catalogue, or no such model, it says so */
function throwLack(error: Error, model?: string): never {
	if (!isOfKind(error, 'notFound')) throw error;
	const lack = model
		? `The service lists no fields of a model "${model}". ${CHECK_NAME}`
		: 'This service lists no models';
	throw new ServiceError('notFound', lack, error.description, error.facts);
}

const isChat = ({ taskType }: CatalogueModel): boolean =>
	taskType.length > 0 && taskType.every((type) => type.toLowerCase() === 'chat');

/** A word that people use, and the service's word for the same thing. */
const SYNONYMS = new Map([
	['photo', 'image'],
	['picture', 'image'],
	['song', 'music'],
	['voice', 'speech'],
]);

/**
 * Finds the models that have each word of a filter in their name, provider or types. Models with the
 * words side by side come first, because "text to video" also fits a model from video to text. First
 * of all come models that make what is looked for: for "image", text to image before image to video.
 * Chat models are left out, because they answer at once and make no task.
 * @throws {ServiceError} if the service doesn't answer
 */
export async function findModels(service: TaskService, filter = ''): Promise<CatalogueModel[]> {
	const models = (await read(service, 'modelsPath')).filter((model) => !isChat(model));
	const words = toPlainWords(filter).split(' ').filter(Boolean);
	if (!words.length) return models;
	const phrase = words.join(' ');
	const translation = words.map(translate).join(' ');
	const phrases = [`to ${phrase}`, phrase, `to ${translation}`, translation, ''];
	const rank = (text: string) => phrases.findIndex((one) => text.includes(one));
	return models
		.map((model) => ({ model, text: toSearchText(model) }))
		.filter(({ text }) => words.every((word) => hasWord(text, word)))
		.sort((one, other) => rank(one.text) - rank(other.text))
		.map(({ model }) => model);
}

/** Translates a word, also one in the plural, into the service's word. */
const translate = (word: string): string => SYNONYMS.get(word.replace(/s$/, '')) ?? word;

const hasWord = (text: string, word: string): boolean =>
	text.includes(word) || text.includes(translate(word));

const toSearchText = ({ model, title, provider, taskType }: CatalogueModel): string =>
	toPlainWords([model, title, provider, ...taskType].join(' '));

/** Hyphens and the like count as spaces, as in "text-to-video". */
const toPlainWords = (text: string): string => text.toLowerCase().replace(/[\s/_-]+/g, ' ');

/** Finds a model in the list of models, if the list is here already. Asks for nothing. */
export async function recallModel(service: TaskService, name: string) {
	const models = await answers.get(toKey(service, 'modelsPath'))?.catch(() => undefined);
	return (models as CatalogueModel[] | undefined)?.find(({ model }) => model === name);
}

/**
 * Reads a model's OpenAPI document; null when the service has none yet.
 * @throws {ServiceError} if the service doesn't answer
 */
export async function readModelDocument(service: TaskService, model: string): Promise<unknown> {
	return await read(service, 'modelSchemaPath', model);
}

/** Why the service gave no document. */
const missingDocuments = new Memory<Error>('missingDocuments');

/**
 * Reads a model's document for a run; undefined if there is none. After a failure, the service isn't
 * asked again for a minute: each item would wait for a service that has no catalogue.
 * @throws {ServiceError} for a temporary failure
 */
export async function readModelDocumentForRun(
	service: TaskService,
	model: string,
): Promise<unknown> {
	const key = toKey(service, 'modelSchemaPath', model);
	const known = missingDocuments.get(key);
	if (known) return throwIfTemporary(known);
	return await readModelDocument(service, model).catch((error: Error) => {
		missingDocuments.set(key, error);
		return throwIfTemporary(error);
	});
}

/** @returns undefined for any other error: the run goes on without a document */
function throwIfTemporary(error: Error): undefined {
	if (factsOf(error).isTemporary) throw error;
}
