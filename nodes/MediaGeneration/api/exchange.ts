import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type IHookFunctions,
	type IHttpRequestOptions,
	type ILoadOptionsFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { isObject } from '../lib/json';
import { buildUrl, CREDENTIAL, type Credentials, type Endpoint } from './endpoints';
import { describeNoAnswer, findFailure, isSuccess, type Failure } from './errors';
import { findCallbackUrls, listUrlSecrets, type Redactor } from './redaction';
import { parseServiceJson, taskId } from './schemas';

export type Context =
	| IExecuteFunctions
	| IWebhookFunctions
	| IHookFunctions
	| ILoadOptionsFunctions;

export interface RequestSettings {
	timeoutSeconds: number;
}

/** A request to the service. With a body it is a POST. */
export interface ServiceRequest {
	endpoint: Endpoint;
	/** The task ID or model in the endpoint's path. */
	value?: string;
	body?: object;
	headers?: Record<string, string>;
	settings: RequestSettings;
	/** Stopping the execution doesn't abort it. */
	isUnstoppable?: boolean;
}

/** What came of a request. */
export type Exchange = Success | FailedExchange;

interface Success {
	origin: string;
	/** The parsed JSON, without secrets. */
	body: unknown;
	failure?: undefined;
}

interface FailedExchange {
	origin: string;
	failure: Failure;
	/** The HTTP status was one of success. */
	isHttpSuccess: boolean;
	/** The parsed JSON, without secrets; undefined if there is none. */
	body: unknown;
	/** The ID in an answer that can't be parsed. */
	foundTaskId?: string;
}

const MEGABYTE = 1024 * 1024;

/** The largest answers that are read, in bytes, decompressed. The largest known are a list of 100 kB and schemas of about 10 kB. */
const MAX_BYTES: Partial<Record<Endpoint, number>> = {
	modelsPath: 2 * MEGABYTE,
	modelSchemaPath: MEGABYTE / 4,
};
const MAX_BYTES_OF_OTHERS = 10 * MEGABYTE;

/** Some front servers answer 403 to user agents that look like a bare script. */
const USER_AGENT = 'Mozilla/5.0 (compatible; n8n-nodes-media-generation)';

/**
 * Sends a request to the service, with its token, and reads the answer: bounded in time and size, without secrets, and with the
 * reason if it is no success.
 */
export async function exchange(
	context: Context,
	credentials: Credentials,
	{ endpoint, value, body, headers, settings, isUnstoppable }: ServiceRequest,
	redactor: Redactor,
): Promise<Exchange> {
	const url = buildUrl(credentials, endpoint, value);
	const { origin } = new URL(url);
	const maxBytes = MAX_BYTES[endpoint] ?? MAX_BYTES_OF_OTHERS;
	const options: IHttpRequestOptions = {
		url,
		method: body ? 'POST' : 'GET',
		headers: {
			Accept: 'application/json',
			'User-Agent': USER_AGENT,
			...(body && { 'Content-Type': body instanceof Blob ? body.type : 'application/json' }),
			...headers,
		},
		body: body as IDataObject | undefined,
		timeout: settings.timeoutSeconds * 1000,
		// A stream can be bounded. 100 kB of gzip can be 100 MB of text.
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
	};
	const { statusCode, text, isTooLarge, error } = await send(
		context,
		credentials,
		options,
		maxBytes,
		isUnstoppable,
	);
	const answer = isTooLarge || error ? undefined : parseAnswer(text, redactor);
	const fault = isTooLarge
		? `larger than ${maxBytes / MEGABYTE} MB`
		: text.trim()
			? 'not the expected JSON'
			: 'empty';
	const failure =
		statusCode === undefined || error
			? describeNoAnswer(origin, error, settings.timeoutSeconds)
			: findFailure(statusCode, answer, fault, origin);
	if (!failure) return { origin, body: answer };
	const foundTaskId = answer === undefined ? findTaskId(text) : undefined;
	return {
		origin,
		body: answer,
		failure: { ...failure, message: redactor.hideInMessage(failure.message) },
		isHttpSuccess: statusCode !== undefined && isSuccess(statusCode),
		foundTaskId: redactor.hideInData(foundTaskId) as string | undefined,
	};
}

