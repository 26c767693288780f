import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer, text as readText } from 'node:stream/consumers';
import type { IDataObject, IHttpRequestOptions, IWebhookFunctions } from 'n8n-workflow';
import { MediaGenerationApi } from '../credentials/MediaGenerationApi.credentials.ts';
import { TaskService } from '../nodes/MediaGeneration/api/client.ts';
import type { Credentials } from '../nodes/MediaGeneration/api/endpoints.ts';
import { parseJson } from '../nodes/MediaGeneration/lib/json.ts';

const { authenticate } = new MediaGenerationApi();

/**
 * Makes the package's client with Node's fetch in place of n8n's HTTP helper, so that what is asked is what the node asks.
 */
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

/** Listens for a callback on 127.0.0.1, as a webhook of n8n with this key in its credential. */
export async function listen(port: number, webhookSecret: string) {
	const server = createServer();
	const callback = new Promise<IWebhookFunctions>((resolve) => {
		server.on('request', (request, response) => {
			void readText(request).then((text) => {
				response.setHeader('Content-Type', 'application/json').end('{"code":200}');
				const webhook: Partial<IWebhookFunctions> = {
					getHeaderData: () => request.headers,
					getBodyData: () => parseJson(text) as IDataObject,
					getRequestObject: () => ({ rawBody: Buffer.from(text) }) as never,
					getCredentials: async () => ({ webhookSecret }) as never,
				};
				resolve(webhook as IWebhookFunctions);
			});
		});
	});
	await once(server.listen(port, '127.0.0.1'), 'listening');
	return { callback, close: () => server.close() };
}
