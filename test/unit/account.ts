import { sleep, type IHttpRequestOptions } from 'n8n-workflow';
import { corpus } from '../../dev/service/catalogue.cts';

export const ANSWER_TIME = 50;
export const MINUTE = 60_000;
const LIST = '/api/v1/models';
const schemaPath = (model: string) => `${LIST}/${model}/schema`;

interface Answer {
	code: number;
	msg?: string;
	data?: unknown;
}

export const BROKEN: Answer = { code: 500, msg: 'no database' };
const MISSING: Answer = { code: 404, msg: 'not found', data: null };

/** Answers as the service does: the corpus, under the usual paths. */
export function answerFromCorpus(path: string): Answer {
	if (path === LIST) return { code: 200, data: { models: corpus.map(({ entry }) => entry) } };
	const found = corpus.find(({ entry }) => schemaPath(entry.model) === path);
	return found ? { code: 200, data: { openapi: found.openapi } } : MISSING;
}

let accounts = 0;

/** Opens an account that nobody used before. What its service answers can be set; when it was asked is noted. */
export function openAccount() {
	const credentials = { baseUrl: 'https://service.example', accessToken: `token ${accounts++}` };
	const requests: Array<{ at: number; path: string }> = [];
	const account = {
		credentials,
		requests,
		answer: answerFromCorpus,
		helpers: { httpRequestWithAuthentication },
	};
	async function httpRequestWithAuthentication(_: string, { url }: IHttpRequestOptions) {
		const path = url.replace(credentials.baseUrl, '');
		requests.push({ at: Date.now(), path });
		await sleep(ANSWER_TIME);
		return { statusCode: 200, body: JSON.stringify(account.answer(path)) };
	}
	return account;
}

/** Waits for answers, as long as it takes. */
export async function settle<T>(pending: Promise<T>): Promise<T> {
	const caught = pending.catch((error: Error) => error);
	await jest.advanceTimersByTimeAsync(2 * MINUTE);
	const result = await caught;
	if (result instanceof Error) throw result;
	return result;
}
