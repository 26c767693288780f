import {
	type IDataObject,
	type IHttpRequestOptions,
	type RequestHelperFunctions,
	UserError,
} from 'n8n-workflow';
import type { z } from 'zod';
import { withSignal } from '../host/http';
import { CREDENTIAL, PACKAGE } from '../lib/brand';
import { isObject, leaveOutData } from '../lib/json';
import { limitConcurrency } from '../lib/mapConcurrent';
import { hideInData, hideInMessage } from '../lib/redaction';
import { joinSignals } from '../lib/timers';
import {
	type AnswerOf,
	ANSWERS,
	envelope,
	parseServiceJson,
	taskIdSchema,
	toQuote,
} from './answers';
import { type Credentials, readBase } from './credential';
import { buildError, findFailure, findNetworkFailure, type ServiceError } from './failure';
import { type Endpoint, ENDPOINTS } from './service';

/** What requests need of one of n8n's contexts. */
export interface RequestContext {
	helpers: Pick<RequestHelperFunctions, 'httpRequestWithAuthentication'>;
	/** Aborted when the execution is stopped. */
	getExecutionCancelSignal?: () => AbortSignal | undefined;
}

/** How to reach the service, and the secrets to hide in its answers. */
interface Connection {
	context: RequestContext;
	credentials: Credentials;
	secrets: Iterable<string>;
}

export interface RequestSettings {
	/** From sending the request to the end of the answer. */
	timeoutSeconds: number;
}

/** A request to the service. With a body it is a POST. */
export interface ServiceRequest<E extends Endpoint = Endpoint> {
	endpoint: E;
	/** The task ID or model in the endpoint's path. */
	value?: string;
	body?: object;
	settings: RequestSettings;
}

/** A request's answer, or why there is none. */
export interface Exchange<E extends Endpoint> {
	origin: string;
	/** `data` of the envelope, with secrets hidden; undefined if `data` doesn't fit `ANSWERS`. */
	data?: AnswerOf<E>;
	/** The envelope has no `data`. */
	isEmpty: boolean;
	/** Why this is no success. Present also where `data` doesn't fit `ANSWERS`. */
	failure?: ServiceError;
	/** 0 without an answer. */
	httpStatus: number;
	/** Finds a task's ID anywhere in the answer, even if the answer can't be parsed. */
	findTaskId: () => string | undefined;
}

/** Sent to the service, and for results. Some front servers answer 403 to the user agents of scripts. */
export const USER_AGENT = `Mozilla/5.0 (compatible; ${PACKAGE})`;

const MEGABYTE = 1024 * 1024;

/** The largest answer, in bytes after decompression. Known lists reach 100 kB, schemas 10 kB. */
const MAX_BYTES = 2 * MEGABYTE;
const MAX_BYTES_OF_SCHEMA = MEGABYTE / 4;

/** Services repeat the whole input in task details twice, with the files in data URLs. */
const MAX_BYTES_OF_DETAILS = 16 * MEGABYTE;

/** Lets this process read two large task details at a time. */
const limitLargeReads = limitConcurrency(2);

/**
 * Sends a request with the token and reads the answer. Time and size are limited, secrets are
 * hidden, and an answer that isn't a success comes with the reason.
 */
export async function exchange<E extends Endpoint>(
	connection: Connection,
	request: ServiceRequest<E>,
): Promise<Exchange<E>> {
	const { credentials, secrets } = connection;
	const { endpoint, value, settings } = request;
	const url = buildUrl(credentials, endpoint, value);
	const { origin } = new URL(url);
	const received = await send(connection, url, request);
	const { httpStatus, text, fault, error } = received;
	const isReadable = !fault && !error;
	const body = isReadable ? hideInData(parseServiceJson(text), secrets) : undefined;
	const { data: rawData } = (body ?? {}) as { data?: unknown };
	const schema: z.ZodTypeAny = ANSWERS[endpoint];
	const { data, error: schemaError } = schema.safeParse(rawData);
	const failure = error
		? buildError('lost', origin, findNetworkFailure(error, settings.timeoutSeconds))
		: findAnswerFailure(origin, received, body, secrets);
	return {
		origin,
		data: data as AnswerOf<E> | undefined,
		isEmpty: (rawData ?? null) === null,
		failure: failure ?? (schemaError && buildIncomplete(origin, schema, schemaError)),
		httpStatus,
		findTaskId: () => hideInData(findTaskId(text, request), secrets) as string | undefined,
	};
}

