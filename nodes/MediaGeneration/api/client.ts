import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type IHookFunctions,
	type IHttpRequestOptions,
	type ILoadOptionsFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import type { z } from 'zod';
import { collectText, findTaskId, parseAnswer, type CollectedText } from './answers';
import {
	buildUrl,
	CREDENTIAL,
	readIdempotencyHeader,
	type Credentials,
	type Endpoint,
} from './endpoints';
import {
	describeNoAnswer,
	findFailure,
	isSuccess,
	ServiceError,
	UnknownOutcomeError,
	type Failure,
} from './errors';
import { MultipartBody, type UploadFile } from './multipart';
import { listQuerySecrets, listUrlSecrets, Redactor } from './redaction';
import {
	createdTask,
	envelope,
	modelList,
	modelSchema,
	number,
	toMessage,
	uploadedFile,
	webLink,
	type CatalogueModel,
	type UploadedFile,
} from './schemas';
import { failedTask, rawTaskRecord, readCallbackUrl, taskRecord, toTask, type Task } from './task';

/** The body of a request to create a task. */
export interface CreateTaskRequest {
	model: string;
	callBackUrl?: string;
	input: Record<string, unknown>;
}

export interface RequestSettings {
	timeoutSeconds: number;
}

type Context = IExecuteFunctions | IWebhookFunctions | IHookFunctions | ILoadOptionsFunctions;

interface Request {
	endpoint: Endpoint;
	/** The task ID or model in the endpoint's path. */
	value?: string;
	body?: object;
	headers?: Record<string, string>;
	settings: RequestSettings;
}

interface Exchange {
	origin: string;
	/** The parsed JSON, without secrets; undefined if there is none. */
	body?: unknown;
	/** The ID in an answer that can't be parsed. */
	foundTaskId?: string;
	/** Absent if no answer came. */
	isHttpSuccess?: boolean;
	/** Absent if the request succeeded. */
	failure?: Failure;
}

/**
 * The codes of a details answer for a task that ended without a result. If the answer has a record, the record says how the task
 * ended.
 */
const GENERATION_FAILED = 501;
const CODES_OF_TASKS = new Set<number | undefined>([GENERATION_FAILED, 408]);

const MEGABYTE = 1024 * 1024;

/** The largest answers that are read, in bytes, decompressed. The largest known are a list of 100 kB and schemas of about 10 kB. */
const MAX_BYTES: Partial<Record<Endpoint, number>> = {
	modelsPath: 2 * MEGABYTE,
	modelSchemaPath: MEGABYTE / 4,
};
const MAX_BYTES_OF_OTHERS = 10 * MEGABYTE;

/** The folder that files are uploaded to. */
const UPLOAD_PATH = 'n8n';

/** Some front servers answer 403 to user agents that look like a bare script. */
const USER_AGENT = 'Mozilla/5.0 (compatible; n8n-nodes-media-generation)';

/** The task service, as one credential reaches it. */
export class TaskService {
	/** Hides the secrets of the credential and of all creations so far. */
	private redactor: Redactor;

	constructor(
		private readonly context: Context,
		readonly credentials: Credentials,
	) {
		const { accessToken, webhookSecret, previousWebhookSecret } = credentials;
		const query = 'getQueryData' in context ? (context.getQueryData() as object) : {};
		this.redactor = new Redactor([
			accessToken,
			webhookSecret,
			previousWebhookSecret,
			...listQuerySecrets(query),
		]);
	}

	/**
	 * Creates a task, which costs credits, so the request is sent only once. Stopping the execution doesn't abort it, because the ID
	 * would be lost.
	 * @param idempotencyKey 1 to 128 characters, sent where the credential names a header for it
	 * @returns the task's ID
	 * @throws {UnknownOutcomeError} when the task may exist all the same
	 * @throws {ServiceError} when the service certainly created nothing
	 */
	async createTask(
		request: CreateTaskRequest,
		settings: RequestSettings,
		idempotencyKey?: string,
	): Promise<string> {
		const header = readIdempotencyHeader(this.credentials);
		const headers = header && idempotencyKey ? { [header]: idempotencyKey } : undefined;
		this.redactor = this.redactor.with(listUrlSecrets(request.callBackUrl ?? ''));
		const { origin, body, foundTaskId, isHttpSuccess, failure } = await this.exchange(
			{ endpoint: 'createTaskPath', body: request, headers, settings },
			{ canBeStopped: false },
		);
		const parsed = createdTask.safeParse(getData(body));
		const taskId = parsed.data?.taskId;
		if (taskId && isHttpSuccess) return taskId;
		const known = taskId ?? foundTaskId;
		if (failure?.isRejected && !known) throw new ServiceError(failure);
		const { message, code } =
			failure ?? this.describeIncomplete(origin, 'the service gave no task ID', body, parsed.error);
		throw new UnknownOutcomeError({ message, taskId: known }, code);
	}

