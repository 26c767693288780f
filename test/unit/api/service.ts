import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { Credentials } from '../../../nodes/MediaGeneration/api/credential';
import { buildContext } from '../n8n';

/** What a service says. A body that is a generator is streamed. With an error, nobody answers. */
export type Answer = [statusCode: number, body: unknown] | Error;

export const ok = (data: unknown) => ({ code: 200, data });

export const SETTINGS = { timeoutSeconds: 7 };
export const REQUEST = { model: 'beta2/image-edit', input: { prompt: 'Night' } };
export const credentials = {
	baseUrl: 'https://api.example.com',
	accessToken: 'the-token',
	webhookSecret: 'the-key',
	previousWebhookSecret: 'the-old-key',
};

export async function* stream(...texts: Array<string | Error>) {
	for (const text of texts) {
		if (text instanceof Error) throw text;
		yield Buffer.from(text);
	}
}

/** Opens a service with this answer. @returns the service, and what was sent to it */
export function openService(
	answer: Answer | ((url: string) => Answer | Promise<Answer>),
	changes: Partial<Credentials> = {},
	more: object = {},
) {
	const used = { ...credentials, ...changes };
	const requests: IHttpRequestOptions[] = [];
	const signals: Array<AbortSignal | undefined> = [];
	const stop = new AbortController();
	async function httpRequestWithAuthentication(
		this: IExecuteFunctions,
		type: string,
		options: IHttpRequestOptions,
		{ credentialsDecrypted }: { credentialsDecrypted: object },
	) {
		expect([type, credentialsDecrypted]).toMatchObject(['mediaGenerationApi', { data: used }]);
		requests.push(options);
		signals.push(this.getExecutionCancelSignal());
		const reply = await (typeof answer === 'function' ? answer(options.url) : answer);
		if (reply instanceof Error) throw reply;
		return { statusCode: reply[0], body: reply[1] };
	}
	const context = buildContext(
		{ helpers: { httpRequestWithAuthentication } },
		{ getExecutionCancelSignal: () => stop.signal, ...more },
	);
	return { service: new TaskService(context, used), requests, signals, stop };
}