/** Finds out from the envelope, or the lack of one, why an answer isn't a success. */
function findAnswerFailure(
	origin: string,
	{ httpStatus, fault = "isn't JSON from the task service" }: Received,
	body: unknown,
	secrets: Iterable<string>,
): ServiceError | undefined {
	const parsed = envelope.safeParse(body).data;
	// JSON without an envelope may say what is wrong too.
	const words = parsed ? parsed.text : isObject(body) && toQuote(body);
	return findFailure(origin, httpStatus, parsed?.code, hideInMessage(words || '', secrets), fault);
}

/** Makes the error of an answer that lacks what is needed of it. */
function buildIncomplete(
	origin: string,
	{ description }: z.ZodTypeAny,
	{ issues }: z.ZodError,
): ServiceError {
	const field = ['data', ...(issues[0]?.path ?? [])].join('.');
	const detail = `is incomplete: the service gave no ${description}. Its field ${field} is missing or has another form`;
	return buildError('unreadable', origin, { answeredBy: 'service', detail });
}

const TASK_IDS = /"task_?id"\s*:\s*(?:"([^"\\]{1,256})"|(\d{1,256})\s*[,}])/gi;

/** Lists the tasks' IDs in JSON, even if the JSON breaks off. */
const listIdsIn = (json: string): string[] =>
	[...json.matchAll(TASK_IDS)].flatMap(([, id, number]) => id ?? number ?? []);

/**
 * Finds a task's ID wherever the ID stands, because the task may have been paid for. An ID that was
 * sent is another task's: servers repeat the input that they reject.
 */
function findTaskId(answer: string, { body = {} }: ServiceRequest): string | undefined {
	const sent = listIdsIn(JSON.stringify(body));
	return taskIdSchema.safeParse(listIdsIn(answer).find((id) => !sent.includes(id))).data;
}

/**
 * Values that would lead to another path, even where a front server decodes encoded slashes first, and
 * lone surrogates, which can't be encoded.
 */
const UNUSABLE_VALUE = /(^|[/\\])\.{1,2}([/\\]|$)|\p{Cs}/u;

/**
 * Builds the absolute URL of an endpoint from the credential's settings.
 * @param value replaces the placeholder, URL-encoded; the slashes in a model's name stay
 * @throws {UserError} if an address or the value is unusable
 */