/** The text that arrived. */
interface CollectedText {
	text: string;
	isTooLarge?: boolean;
	/** The error that ended it early. */
	error?: unknown;
}

/** Like the error of n8n's helper. */
const TIMED_OUT = { code: 'ETIMEDOUT' };

/** Sends a request and collects its answer. The timeout applies to the headers, then again to the body. */
async function send(
	ownContext: Context,
	credentials: Credentials,
	options: IHttpRequestOptions,
	maxBytes: number,
	isUnstoppable?: boolean,
): Promise<CollectedText & { statusCode?: number }> {
	const data = { ...credentials } as IDataObject as Record<string, string>;
	const abort = new AbortController();
	const ended = new AbortController();
	const context = withSignal(ownContext, abort.signal, isUnstoppable);
	try {
		const { statusCode, body } = (await context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			options,
			{
				credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data },
			},
		)) as { statusCode: number; body: unknown };
		// The timeout of n8n's helper covers only the headers.
		void sleep(options.timeout as number, ended.signal).then(
			() => abort.abort(),
			() => undefined,
		);
		const collected = await collectText(body, maxBytes);
		if (abort.signal.aborted) return { text: collected.text, error: TIMED_OUT };
		// The unread rest of the answer would keep the connection open.
		if (collected.isTooLarge) abort.abort();
		return { statusCode, ...collected };
	} catch (error) {
		return { text: '', error };
	} finally {
		ended.abort();
	}
}

/**
 * Gives n8n's HTTP helper another abort signal. With its own one, stopping the execution aborts every request. The helper reads
 * `this.getExecutionCancelSignal()` (`httpRequestWithAuthentication` of n8n-core: `authentication.js` in 2.41.1,
 * `request-helper-functions.js` in 2.14.2), so the context inherits all but that. If n8n changes this, the stopped executions of
 * `e2e/runs` fail first.
 */
function withSignal<T extends Context>(context: T, signal: AbortSignal, isUnstoppable = false): T {
	const stopped =
		!isUnstoppable && 'getExecutionCancelSignal' in context
			? context.getExecutionCancelSignal()
			: undefined;
	const value = () => (stopped ? AbortSignal.any([signal, stopped]) : signal);
	return Object.create(context, { getExecutionCancelSignal: { value } }) as T;
}

/**
 * Collects a streamed body up to a limit. n8n's HTTP helper has no limit of its own.
 * @param body the stream, or the text or JSON that n8n gives in its place in evaluations
 */
async function collectText(body: unknown, maxBytes: number): Promise<CollectedText> {
	if (!isStream(body)) {
		const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
		return text.length > maxBytes ? { text: text.slice(0, maxBytes), isTooLarge: true } : { text };
	}
	const chunks: Uint8Array[] = [];
	const decode = () => new TextDecoder().decode(Buffer.concat(chunks));
	let size = 0;
	try {
		for await (const chunk of body) {
			size += chunk.length;
			if (size > maxBytes) return { text: decode(), isTooLarge: true };
			chunks.push(chunk);
		}
	} catch (error) {
		return { text: decode(), error };
	}
	return { text: decode() };
}

const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
	isObject(body) && Symbol.asyncIterator in body;

/** A record has one. Each more makes redaction slower. */
const MAX_CALLBACK_URLS = 5;

/**
 * Parses an answer and hides the secrets in it: those of the credential and the request, and those in the callback URL that the
 * service stored with the task.
 * @returns undefined where it is not JSON
 */
export function parseAnswer(text: string, redactor: Redactor): unknown {
	const body = parseServiceJson(text);
	const callbackUrls = [...new Set(findCallbackUrls(body, parseServiceJson))].slice(
		0,
		MAX_CALLBACK_URLS,
	);
	return redactor.with(callbackUrls.flatMap(listUrlSecrets)).hideInData(body);
}

/** Finds the task ID in an answer to a creation that can't be parsed: the task may have been paid for. */
function findTaskId(text: string): string | undefined {
	const [, id, number] = /"taskId"\s*:\s*(?:"([^"\\]+)"|(\d+)\s*[,}])/.exec(text) ?? [];
	return taskId.safeParse(id ?? number).data;
}