	/**
	 * Reads a task's current state. A record without an ID counts as the one of this task.
	 * @throws {ServiceError} when the record is of another task
	 * @throws {ServiceError} with code 404 or 422 when the service does not know the task
	 */
	async getTask(taskId: string, settings: RequestSettings): Promise<Task> {
		return (await this.getTaskAndCallbackUrl(taskId, settings)).task;
	}

	/**
	 * Reads a task like `getTask`, and the callback URL it was created with, if its record has the request.
	 * @throws {ServiceError} as `getTask`
	 */
	async getTaskAndCallbackUrl(
		taskId: string,
		settings: RequestSettings,
	): Promise<{ task: Task; callbackUrl?: string }> {
		const exchange = await this.askForTask(taskId, settings);
		const { code, msg, message = msg } = readEnvelope(exchange.body);
		if (code === GENERATION_FAILED && !hasRecord(exchange.body))
			return { task: failedTask(taskId, code, message) };
		const record = this.readRecord(exchange, taskId, taskRecord);
		return { task: toTask(taskId, record), callbackUrl: readCallbackUrl(record) };
	}

	/**
	 * Reads a task's record as the service sends it, including what a Task leaves out.
	 * @throws {ServiceError} with code 404 or 422 when the service does not know the task
	 */
	async getTaskRecord(taskId: string, settings: RequestSettings): Promise<object> {
		const exchange = await this.askForTask(taskId, settings);
		return { ...this.readRecord(exchange, taskId, rawTaskRecord), taskId };
	}

	/** Reads the account's credits, fractional. */
	async getCredits(settings: RequestSettings): Promise<number> {
		return await this.request(
			{ endpoint: 'creditsPath', settings },
			number,
			'the service gave no number of credits',
		);
	}

	/**
	 * Uploads a file, as it streams in.
	 * @param fileName must be unique: the service overwrites a file of the same name
	 */
	async upload(
		fileName: string,
		file: UploadFile,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const body = new MultipartBody({ uploadPath: UPLOAD_PATH, fileName }, fileName, file);
		return await this.request(
			{ endpoint: 'streamUploadPath', body, settings },
			uploadedFile,
			'the service gave no URL for the file',
		);
	}

	/** Lets the service fetch a file from a URL. @param fileName as for `upload` */
	async uploadFromUrl(
		fileName: string,
		fileUrl: string,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		return await this.request(
			{ endpoint: 'urlUploadPath', body: { fileUrl, uploadPath: UPLOAD_PATH, fileName }, settings },
			uploadedFile,
			'the service gave no URL for the file',
		);
	}

	/** Lists the models of the service's catalogue. @throws {ServiceError} with code 404 when it has none */
	async listModels(settings: RequestSettings): Promise<CatalogueModel[]> {
		return await this.request(
			{ endpoint: 'modelsPath', settings },
			modelList,
			'the service gave no list of models',
		);
	}

	/** Reads a model's OpenAPI document; null when the service has none yet. @throws {ServiceError} with code 404 for an unknown model */
	async getModelSchema(model: string, settings: RequestSettings): Promise<unknown> {
		const { openapi } = await this.request(
			{ endpoint: 'modelSchemaPath', value: model, settings },
			modelSchema,
			'the service gave no schema',
		);
		return openapi;
	}

	/** Asks for a fresh link to a file of this service. @throws {ServiceError} when it gives none, or has no such endpoint */
	async getDownloadUrl(url: string, settings: RequestSettings): Promise<string> {
		return await this.request(
			{ endpoint: 'downloadUrlPath', body: { url }, settings },
			webLink,
			'the service gave no link',
		);
	}

	private async askForTask(taskId: string, settings: RequestSettings): Promise<Exchange> {
		return await this.exchange({ endpoint: 'taskDetailsPath', value: taskId, settings });
	}

	/** Reads the record in a details answer, which must be of the task that was asked for. */
	private readRecord<R extends { taskId?: string }>(
		{ origin, body, failure }: Exchange,
		taskId: string,
		schema: z.ZodType<R, z.ZodTypeDef, unknown>,
	): R {
		const decides = CODES_OF_TASKS.has(readEnvelope(body).code) && hasRecord(body);
		if (failure && !decides) throw new ServiceError(failure);
		const record = this.readData(origin, body, schema, 'the service gave no task record');
		if (record.taskId === undefined || record.taskId === taskId) return record;
		throw new ServiceError({
			message: this.redactor.hideInMessage(
				`The answer from ${origin} is of another task: its field data.taskId is ${show(record.taskId)}, and ${show(taskId)} was asked for`,
			),
			hint: "Nothing of it was used. Check 'Task Details Path' in the credential, or ask the service.",
			answeredBy: 'service',
		});
	}

