import type { z } from 'zod';
import { readIdempotencyHeader, type Credentials } from './endpoints';
import { ServiceError, UnknownOutcomeError, type Failure } from './errors';
import {
	exchange,
	type Context,
	type Exchange,
	type RequestSettings,
	type ServiceRequest,
} from './exchange';
import { buildForm, type UploadFile } from './multipart';
import { listTokens, listUrlSecrets, Redactor } from './redaction';
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

/**
 * The codes of a details answer for a task that ended without a result. If the answer has a record,
 * the record says how the task ended.
 */
const GENERATION_FAILED = 501;
const CODES_OF_TASKS = new Set<number | undefined>([GENERATION_FAILED, 408]);

/** The folder that files are uploaded to. */
const UPLOAD_PATH = 'n8n';

/** The task service, as one credential reaches it. */
export class TaskService {
	/** Hides the secrets of the credential and of all creations so far. */
	private redactor: Redactor;

	constructor(
		private readonly context: Context,
		readonly credentials: Credentials,
	) {
		const { accessToken, webhookSecret, previousWebhookSecret } = credentials;
		this.redactor = new Redactor([
			accessToken,
			webhookSecret,
			previousWebhookSecret,
			...listTokens(Object.values(context.getQueryData?.() ?? {})),
		]);
	}

	/**
	 * Creates a task, which costs credits, so the request is sent only once. Stopping the execution
	 * doesn't abort it, because the ID would be lost.
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
		const answer = await this.send({
			endpoint: 'createTaskPath',
			body: request,
			headers,
			settings,
			isUnstoppable: true,
		});
		const { data, error } = createdTask.safeParse(getData(answer.body));
		if (data && (!answer.failure || answer.isHttpSuccess)) return data.taskId;
		const taskId = data?.taskId ?? answer.foundTaskId;
		if (answer.failure?.isRejected && !taskId) throw new ServiceError(answer.failure);
		const { message, code, answeredBy, hint } =
			answer.failure ?? this.describeIncomplete(answer, 'task ID', error);
		const advice = answeredBy === 'other' && !(code && code >= 500) ? hint : undefined;
		throw new UnknownOutcomeError({ message, taskId, ...(advice && { advice }) }, code);
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
	 * Reads a task like `getTask`, and the callback URL it was created with, if its record has the
	 * request.
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
		const request = { endpoint: 'creditsPath', settings } as const;
		return await this.request(request, number, 'number of credits');
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
		const body = buildForm({ uploadPath: UPLOAD_PATH, fileName }, fileName, file);
		const request = { endpoint: 'streamUploadPath', body, settings } as const;
		return await this.request(request, uploadedFile, 'URL for the file');
	}

	/** Lets the service fetch a file from a URL. @param fileName as for `upload` */
	async uploadFromUrl(
		fileName: string,
		fileUrl: string,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const body = { fileUrl, uploadPath: UPLOAD_PATH, fileName };
		const request = { endpoint: 'urlUploadPath', body, settings } as const;
		return await this.request(request, uploadedFile, 'URL for the file');
	}

	/** Lists the models of the catalogue. @throws {ServiceError} with code 404 when it has none */
	async listModels(settings: RequestSettings): Promise<CatalogueModel[]> {
		const request = { endpoint: 'modelsPath', settings } as const;
		return await this.request(request, modelList, 'list of models');
	}

	/**
	 * Reads a model's OpenAPI document; null when the service has none yet.
	 * @throws {ServiceError} with code 404 for an unknown model
	 */
	async getModelSchema(model: string, settings: RequestSettings): Promise<unknown> {
		const request = { endpoint: 'modelSchemaPath', value: model, settings } as const;
		return (await this.request(request, modelSchema, 'schema')).openapi;
	}

	/** Asks for a fresh link to a file of this service. @throws {ServiceError} when it gives none */
	async getDownloadUrl(url: string, settings: RequestSettings): Promise<string> {
		const request = { endpoint: 'downloadUrlPath', body: { url }, settings } as const;
		return await this.request(request, webLink, 'link');
	}

	private async askForTask(taskId: string, settings: RequestSettings): Promise<Exchange> {
		return await this.send({ endpoint: 'taskDetailsPath', value: taskId, settings });
	}

	/** Reads the record in a details answer, which must be of the task that was asked for. */
	private readRecord<R extends { taskId?: string }>(
		answer: Exchange,
		taskId: string,
		schema: z.ZodType<R, z.ZodTypeDef, unknown>,
	): R {
		const { origin, body, failure } = answer;
		const decides = CODES_OF_TASKS.has(readEnvelope(body).code) && hasRecord(body);
		if (failure && !decides) throw new ServiceError(failure);
		const record = this.readData(answer, schema, 'task record');
		if (record.taskId === undefined || record.taskId === taskId) return record;
		throw new ServiceError({
			message: this.redactor.hideInMessage(
				`The answer from ${origin} is of another task: its field data.taskId is ${show(record.taskId)}, and ${show(taskId)} was asked for`,
			),
			hint: "Nothing of it was used. Check 'Task Details Path' in the credential, or ask the service.",
			answeredBy: 'service',
		});
	}

	/** @param wanted what an answer lacks whose `data` does not fit the schema */
	private async request<T extends z.ZodTypeAny>(
		request: ServiceRequest,
		schema: T,
		wanted: string,
	): Promise<z.output<T>> {
		const answer = await this.send(request);
		if (answer.failure) throw new ServiceError(answer.failure);
		return this.readData(answer, schema, wanted);
	}

	private readData<T extends z.ZodTypeAny>(
		answer: Exchange,
		schema: T,
		wanted: string,
	): z.output<T> {
		const { success, data, error } = schema.safeParse(getData(answer.body));
		if (success) return data as z.output<T>;
		throw new ServiceError(this.describeIncomplete(answer, wanted, error));
	}

	private describeIncomplete(
		{ origin, body }: Exchange,
		wanted: string,
		error?: z.ZodError,
	): Omit<Failure, 'isRejected'> {
		const path = ['data', ...(error?.issues[0]?.path ?? [])];
		const value = path.reduce<unknown>(
			(whole, key) => (whole as Record<string, unknown> | null | undefined)?.[key],
			body,
		);
		const fault = value === undefined ? 'is missing' : `can't be used: ${show(value)}`;
		return {
			message: this.redactor.hideInMessage(
				`The answer from ${origin} is incomplete: the service gave no ${wanted}. Its field ${path.join('.')} ${fault}`,
			),
			hint: 'Check the endpoint paths in the credential.',
			answeredBy: 'service',
		};
	}

	private async send(request: ServiceRequest): Promise<Exchange> {
		return await exchange(this.context, this.credentials, request, this.redactor);
	}
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
