import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer, text as readText } from 'node:stream/consumers';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { MediaGenerationApi } from '../credentials/MediaGenerationApi.credentials.ts';
import { TaskService } from '../nodes/MediaGeneration/api/client.ts';
import type { Credentials } from '../nodes/MediaGeneration/api/endpoints.ts';
import { parseServiceJson } from '../nodes/MediaGeneration/api/schemas.ts';
import type { CallbackRequest } from '../nodes/MediaGeneration/callback/verify.ts';
import { isObject, parseJson } from '../nodes/MediaGeneration/lib/json.ts';

/** Which dialect a service showed, by where it did. `dev/service/dialects.cts` has the two whole. */
export type Clues = Record<string, 'contract' | 'recorded'>;

const { authenticate } = new MediaGenerationApi();

/**
 * Makes the package's client with Node's fetch in place of n8n's HTTP helper, so that what is asked is what the node asks.
 * @param clues gets what the answers show of the service's dialect
 */
export function createClient(credentials: Credentials, clues: Clues): TaskService {
	async function send(_type: string, options: IHttpRequestOptions) {
		if (typeof authenticate !== 'function') throw new Error('authenticate is no function');
		const { url, method, headers } = await authenticate({ ...credentials }, options);
		const init = {
			method,
			headers: headers as Record<string, string>,
			redirect: 'manual' as const,
		};
		const signal = AbortSignal.timeout(options.timeout as number);
		const response = await fetch(url, { ...init, signal, body: await readBody(options.body) });
		const text = await response.text();
		Object.assign(clues, readClues(url, parseServiceJson(text)));
		return { statusCode: response.status, body: text };
	}
	return new TaskService({ helpers: { httpRequestWithAuthentication: send } }, credentials);
}

/** Node's streams can be iterated, which the types of the browser don't say. */
const readBody = async (body: unknown) =>
	body instanceof Blob
		? await buffer(body.stream() as unknown as AsyncIterable<Buffer>)
		: JSON.stringify(body);

const getData = (body: unknown) => (isObject(body) && isObject(body.data) ? body.data : {});

function readClues(url: string, body: unknown): Clues {
	const { taskId, recordId, param } = getData(body);
	if (isObject(body) && body.code === 401)
		return { 'a wrong token': 'data' in body ? 'contract' : 'recorded' };
	if (url.includes('/jobs/createTask') && taskId)
		return { 'the answer to a creation': recordId ? 'recorded' : 'contract' };
	const request = typeof param === 'string' ? parseJson(param) : undefined;
	const input = isObject(request) ? request.input : undefined;
	return input ? { "a task's input": typeof input === 'string' ? 'recorded' : 'contract' } : {};
}

/** Reads what a genuine callback shows of the dialect. */
export const readCallbackClues = (body: unknown): Clues => ({
	'the ID of a callback': 'task_id' in getData(body) ? 'contract' : 'recorded',
});

/** Listens for a callback on 127.0.0.1. */
export async function listen(port: number) {
	const server = createServer();
	const callback = new Promise<CallbackRequest>((resolve) => {
		server.on('request', (request, response) => {
			void readText(request).then((text) => {
				response.setHeader('Content-Type', 'application/json').end('{"code":200}');
				const body = { body: parseJson(text), bytes: Buffer.from(text) };
				resolve({ headers: request.headers, ...body });
			});
		});
	});
	await once(server.listen(port, '127.0.0.1'), 'listening');
	return { callback, close: () => server.close() };
}