export function buildUrl(credentials: Credentials, endpoint: Endpoint, value = ''): string {
	const { displayName, isUpload, placeholder, path: defaultPath } = ENDPOINTS[endpoint];
	const uploadBase = isUpload && credentials.uploadBaseUrl?.trim();
	const base = uploadBase
		? readBase(uploadBase, 'Upload Base URL')
		: readBase(credentials.baseUrl.trim(), 'Base URL');
	const ownPath = credentials.advancedSettings && credentials[endpoint]?.trim();
	const path = (ownPath || defaultPath).replace(/^\/*/, '/');
	if (!placeholder) return base + path;
	if (!path.includes(placeholder))
		throw new UserError(`'${displayName}' in the credential must contain ${placeholder}`);
	const [field, segments] =
		placeholder === '{model}' ? ['Choose Model', value.split('/')] : ['Task ID', [value]];
	if (segments.includes('') || UNUSABLE_VALUE.test(value))
		throw new UserError(`'${field}' can't be "${value}"`);
	return base + path.replaceAll(placeholder, segments.map(encodeURIComponent).join('/'));
}

const buildOptions = (url: string, { body, settings }: ServiceRequest): IHttpRequestOptions => ({
	url,
	method: body ? 'POST' : 'GET',
	headers: {
		Accept: 'application/json',
		// Services of this kind ask for this header on GET too.
		'Content-Type': body instanceof Blob ? body.type : 'application/json',
		'User-Agent': USER_AGENT,
	},
	body: body as IDataObject | undefined,
	timeout: settings.timeoutSeconds * 1000,
	// Only a stream can be cut off: 100 kB of gzip may unpack to 100 MB.
	encoding: 'stream',
	returnFullResponse: true,
	ignoreHttpStatusErrors: true,
	disableFollowRedirect: true,
});

/** What has been received of an answer, all or a part. */
interface Received {
	/** 0 without an answer. */
	httpStatus: number;
	text: string;
	/** Why `text` can't be read, as the end of a sentence about the answer. */
	fault?: string;
	error?: unknown;
}

/** Sends a request and receives the answer. n8n's own timeout covers the headers only. */
async function send(
	{ context, credentials }: Connection,
	url: string,
	request: ServiceRequest,
): Promise<Received> {
	const { endpoint, settings } = request;
	const data = { ...credentials } as IDataObject as Record<string, string>;
	const timeout = AbortSignal.timeout(settings.timeoutSeconds * 1000);
	// A stopped execution doesn't abort a creation: the task's ID would be lost.
	const isCreation = endpoint === 'createTaskPath';
	const stopped = isCreation ? undefined : context.getExecutionCancelSignal?.();
	const ownContext = withSignal(context, joinSignals(timeout, stopped));
	const received: Received = { httpStatus: 0, text: '' };
	const chunks: Uint8Array[] = [];
	try {
		const { statusCode, body } = (await ownContext.helpers.httpRequestWithAuthentication.call(
			ownContext as never,
			CREDENTIAL,
			buildOptions(url, request),
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data } },
		)) as { statusCode: number; body: unknown };
		received.httpStatus = statusCode;
		received.fault = await receiveAnswer(chunks, toStream(body), endpoint);
	} catch (error) {
		received.error = error;
	}
	// An aborted stream may end without an error.
	if (timeout.aborted) received.error = { code: 'ETIMEDOUT' };
	received.text = new TextDecoder().decode(Buffer.concat(chunks));
	if (received.fault || received.text.length <= MAX_BYTES) return received;
	// Nobody needs the files in a large answer.
	received.text = leaveOutData(received.text);
	if (received.text.length > MAX_BYTES)
		received.fault = 'has more than 2 MB beside the files in it';
	return received;
}

/**
 * Receives an answer, up to the largest size for this endpoint.
 * @returns why the answer can't be read, as the end of a sentence about the answer
 */
async function receiveAnswer(
	chunks: Uint8Array[],
	stream: AsyncGenerator<Uint8Array>,
	endpoint: Endpoint,
): Promise<string | undefined> {
	let size = 0;
	const readTo = async (maxBytes: number): Promise<string | undefined> => {
		while (size <= maxBytes) {
			const { done, value } = await stream.next();
			if (done) return undefined;
			chunks.push(value);
			size += value.length;
		}
		return `is larger than ${maxBytes / MEGABYTE} MB`;
	};
	let fault = await readTo(endpoint === 'modelSchemaPath' ? MAX_BYTES_OF_SCHEMA : MAX_BYTES);
	if (fault && endpoint === 'taskDetailsPath')
		fault = await limitLargeReads(async () => await readTo(MAX_BYTES_OF_DETAILS));
	// Leaving a stream closes the connection.
	if (fault) await stream.return(undefined);
	return fault;
}

/** In evaluations, n8n returns text or JSON instead of a stream. */
async function* toStream(body: unknown): AsyncGenerator<Uint8Array> {
	if (isObject(body) && Symbol.asyncIterator in body)
		yield* body as unknown as AsyncIterable<Uint8Array>;
	else yield Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
}
