import { buffer } from 'node:stream/consumers';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { MediaGenerationApi } from '../credentials/MediaGenerationApi.credentials.ts';
import { TaskService } from '../nodes/MediaGeneration/api/client.ts';
import type { Credentials } from '../nodes/MediaGeneration/api/endpoints.ts';
import { parseServiceJson } from '../nodes/MediaGeneration/api/schemas.ts';
import { readClues, type Clues } from './dialect.cts';

const { authenticate } = new MediaGenerationApi();

/** Reads a body that the package gives to n8n's HTTP helper. */
const readBody = async (body: unknown) =>
	// Node's streams can be iterated, which the types of the browser don't say.
	body instanceof Blob
		? await buffer(body.stream() as unknown as AsyncIterable<Buffer>)
		: JSON.stringify(body);

/**
 * Makes the package's client with Node's fetch in place of n8n's HTTP helper, so that what is asked is what the node asks.
 * @param clues gets what the answers show of the service's dialect
 */
export function createClient(credentials: Credentials, clues: Clues): TaskService {
	async function send(_type: string, options: IHttpRequestOptions) {
		if (typeof authenticate !== 'function') throw new Error('authenticate is no function');
		const { url, method, headers } = await authenticate({ ...credentials }, options);
		const signal = AbortSignal.timeout(options.timeout as number);
		try {
			const body = await readBody(options.body);
			const init = { method, headers: headers as Record<string, string>, body, signal };
			const response = await fetch(url, { ...init, redirect: 'manual' });
			const text = await response.text();
			Object.assign(clues, readClues(url, parseServiceJson(text)));
			return { statusCode: response.status, body: text };
		} catch (error) {
			// The code that n8n's helper reports.
			throw signal.aborted ? Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' }) : error;
		}
	}
	const context = { helpers: { httpRequestWithAuthentication: send } };
	return new TaskService(context, credentials);
}
