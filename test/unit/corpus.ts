import { corpus } from '../../dev/service/catalogue.cts';
import type { Request } from '../world/contexts.cts';

export const MINUTE = 60_000;
const LIST = '/api/v1/models';
export const schemaPath = (model: string) => `${LIST}/${model}/schema`;

export interface Answer {
	code: number;
	msg?: string;
	data?: unknown;
}

export const BROKEN: Answer = { code: 500, msg: 'no database' };
export const MISSING: Answer = { code: 404, msg: 'not found', data: null };

/** Answers as the service does, with the models of the corpus. */
export function answerFromCorpus(path: string): Answer {
	if (path === LIST) return { code: 200, data: { models: corpus.map(({ entry }) => entry) } };
	const model = corpus.find(({ entry }) => path === schemaPath(entry.model));
	return model ? { code: 200, data: { openapi: model.openapi } } : MISSING;
}

let accounts = 0;

/** Opens a new account of a service that answers by path, and notes the requests. */
export function openAccount(answer: (path: string) => object | string = answerFromCorpus) {
	const requests: string[] = [];
	return {
		requests,
		credentials: { baseUrl: 'https://api.example', accessToken: `secret token ${accounts++}` },
		answer({ path }: Request) {
			requests.push(path);
			const body = answer(path);
			return { statusCode: 200, body: typeof body === 'string' ? body : JSON.stringify(body) };
		},
	};
}

/** Waits for an answer. Fake timers let the time pass. */
export async function settle<T>(pending: Promise<T>): Promise<T> {
	const caught = pending.catch((error: Error) => error);
	await jest.advanceTimersByTimeAsync(2 * MINUTE);
	const result = await caught;
	if (result instanceof Error) throw result;
	return result;
}
