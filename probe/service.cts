import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer, text as readText } from 'node:stream/consumers';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { MediaGenerationApi } from '../credentials/MediaGenerationApi.credentials.ts';
import { TaskService } from '../nodes/MediaGeneration/api/client.ts';
import type { Credentials } from '../nodes/MediaGeneration/api/credential.ts';
import type { CallbackRequest } from '../nodes/MediaGeneration/callback/verify.ts';
import { parseJson } from '../nodes/MediaGeneration/lib/json.ts';

const { authenticate } = new MediaGenerationApi();

/** Makes the package's client with Node's fetch in place of n8n's HTTP helper, so that the requests are those of the node. */
export function createClient(credentials: Credentials): TaskService {
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
		return { statusCode: response.status, body: await response.text() };
	}
	return new TaskService({ helpers: { httpRequestWithAuthentication: send } }, credentials);
}

/** Node's streams can be iterated, which the types of the browser don't say. */
const readBody = async (body: unknown) =>
	body instanceof Blob
		? await buffer(body.stream() as unknown as AsyncIterable<Buffer>)
		: JSON.stringify(body);

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