	/** @param missing what to say if `data` does not fit the schema */
	private async request<T extends z.ZodTypeAny>(
		request: Request,
		schema: T,
		missing: string,
	): Promise<z.output<T>> {
		const { origin, body, failure } = await this.exchange(request);
		if (failure) throw new ServiceError(failure);
		return this.readData(origin, body, schema, missing);
	}

	private readData<T extends z.ZodTypeAny>(
		origin: string,
		body: unknown,
		schema: T,
		missing: string,
	): z.output<T> {
		const parsed = schema.safeParse(getData(body));
		if (parsed.success) return parsed.data as z.output<T>;
		throw new ServiceError(this.describeIncomplete(origin, missing, body, parsed.error));
	}

	private describeIncomplete(
		origin: string,
		missing: string,
		body: unknown,
		error?: z.ZodError,
	): Omit<Failure, 'isRejected'> {
		const path = ['data', ...(error?.issues[0]?.path ?? [])];
		const value = path.reduce<unknown>(
			(whole, key) => (whole as Record<string, unknown> | null | undefined)?.[key],
			body,
		);
		return {
			message: this.redactor.hideInMessage(
				`The answer from ${origin} is incomplete: ${missing}. Its field ${path.join('.')} ${value === undefined ? 'is missing' : `can't be used: ${show(value)}`}`,
			),
			hint: 'Check the endpoint paths in the credential.',
			answeredBy: 'service',
		};
	}

	private async exchange(
		{ endpoint, value, body, headers, settings }: Request,
		{ canBeStopped = true }: { canBeStopped?: boolean } = {},
	): Promise<Exchange> {
		const url = buildUrl(this.credentials, endpoint, value);
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
		const { redactor } = this;
		const { statusCode, text, isTooLarge, error } = await this.send(
			options,
			maxBytes,
			canBeStopped,
		);
		const answer = isTooLarge || error ? undefined : parseAnswer(text, redactor);
		const foundTaskId = answer === undefined ? findTaskId(text) : undefined;
		const fault = isTooLarge
			? `larger than ${maxBytes / MEGABYTE} MB`
			: text.trim()
				? 'not the expected JSON'
				: 'empty';
		const failure =
			statusCode === undefined || error
				? describeNoAnswer(origin, error, settings.timeoutSeconds)
				: findFailure(statusCode, answer, fault, origin);
		return {
			origin,
			body: answer,
			foundTaskId: redactor.hideInData(foundTaskId) as string | undefined,
			isHttpSuccess: statusCode !== undefined && isSuccess(statusCode),
			failure: failure && { ...failure, message: redactor.hideInMessage(failure.message) },
		};
	}

	/** Sends a request and collects its answer. The timeout applies to the headers, then again to the body. */
	private async send(
		options: IHttpRequestOptions,
		maxBytes: number,
		canBeStopped: boolean,
	): Promise<CollectedText & { statusCode?: number }> {
		const data = { ...this.credentials } as IDataObject as Record<string, string>;
		const abort = new AbortController();
		const ended = new AbortController();
		const context = withSignal(this.context, abort.signal, canBeStopped);
		try {
			const { statusCode, body } = (await context.helpers.httpRequestWithAuthentication.call(
				context,
				CREDENTIAL,
				options,
				{
					credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data },
				},
			)) as { statusCode: number; body: unknown };
			if (typeof body === 'object')
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
}

/** Like the error of n8n's helper. */
const TIMED_OUT = { code: 'ETIMEDOUT' };

/**
 * Gives n8n's HTTP helper another abort signal. With its own one, stopping the execution aborts every request. The helper reads
 * `this.getExecutionCancelSignal()` (`httpRequestWithAuthentication` of n8n-core: `authentication.js` in 2.41.1,
 * `request-helper-functions.js` in 2.14.2), so the context inherits all but that. If n8n changes this, the stopped executions of
 * `e2e/runs` fail first.
 */
function withSignal<T extends Context>(context: T, signal: AbortSignal, canBeStopped: boolean): T {
	const stopped =
		canBeStopped && 'getExecutionCancelSignal' in context
			? context.getExecutionCancelSignal()
			: undefined;
	const value = () => (stopped ? AbortSignal.any([signal, stopped]) : signal);
	return Object.create(context, { getExecutionCancelSignal: { value } }) as T;
}

/** Reads the envelope of an answer; empty if it has none. */
const readEnvelope = (body: unknown): Partial<z.output<typeof envelope>> =>
	envelope.safeParse(body).data ?? {};

const hasRecord = (body: unknown): boolean => rawTaskRecord.safeParse(getData(body)).success;

const getData = (body: unknown): unknown => (body as { data?: unknown } | undefined)?.data;

/** Shows a value of an answer in a message, on one line. */
const show = (value: unknown): string =>
	typeof value === 'object' && value !== null
		? 'it has another form'
		: toMessage(JSON.stringify(value));
